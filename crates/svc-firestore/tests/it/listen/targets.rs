//! Targets that come and go.

use crate::script::{Listening, Naming, check, check_named};
use crate::server::{DATABASE, Next, Server};
use crate::watcher::{Told, View, Watcher};
use crate::wire::{add, target};

/// Name, steps.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    ("nothing matches", &[("listen 1 c", "add 1; current 1; --")]),
    (
        "some match",
        &[
            ("set c/a n=1 & set c/b n=2 & set d/a n=3 & set c/a/c/x n=4", ""),
            ("listen 1 c", "add 1; c/a n=1 +1; c/b n=2 +1; current 1; --"),
        ],
    ),
    (
        "a filter, an order, a group, a collection below a document",
        &[
            ("set c/a n=1 & set c/b n=2 & set c/a/c/x n=3 & set c/a/d/y n=4", ""),
            ("listen 1 c where n > 1", "add 1; c/b n=2 +1; current 1; --"),
            ("listen 2 **/c", "add 2; c/a n=1 +2; c/a/c/x n=3 +2; c/b n=2 +2; current 2; --"),
            ("listen 3 c/a/d", "add 3; c/a/d/y n=4 +3; current 3; --"),
            ("listen 4 c order -n", "add 4; c/a n=1 +4; c/b n=2 +4; current 4; --"),
            ("set c/c n=5", "c/c n=5 +1 +2 +4; --"),
            ("set c/a/d/z n=6", "c/a/d/z n=6 +3; --"),
        ],
    ),
    (
        "once",
        &[
            ("set c/a n=1", ""),
            ("listen 1 c once", "add 1; c/a n=1 +1; current 1; --; remove 1"),
            ("set c/a n=2", ""),
            ("listen 2 d once", "add 2; current 2; --; remove 2"),
        ],
    ),
    (
        "removed",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("unlisten 1", "remove 1"),
            ("set c/a n=2", ""),
            ("unlisten 1", ""),
            ("unlisten 77", ""),
            ("unlisten -1", ""),
        ],
    ),
    (
        "added again with the same id",
        &[
            ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("unlisten 1", "remove 1"),
            ("listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
            ("unlisten 1; listen 1 d; set c/a n=2", "remove 1; add 1; current 1; --"),
        ],
    ),
    (
        "removed before anything was read",
        &[("set c/a n=1; listen 1 c; unlisten 1", "add 1; c/a n=1 +1; current 1; --; remove 1")],
    ),
    (
        "a target that comes while there is news for another",
        &[
            ("listen 1 c", "add 1; current 1; --"),
            (
                "set c/a n=1; listen 2 d; set d/a n=1",
                "c/a n=1 +1; --; add 2; d/a n=1 +2; current 2; --",
            ),
        ],
    ),
    (
        "the server gives the ids",
        &[
            ("listen 0 c", "add 1; current 1; --"),
            ("listen 0 d", "add 2; current 2; --"),
            ("set c/a n=1", "c/a n=1 +1; --"),
            ("set d/a n=1", "d/a n=1 +2; --"),
            ("listen 7 e; listen 0 e", "add 7; current 7; --; add 3; current 3; --"),
            ("unlisten 2; listen 0 e", "remove 2; add 2; current 2; --"),
        ],
    ),
    (
        "many targets, one message",
        &[
            (
                "listen 1 c; listen 2 c where n > 1; listen 4 docs c/a",
                "add 1; current 1; --; add 2; current 2; --; add 4; gone c/a -4; current 4; --",
            ),
            ("set c/a n=2", "c/a n=2 +1 +2 +4; --"),
            ("set c/a n=1", "c/a n=1 +1 +4 -2; --"),
            ("delete c/a", "gone c/a -1 -4; --"),
            ("set c/a n=3 & set c/b n=0", "c/a n=3 +1 +2 +4; c/b n=0 +1; --"),
            ("unlisten 1", "remove 1"),
            ("delete c/a & delete c/b", "gone c/a -2 -4; --"),
        ],
    ),
    (
        "documents",
        &[
            ("set c/a n=1; listen 1 docs c/a", "add 1; c/a n=1 +1; current 1; --"),
            ("listen 2 docs c/z", "add 2; gone c/z -2; current 2; --"),
            (
                "listen 3 docs c/b c/a c/b c/z",
                "add 3; c/a n=1 +3; gone c/b -3; gone c/z -3; current 3; --",
            ),
            ("set c/z n=9", "c/z n=9 +2 +3; --"),
            ("set c/z n=8", "c/z n=8 +2 +3; --"),
            ("delete c/z", "gone c/z -2 -3; --"),
            ("delete c/z", ""),
            ("set c/z n=7", "c/z n=7 +2 +3; --"),
            ("set c/y n=7", ""),
        ],
    ),
    ("no documents", &[("listen 1 docs", "add 1; current 1; --"), ("set c/a n=1", "")]),
    (
        "the client closes its side",
        &[("listen 1 c; set c/a n=1; close", "add 1; c/a n=1 +1; current 1; --; end 0")],
    ),
    (
        "the service stops",
        &[("listen 1 c", "add 1; current 1; --"), ("stop", "end 14 the suite is stopping")],
    ),
    ("the service stops before the first target", &[("stop", "end 14 the suite is stopping")]),
    (
        "a projection",
        &[
            ("set c/a m=1 n=1; listen 1 c select n", "add 1; c/a n=1 +1; current 1; --"),
            ("listen 2 c", "add 2; c/a m=1 n=1 +2; current 2; --"),
            ("set c/b m=2 n=2", "c/b m=2 n=2 +2; c/b n=2 +1; --"),
            ("listen 3 c select n", "add 3; c/a n=1 +3; c/b n=2 +3; current 3; --"),
            ("unlisten 2", "remove 2"),
            ("unlisten 3", "remove 3"),
            ("set c/b m=3 n=2", "c/b n=2 +1; --"),
            ("delete c/b", "gone c/b -1; --"),
        ],
    ),
];

#[tokio::test(start_paused = true)]
async fn targets_come_and_go() {
    for (name, steps) in CASES {
        check(name, steps).await;
    }
}

#[tokio::test(start_paused = true)]
async fn the_database_may_be_named_in_the_metadata_or_by_the_targets_alone() {
    let steps = [
        ("set c/a n=1; listen 1 c", "add 1; c/a n=1 +1; current 1; --"),
        ("listen 2 docs c/a c/b", "add 2; c/a n=1 +2; gone c/b -2; current 2; --"),
        ("set c/b n=2", "c/b n=2 +1 +2; --"),
        ("unlisten 1", "remove 1"),
    ];
    for naming in [Naming::Messages, Naming::Metadata, Naming::Nowhere] {
        check_named("naming", naming, &steps).await;
    }
    let documents = [("listen 2 docs c/a", "add 2; gone c/a -2; current 2; --")];
    for naming in [Naming::Messages, Naming::Metadata, Naming::Nowhere] {
        check_named("naming", naming, &documents).await;
    }
    check_named("naming", Naming::Metadata, &[("listen 1 docs", "add 1; current 1; --")]).await;
    let nowhere = "add 1; remove 1 3 a listen request must name its database";
    check_named("naming", Naming::Nowhere, &[("listen 1 docs", nowhere)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_is_told_every_half_minute_that_it_is_alive() {
    check(
        "heartbeat",
        &[
            ("wait 29", ""),
            ("listen 1 c", "add 1; current 1; --"),
            ("wait 29", ""),
            ("wait 2", "--"),
            ("wait 31", "--"),
            ("set d/a n=1; wait 31", "--"),
            ("set c/a n=1; wait 31", "c/a n=1 +1; --"),
            ("wait 31", "--"),
            ("unlisten 1; wait 61", "remove 1"),
        ],
    )
    .await;
}

/// As with the official emulator: a stream is told what the query selects apart from that.
#[tokio::test(start_paused = true)]
async fn a_search_for_nearest_vectors_is_left_out_of_a_target() {
    use base_wire::google::firestore::v1 as wire;
    use wire::target::{TargetType, query_target::QueryType};

    let server = Server::new(1);
    let mut target = target(1, "c");
    if let Some(TargetType::Query(query)) = &mut target.target_type
        && let Some(QueryType::StructuredQuery(query)) = &mut query.query_type
    {
        query.find_nearest = Some(wire::structured_query::FindNearest {
            limit: Some(1),
            ..wire::structured_query::FindNearest::default()
        });
    }
    let mut stream: Listening = server.open("Listen", &[]).await;
    let mut watcher = Watcher::default();
    watcher.ask(&target, View::new());
    stream.send(&add(target, DATABASE));
    let mut told = Vec::new();
    while let Some(next) = stream.soon().await {
        let Next::Message(message) = next else { panic!("the stream ended: {next:?}") };
        told.push(watcher.take(message));
    }
    assert!(matches!(told[..], [Told::Added(1), Told::Current(1), Told::Boundary(_)]), "{told:?}");
}

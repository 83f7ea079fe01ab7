//! Clients that read slowly, or not at all, and clients that ask for very much.

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;

use crate::fields;
use crate::script::{Listening, check};
use crate::server::{DATABASE, Next, Server};
use crate::watcher::{Told, View, Watcher};
use crate::wire::{add, commit, set, target};

/// Commits more to one document than the log of a database holds.
async fn overflow(server: &Server, path: &str) {
    for round in 0..40 {
        let padding = format!("p={round}{}", "x".repeat(900_000));
        let fields = fields::parse(["n=99", &padding]);
        let request = commit(vec![set(path, fields)], Bytes::new());
        let _: wire::CommitResponse = server.call("Commit", &request).await.expect("a commit");
    }
}

async fn commit_one(server: &Server, path: &str, field: &str) {
    let request = commit(vec![set(path, fields::parse([field]))], Bytes::new());
    let _: wire::CommitResponse = server.call("Commit", &request).await.expect("a commit");
}

/// Reads until nothing comes any more.
async fn drain(stream: &mut Listening, watcher: &mut Watcher) -> Vec<Told> {
    let mut told = Vec::new();
    while let Some(next) = stream.soon().await {
        let Next::Message(message) = next else { panic!("the stream ended: {next:?}") };
        told.push(watcher.take(message));
    }
    told
}

fn listen(stream: &mut Listening, watcher: &mut Watcher, id: i32, query: &str) {
    let target = target(id, query);
    watcher.ask(&target, View::new());
    stream.send(&add(target, DATABASE));
}

#[tokio::test(start_paused = true)]
async fn who_was_away_for_too_long_starts_over() {
    let server = Server::new(1);
    let (mut stream, mut watcher) = (server.open("Listen", &[]).await, Watcher::default());
    listen(&mut stream, &mut watcher, 1, "c");
    listen(&mut stream, &mut watcher, 2, "docs c/a c/z");
    commit_one(&server, "c/a", "n=1").await;
    drain(&mut stream, &mut watcher).await;
    commit_one(&server, "c/a", "n=2").await;
    overflow(&server, "c/big").await;
    let told = drain(&mut stream, &mut watcher).await;
    assert_eq!(told.first(), Some(&Told::Reset(1)));
    assert!(told.contains(&Told::Reset(2)));
    let boundaries = told.iter().filter(|told| matches!(told, Told::Boundary(_)));
    assert_eq!(boundaries.count(), 1, "{told:?}");
    let of_one = &watcher.targets.get(&1).expect("active").view;
    assert_eq!(of_one.len(), 2);
    assert_eq!(of_one.get("c/a").map(|seen| fields::render(&seen.fields)), Some("n=2".to_owned()));
    // And goes on as before.
    commit_one(&server, "c/b", "n=3").await;
    assert_eq!(drain(&mut stream, &mut watcher).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_was_away_for_so_long_that_it_is_still_known_is_told_the_differences() {
    const COMMITS: usize = 9_000;
    let server = Server::new(1);
    let (mut stream, mut watcher) = (server.open("Listen", &[]).await, Watcher::default());
    listen(&mut stream, &mut watcher, 1, "c");
    listen(&mut stream, &mut watcher, 2, "c order -n limit 1");
    commit_one(&server, "c/gone", "n=1").await;
    commit_one(&server, "c/same", "n=1").await;
    drain(&mut stream, &mut watcher).await;
    // More than waits for one client, and less than the log holds.
    for number in 0..COMMITS {
        commit_one(&server, "c/a", &format!("n={number}")).await;
    }
    server.clear("/c/gone").await;
    let told = drain(&mut stream, &mut watcher).await;
    let brief: Vec<_> = told
        .iter()
        .map(|told| match told {
            Told::Changed { path, seen, inside, left } => {
                format!("{path} {} +{inside:?} -{left:?}", fields::render(&seen.fields))
            }
            Told::Deleted { path, left } => format!("gone {path} -{left:?}"),
            Told::Boundary(_) => "--".to_owned(),
            other => panic!("not expected: {other:?}"),
        })
        .collect();
    let newest = format!("c/a n={}", COMMITS - 1);
    assert_eq!(
        brief,
        [
            "gone c/gone -[1]".to_owned(),
            format!("{newest} +[1] -[]"),
            "c/same n=1 +[] -[2]".to_owned(),
            format!("{newest} +[2] -[]"),
            "--".to_owned()
        ]
    );
    commit_one(&server, "c/b", "n=3").await;
    assert_eq!(drain(&mut stream, &mut watcher).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn who_falls_behind_in_the_middle_of_it_starts_over_with_all_targets() {
    let server = Server::new(1);
    let (mut stream, mut watcher) = (server.open("Listen", &[]).await, Watcher::default());
    listen(&mut stream, &mut watcher, 1, "c order n limit 2");
    drain(&mut stream, &mut watcher).await;
    // More than fits between the stream and its reader, so that it waits in the middle of these.
    for number in 0..400 {
        commit_one(&server, "c/a", &format!("n={number}")).await;
    }
    listen(&mut stream, &mut watcher, 2, "d");
    for _ in 0..3 {
        let Some(Next::Message(message)) = stream.soon().await else { panic!("there is more") };
        watcher.take(message);
    }
    // What the window still has to follow is forgotten now, and there is news for the new target.
    commit_one(&server, "d/a", "n=1").await;
    overflow(&server, "c/big").await;
    drain(&mut stream, &mut watcher).await;
    for (id, path) in [(1, "c/a"), (2, "d/a")] {
        let target = watcher.targets.get(&id).expect("active");
        assert!(target.current && target.view.contains_key(path), "{id}: {target:?}");
    }
    commit_one(&server, "d/b", "n=1").await;
    assert_eq!(drain(&mut stream, &mut watcher).await.len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stream_holds_many_targets_and_no_more() {
    const TARGETS_MAX: i32 = 10_000;
    let server = Server::new(1);
    let (mut stream, mut watcher) = (server.open("Listen", &[]).await, Watcher::default());
    for id in 1..=TARGETS_MAX {
        let query = if id % 2 == 0 { "c where n > 1" } else { "docs c/a" };
        listen(&mut stream, &mut watcher, id, query);
    }
    let told = drain(&mut stream, &mut watcher).await;
    assert_eq!(
        told.len(),
        35_000,
        "ADD, CURRENT, a boundary, and for documents that it is missing"
    );
    listen(&mut stream, &mut watcher, TARGETS_MAX + 1, "c");
    let told = drain(&mut stream, &mut watcher).await;
    match &told[..] {
        [Told::Added(10_001), Told::Removed(10_001, Some(cause))] => {
            assert_eq!(cause.to_string(), "8 a stream holds at most 10000 targets");
        }
        _ => panic!("{told:?}"),
    }
    commit_one(&server, "c/a", "n=2").await;
    match &drain(&mut stream, &mut watcher).await[..] {
        [Told::Changed { inside, .. }, Told::Boundary(_)] => assert_eq!(inside.len(), 10_000),
        told => panic!("{told:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn first_states_larger_than_what_is_held_back_come_whole() {
    check(
        "large",
        &[("fill c 1000; listen 1 c once; read 5; set c/z n=1; clear /c/00000", &large_state())],
    )
    .await;
}

fn large_state() -> String {
    let documents = (0..1_000).map(|number| format!("c/{number:05} n=1 +1; ")).collect::<String>();
    format!("add 1; {documents}current 1; --; remove 1")
}

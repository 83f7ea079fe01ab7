//! Commits: what each write is answered.

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;

use crate::fields;
use crate::server::Server;
use crate::wire::{commit, delete, micros, name, set, writes};

/// The time of each write's result, after `c/a` was set to `n=1`: `new` (the commit's), `old` (the one
/// it had), or `-` where there is none.
const UPDATE_TIMES: &[(&str, &str)] = &[
    ("set c/a n=2", "new"),
    ("set c/a n=1", "old"),
    ("update c/a n=1", "old"),
    ("set c/a n=2 & set c/a n=1", "old old"),
    ("set c/a n=2 & set c/b n=1 & set c/a n=3", "new new new"),
    ("delete c/a", "-"),
    ("delete c/z", "-"),
    ("delete c/a & set c/a n=1", "- new"),
    ("set c/a n=2 & delete c/a", "new -"),
    ("set c/z n=2 & delete c/z", "new -"),
    ("verify c/a", "old"),
    ("verify c/a & set c/b n=1", "old new"),
    ("increment c/a n", "new"),
    ("set c/a n=0 & increment c/a n", "old old"),
];

#[tokio::test]
async fn results_tell_when_a_document_last_changed() {
    for (text, expected) in UPDATE_TIMES {
        let server = Server::new(1);
        let old = answer(&server, writes("set c/a n=1")).await;
        let new = answer(&server, writes(text)).await;
        let (old, commit_time) = (micros(old.commit_time), micros(new.commit_time));
        let times = new.write_results.iter().map(|result| match result.update_time {
            None => "-",
            time if micros(time) == commit_time => "new",
            time if micros(time) == old => "old",
            _ => "?",
        });
        assert_eq!(times.collect::<Vec<_>>().join(" "), *expected, "{text}");
    }
}

/// Every write is looked up among the changes of its commit, however many these are.
#[tokio::test]
async fn a_commit_of_very_many_writes() {
    const LEN: usize = 100_000;
    let server = Server::new(1);
    let path = |number| format!("c/{number:05}");
    let sets = (0..LEN).map(|number| set(&path(number), fields::parse(["n=1"]))).collect();
    let first = answer(&server, sets).await;
    // Some change, some stay, some go.
    let mixed = (0..LEN).map(|number| match number % 3 {
        0 => set(&path(number), fields::parse(["n=1"])),
        1 => set(&path(number), fields::parse(["n=2"])),
        _ => delete(&path(number)),
    });
    let second = answer(&server, mixed.collect()).await;
    assert_eq!(second.write_results.len(), LEN);
    for (number, result) in second.write_results.iter().enumerate() {
        let expected = [first.commit_time, second.commit_time, None];
        assert_eq!(Some(&result.update_time), expected.get(number % 3), "{number}");
    }
}

#[tokio::test]
async fn times_of_a_clock_that_stands_still_go_on() {
    let server = Server::new(1);
    let mut last = None;
    for number in 0..100 {
        let committed = answer(&server, writes(&format!("set c/a n={number}"))).await;
        let time = Some(micros(committed.commit_time));
        assert!(time > last);
        last = time;
        let get =
            wire::GetDocumentRequest { name: name("c/a"), ..wire::GetDocumentRequest::default() };
        let document: base_wire::WireDocument = server.call("GetDocument", &get).await.expect("it");
        assert_eq!(Some(micros(document.update_time)), time);
    }
}

async fn answer(server: &Server, writes: Vec<wire::Write>) -> wire::CommitResponse {
    server.call("Commit", &commit(writes, Bytes::new())).await.expect("a commit")
}

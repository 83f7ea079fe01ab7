//! Several threads at once: one state is seen as a whole, and no commit is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base_env::{Env, thread};
use engine_store::{Store, StoreError, Version, WriteBatch};

use crate::support::bytes;

#[test]
fn snapshots_show_whole_commits_with_their_version_and_time() {
    const WRITERS: usize = 3;
    const COMMITS: usize = 400;
    let store = Arc::new(Store::new(Env::real()));
    let done = Arc::new(AtomicBool::new(false));

    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let store = Arc::clone(&store);
            let write = move || {
                for commit in 0..COMMITS {
                    let mut batch = WriteBatch::new();
                    let value = bytes(&format!("{writer}.{commit}"));
                    batch.put(bytes("one"), value.clone());
                    batch.put(bytes("two"), value);
                    let commit = store.apply(|_| Ok::<_, StoreError>(()), batch).unwrap();
                    assert_eq!(commit.changes.len(), 2);
                }
            };
            thread::spawn("writer", write).unwrap()
        })
        .collect();
    let reader = {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        let read = move || {
            let mut last = store.snapshot();
            while !done.load(Ordering::Acquire) {
                let next = store.snapshot();
                assert!(next.version() >= last.version() && next.time() >= last.time());
                let (one, two) = (next.get(b"one"), next.get(b"two"));
                assert_eq!(one, two, "both keys come from one commit");
                assert!(one.is_none_or(|record| record.updated <= next.time()));
                last = next;
            }
        };
        thread::spawn("reader", read).unwrap()
    };

    for writer in writers {
        writer.join().unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    assert_eq!(store.snapshot().version(), Version::new((WRITERS * COMMITS) as u64));
}

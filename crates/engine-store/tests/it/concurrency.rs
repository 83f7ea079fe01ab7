//! Several threads at once: one state is seen as a whole, and no commit is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base_env::{Env, thread};
use engine_store::{
    KeyRange, Place, Snapshot, Store, StoreError, StoreOptions, Version, WriteBatch,
};

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

const FOLD_BYTES: usize = 50_000;

fn folding_store(scratch: std::path::PathBuf) -> Store {
    let place = Place::Memory { scratch };
    let options = StoreOptions::memory(Env::real());
    Store::open(StoreOptions { place, fold_bytes: FOLD_BYTES, cache_bytes: 1 << 20, ..options })
        .unwrap()
}

fn put(store: &Store, key: usize, value: &str) -> Result<(), StoreError> {
    let mut batch = WriteBatch::new();
    batch.put(bytes(&format!("{key:04}")), bytes(value));
    store.writer().apply(batch).map(drop)
}

#[test]
fn writers_wait_for_folds_and_readers_see_whole_states_meanwhile() {
    const WRITERS: usize = 2;
    const COMMITS: usize = 1_500;
    let store = Arc::new(folding_store(std::env::temp_dir()));
    let done = Arc::new(AtomicBool::new(false));
    let value = "x".repeat(1_000);
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, value) = (Arc::clone(&store), value.clone());
            let write = move || {
                for commit in 0..COMMITS {
                    put(&store, (commit * WRITERS + writer) % 999, &format!("{commit}{value}"))
                        .unwrap();
                    // Each writer may have been let in once before the bound was met.
                    assert!(store.unfolded_bytes() < 2 * FOLD_BYTES + WRITERS * 3_000);
                }
            };
            thread::spawn("writer", write).unwrap()
        })
        .collect();
    let reader = {
        let (store, done) = (Arc::clone(&store), Arc::clone(&done));
        let read = move || {
            let len = |snapshot: &Snapshot| snapshot.range(&KeyRange::all()).count();
            let mut held = Vec::new();
            while !done.load(Ordering::Acquire) {
                let snapshot = store.snapshot();
                assert_eq!(len(&snapshot), snapshot.len());
                held.push(snapshot);
            }
            for snapshot in held.iter().step_by(held.len() / 20 + 1) {
                assert_eq!(len(snapshot), snapshot.len());
            }
        };
        thread::spawn("reader", read).unwrap()
    };
    for writer in writers {
        writer.join().unwrap();
    }
    done.store(true, Ordering::Release);
    reader.join().unwrap();
    let snapshot = store.snapshot();
    assert!(snapshot.has_base());
    assert_eq!(snapshot.version(), Version::new((WRITERS * COMMITS) as u64));
    snapshot.check().unwrap();
    store.check_folds().unwrap();
}

#[test]
fn a_store_that_cannot_fold_refuses_writes_before_it_eats_all_memory() {
    let dir = tempfile::TempDir::new().unwrap();
    let scratch = dir.path().join("not a folder");
    std::fs::write(&scratch, b"").unwrap();
    let store = folding_store(scratch);
    let value = "x".repeat(1_000);
    let written = (0..1_000).take_while(|key| put(&store, *key, &value).is_ok()).count();
    assert!((70..110).contains(&written), "{written}");
    assert!(matches!(put(&store, 0, "1"), Err(StoreError::Io { .. })));
    assert_eq!(store.snapshot().len(), written, "what was written stays");
    store.clear(0).unwrap();
    put(&store, 0, "1").unwrap();
}

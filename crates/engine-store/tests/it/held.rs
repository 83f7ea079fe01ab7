//! States that are held while the store goes on.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;

use base_env::{Env, thread};
use bytes::Bytes;
use engine_store::{KeyRange, Place, Snapshot, Store, StoreError, StoreOptions, WriteBatch};
use tempfile::TempDir;

use crate::derive::{ByBytes, Gate};
use crate::heads;
use crate::support::{Choices, bytes};

const FOLD_BYTES: usize = 200_000;

fn options(place: Place) -> StoreOptions {
    let options = StoreOptions::memory(Env::real());
    let derive = Arc::new(ByBytes);
    StoreOptions { place, derive, fold_bytes: FOLD_BYTES, cache_bytes: 1 << 20, ..options }
}

fn overwrite(store: &Store, choices: &mut Choices, round: usize) {
    for key in 0..100 {
        let mut batch = WriteBatch::new();
        let value = vec![u8::try_from(choices.below(250)).unwrap(); 3_000];
        batch.put(bytes(&format!("{key:04}")), Bytes::from(value));
        batch.put(bytes(&format!("round {key}")), bytes(&round.to_string()));
        store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    }
    store.fold_now().unwrap();
}

/// What a snapshot shows, to be compared with what it shows later.
fn content(snapshot: &Snapshot) -> Vec<(Bytes, Bytes)> {
    let entries = snapshot.range(&KeyRange::all());
    entries.map(|entry| (entry.key().clone(), entry.record().value.clone())).collect()
}

/// The room that this process's files in a folder take, those without a name included.
#[cfg(target_os = "linux")]
fn room(dir: &Path) -> u64 {
    let dir = dir.canonicalize().unwrap();
    let mut files = std::collections::BTreeMap::new();
    for handle in std::fs::read_dir("/proc/self/fd").unwrap() {
        use std::os::unix::fs::MetadataExt;
        let handle = handle.unwrap().path();
        let Ok(target) = std::fs::read_link(&handle) else { continue };
        if let (true, Ok(file)) = (target.starts_with(&dir), std::fs::metadata(&handle)) {
            files.insert(file.ino(), file.len());
        }
    }
    files.values().sum()
}

#[cfg(target_os = "linux")]
#[test]
fn a_held_state_does_not_make_files_grow_without_bound() {
    #[track_caller]
    fn check(is_kept: bool, is_forked: bool) {
        const ROUNDS: usize = 100;
        let dir = TempDir::new().unwrap();
        let mut choices = Choices::from_seed(5);
        let place = match is_kept {
            true => Place::Kept { dir: dir.path().to_owned() },
            false => Place::Memory { scratch: dir.path().to_owned() },
        };
        let segment_bytes = 100_000;
        let mut store =
            Store::open(StoreOptions { segment_bytes, ..options(place.clone()) }).unwrap();
        overwrite(&store, &mut choices, 0);
        let held = store.snapshot();
        let shown = content(&held);
        let fork = is_forked.then(|| Store::from_snapshot(Env::real(), &held));
        let mut most = 0;
        for round in 1..=ROUNDS {
            overwrite(&store, &mut choices, round);
            most = most.max(room(dir.path()));
        }
        // Each round writes about 300 kB, and 30 MB were written in all.
        assert!(most < 12_000_000, "{most} bytes");
        assert_eq!(content(&held), shown);
        if let Some(fork) = fork {
            assert_eq!(content(&fork.snapshot()), shown);
            overwrite(&fork, &mut choices, 0);
            heads::check(&fork.snapshot(), &KeyRange::all());
        }
        let newest = content(&store.snapshot());
        held.check().unwrap();
        drop(held);
        if is_kept {
            store.close().unwrap();
            drop(store);
            store = Store::open(options(place)).unwrap();
            assert_eq!(content(&store.snapshot()), newest);
            overwrite(&store, &mut choices, ROUNDS + 1);
        }
        heads::check(&store.snapshot(), &KeyRange::all());
    }
    check(false, false);
    check(false, true);
    check(true, false);
}

#[test]
fn ten_thousand_held_states_stay_as_they_were_while_folds_run() {
    const HELD: usize = 10_000;
    let dir = TempDir::new().unwrap();
    let store = Store::open(options(Place::Memory { scratch: dir.path().to_owned() })).unwrap();
    let mut held = VecDeque::new();
    for number in 0..HELD {
        let mut batch = WriteBatch::new();
        batch.put(bytes(&format!("{:03}", number % 500)), bytes(&number.to_string()));
        store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
        held.push_back(store.snapshot());
        if number % 500 == 0 {
            store.request_fold();
        }
    }
    store.fold_now().unwrap();
    for (number, snapshot) in held.iter().enumerate().step_by(97) {
        let newest = snapshot.get(format!("{:03}", number % 500).as_bytes()).unwrap();
        assert_eq!(newest.value, bytes(&number.to_string()));
        assert_eq!(snapshot.len(), (number + 1).min(500));
        assert_eq!(snapshot.range(&KeyRange::all()).count(), snapshot.len());
        snapshot.check().unwrap();
    }
    assert!(store.snapshot().has_base());
}

#[test]
fn a_store_that_closes_does_not_wait_for_its_fold_and_loses_nothing() {
    const RECORDS: usize = 20_000;
    let dir = TempDir::new().unwrap();
    let gate = Arc::new(Gate::default());
    let open = || {
        let options = options(Place::Kept { dir: dir.path().to_owned() });
        Store::open(StoreOptions { derive: Arc::clone(&gate) as _, fold_bytes: 1 << 30, ..options })
            .unwrap()
    };
    let store = Arc::new(open());
    let mut batch = WriteBatch::new();
    for key in 0..RECORDS {
        batch.put(bytes(&format!("{key:05}")), bytes("value"));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.request_fold();
    while gate.asked() == 0 {
        std::thread::yield_now();
    }
    let closing = {
        let store = Arc::clone(&store);
        thread::spawn("closer", move || store.close().unwrap()).unwrap()
    };
    let write_nothing = || store.writer().apply(WriteBatch::new());
    while !matches!(write_nothing(), Err(StoreError::Closed)) {
        std::thread::yield_now();
    }
    gate.open();
    closing.join().unwrap();
    let asked = gate.asked();
    assert!(asked < RECORDS / 2, "asked for {asked} records");
    drop(store);
    assert_eq!(open().snapshot().range(&KeyRange::all()).count(), RECORDS);
}

#[test]
fn a_closed_store_folds_no_more() {
    let dir = TempDir::new().unwrap();
    let gate = Arc::new(Gate::default());
    let open = || {
        let options = options(Place::Kept { dir: dir.path().to_owned() });
        Store::open(StoreOptions { derive: Arc::clone(&gate) as _, ..options })
    };
    let store = open().unwrap();
    let mut batch = WriteBatch::new();
    batch.put(bytes("a"), bytes("1"));
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.close().unwrap();
    // As a query does that was under way.
    store.request_fold();
    drop(store);
    // The thread of a fold would hold the folder until the gate opens.
    let store = open().unwrap();
    assert_eq!((store.snapshot().len(), gate.asked()), (1, 0));
    gate.open();
    store.close().unwrap();
    assert_eq!(store.fold_now(), Err(StoreError::Closed));
    assert!(!store.snapshot().has_base());
}

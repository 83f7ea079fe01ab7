//! Snapshots in folders of their own: found again whole, whatever the machine did, or not at all; and compact files.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use engine_store::{
    Durability, KeyRange, Record, Snapshot, Store, StoreError, StoreOptions, WriteBatch,
};

use crate::crash::{commit, options};
use crate::disk::{Crash, SimulatedDisk};
use crate::support::{Choices, bytes, env};

const DIR: &str = "/saved/one";

fn on(disk: &SimulatedDisk) -> StoreOptions {
    let options = options(Path::new("/data"), Durability::WriteBehind);
    // Folds when told to, so that a test says which layers a state has.
    StoreOptions { disk: Arc::new(disk.clone()), fold_bytes: 1 << 30, ..options }
}

fn save(snapshot: &Snapshot, disk: &SimulatedDisk) -> Result<(), StoreError> {
    snapshot.save(Path::new(DIR), &on(disk), &AtomicBool::new(false))
}

fn find(disk: &SimulatedDisk) -> Result<Snapshot, StoreError> {
    Snapshot::find(Path::new(DIR), &on(disk))
}

fn records(snapshot: &Snapshot) -> Vec<(bytes::Bytes, Record)> {
    snapshot.range(&KeyRange::all()).map(engine_store::Entry::into_owned).collect()
}

#[track_caller]
fn check_same(found: &Snapshot, saved: &Snapshot) {
    assert_eq!(records(found), records(saved));
    assert_eq!((found.len(), found.version()), (saved.len(), saved.version()));
    assert_eq!(found.derived(&KeyRange::all()).count(), 0, "records alone");
    found.check().unwrap();
}

#[test]
fn what_was_saved_is_found_whatever_its_layers() {
    for seed in 0..30 {
        let mut choices = Choices::from_seed(seed);
        let disk = SimulatedDisk::default();
        let mut store = Store::open(on(&disk)).unwrap();
        for _ in 0..choices.below(4) {
            for _ in 0..choices.below(20) {
                commit(&store).unwrap();
            }
            match choices.below(3) {
                0 => store.fold_now().unwrap(),
                1 => {
                    // In the end up to two files deep.
                    let fork = Store::from_snapshot(env(), &store.snapshot());
                    store = fork;
                }
                _ => {}
            }
        }
        let snapshot = store.snapshot();
        let before = records(&snapshot);
        // What is written meanwhile, and afterwards, is not in it.
        commit(&store).unwrap();
        save(&snapshot, &disk).unwrap();
        for crash in [Crash::Kill, Crash::PowerCut] {
            let found = find(&disk.crash(crash, &mut choices)).unwrap();
            check_same(&found, &snapshot);
            assert_eq!(records(&found), before);
        }
    }
}

#[test]
fn one_that_was_cut_short_is_none_or_the_one_before() {
    let mut choices = Choices::from_seed(7);
    let mut met = [0; 2];
    for room in 0..60 {
        let disk = SimulatedDisk::default();
        let store = Store::open(on(&disk)).unwrap();
        (0..30).for_each(|_| drop(commit(&store).unwrap()));
        let first = store.snapshot();
        let has_first = room % 2 == 0;
        if has_first {
            save(&first, &disk).unwrap();
        }
        commit(&store).unwrap();
        disk.fault(|faults| faults.room = Some(room));
        let done = save(&store.snapshot(), &disk);
        met[usize::from(done.is_ok())] += 1;
        let left = disk.crash(Crash::PowerCut, &mut choices);
        match (find(&left), done) {
            (Ok(found), Ok(())) => check_same(&found, &store.snapshot()),
            (Ok(found), Err(StoreError::Full { .. })) if has_first => check_same(&found, &first),
            (Err(StoreError::Missing { .. }), Err(StoreError::Full { .. })) if !has_first => {}
            (found, done) => panic!("{found:?} after {done:?} in {room} blocks"),
        }
    }
    assert!(met[0] > 3 && met[1] > 3, "some fail and some do not: {met:?}");
}

#[test]
fn one_that_is_no_longer_wanted_ends() {
    let disk = SimulatedDisk::default();
    let store = Store::open(on(&disk)).unwrap();
    let mut batch = WriteBatch::new();
    (0..10_000).for_each(|key| batch.put(bytes(&format!("{key}")), bytes("value")));
    store.writer().apply(batch).unwrap();
    let done = store.snapshot().save(Path::new(DIR), &on(&disk), &AtomicBool::new(true));
    assert!(matches!(done, Err(StoreError::Io { .. })), "{done:?}");
    assert!(matches!(find(&disk), Err(StoreError::Missing { .. })));
}

#[test]
fn a_look_makes_nothing_and_one_that_is_shown_is_locked() {
    let disk = SimulatedDisk::default();
    assert!(matches!(find(&disk), Err(StoreError::Missing { .. })));
    assert!(!disk.has_dir(DIR));
    let store = Store::open(on(&disk)).unwrap();
    (0..5).for_each(|_| drop(commit(&store).unwrap()));
    save(&store.snapshot(), &disk).unwrap();
    let found = find(&disk).unwrap();
    assert!(matches!(find(&disk), Err(StoreError::InUse { .. })));
    // A store goes on from it, kept or not, and the snapshot stays.
    commit(&store).unwrap();
    store.restore(&found).unwrap();
    assert_eq!(store.snapshot().len(), found.len());
    let fork = Store::from_snapshot(env(), &found);
    commit(&fork).unwrap();
    fork.fold_now().unwrap();
    check_same(&found, &found.clone());
    drop((fork, found));
    find(&disk).unwrap();
}

fn put_all(store: &Store, round: usize) {
    let mut batch = WriteBatch::new();
    for key in 0..1_000 {
        batch.put(bytes(&format!("key {key:04}")), bytes(&format!("{round} {}", "x".repeat(300))));
    }
    store.writer().apply(batch).unwrap();
}

#[test]
fn compact_files_are_small_and_hold_the_same() {
    let mut choices = Choices::from_seed(3);
    let disk = SimulatedDisk::default();
    let store = Store::open(on(&disk)).unwrap();
    // Each of these keeps its pages from being used again.
    let held: Vec<Snapshot> = (0..5)
        .map(|round| {
            put_all(&store, round);
            store.fold_now().unwrap();
            store.snapshot()
        })
        .collect();
    put_all(&store, 5);
    let before = records(&store.snapshot());
    let size = disk.len_of("base.redb");
    store.compact().unwrap();
    let compact = disk.len_of("base.redb");
    assert!(compact < size / 2, "{compact} of {size}");
    assert_eq!(records(&store.snapshot()), before);
    for (round, snapshot) in held.iter().enumerate() {
        let found = records(snapshot);
        assert_eq!(found.len(), 1_000);
        let prefix = format!("{round} ");
        assert!(found.iter().all(|(_, record)| record.value.starts_with(prefix.as_bytes())));
    }
    // The store goes on in the new file.
    commit(&store).unwrap();
    store.fold_now().unwrap();
    let after = records(&store.snapshot());
    drop(held);
    store.close().unwrap();
    drop(store);
    for crash in [Crash::Kill, Crash::PowerCut] {
        let store = Store::open(on(&disk.crash(crash, &mut choices))).unwrap();
        assert_eq!(records(&store.snapshot()), after);
    }
}

#[test]
fn a_short_journal_is_left_alone_and_a_long_one_becomes_a_base() {
    let disk = SimulatedDisk::default();
    let reopened = || Store::open(on(&disk)).unwrap();
    let has_base = || disk.names().iter().any(|name| name == "base.redb");
    let store = reopened();
    put_all(&store, 0);
    store.close().unwrap();
    drop(store);
    reopened().compact().unwrap();
    assert!(!has_base());
    let store = reopened();
    (1..8).for_each(|round| put_all(&store, round));
    store.close().unwrap();
    drop(store);
    let store = reopened();
    let before = records(&store.snapshot());
    store.compact().unwrap();
    assert!(has_base());
    assert_eq!(records(&store.snapshot()), before);
}

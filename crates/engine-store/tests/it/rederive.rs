//! Deriving in another way while a store is open.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_env::{Env, UnixMicros};
use bytes::Bytes;
use engine_store::{
    Derive, DerivedEntry, Durability, KeyRange, Place, Record, Snapshot, Store, StoreOptions,
    WriteBatch,
};

use crate::derive::{ByBytes, check};

/// Derives the key itself, and counts all keys under a name of its own.
struct ByKeys;

impl Derive for ByKeys {
    fn fingerprint(&self) -> u64 {
        18
    }

    fn entries(&self, key: &[u8], _value: &[u8], out: &mut Vec<DerivedEntry>) {
        out.push(Bytes::copy_from_slice(key).into());
    }

    fn counters(&self, _key: &[u8], out: &mut Vec<Bytes>) {
        out.push(Bytes::from_static(b"keys"));
    }
}

fn open(place: Place) -> Store {
    let options = StoreOptions::memory(Env::simulated(3, UnixMicros(1)));
    let derive = Arc::new(ByKeys);
    Store::open(StoreOptions { place, derive, durability: Durability::default(), ..options })
        .unwrap()
}

/// Puts what has a value, and deletes what has none.
fn write(store: &Store, entries: impl IntoIterator<Item = (u8, Option<&'static str>)>) {
    let mut batch = WriteBatch::new();
    for (key, value) in entries {
        let key = Bytes::from(vec![b'k', key]);
        match value {
            Some(value) => batch.put(key, Bytes::from_static(value.as_bytes())),
            None => batch.delete(key),
        };
    }
    store.writer().apply(batch).unwrap();
}

fn records(snapshot: &Snapshot) -> BTreeMap<Bytes, Record> {
    let all = KeyRange::all();
    let entries = snapshot.range(&all).map(|entry| entry.into_owned());
    let records = entries.collect();
    snapshot.check().unwrap();
    records
}

/// Derives anew, with records in the base, in several runs of it, deleted, changed and outside of it.
fn check_derived_anew(store: &Store) {
    write(store, (0..40).map(|key| (key, Some("first"))));
    store.fold_now().unwrap();
    write(store, (30..50).map(|key| (key, Some("second value"))));
    write(store, (0..3).map(|key| (key, None)));
    store.fold_now().unwrap();
    assert_eq!(store.snapshot().derivation(), Some(18));
    assert_eq!(store.snapshot().counter(b"keys"), 47);
    write(store, [(5, Some("third")), (6, None), (90, Some("new"))]);
    let before = store.snapshot();
    let expected = records(&before);

    store.derive_with(Arc::new(ByBytes));
    store.fold_now().unwrap();
    let after = store.snapshot();
    assert_eq!(after.derivation(), Some(17));
    assert_eq!(records(&after), expected);
    check(&after, &expected);
    assert_eq!(after.counter(b"keys"), 0);
    // What was seen before is as it was.
    assert_eq!(records(&before), expected);

    write(store, [(7, None), (8, Some("fourth"))]);
    store.fold_now().unwrap();
    let later = store.snapshot();
    check(&later, &records(&later));

    // There and back again, with nothing to fold beside it.
    store.derive_with(Arc::new(ByKeys));
    store.fold_now().unwrap();
    assert_eq!(store.snapshot().derivation(), Some(18));
    assert_eq!(store.snapshot().counter(b"keys"), store.snapshot().len() as u64);
    store.derive_with(Arc::new(ByBytes));
    store.fold_now().unwrap();
    check(&store.snapshot(), &records(&later));
}

#[test]
fn a_store_in_memory_derives_anew() {
    let dir = tempfile::tempdir().unwrap();
    check_derived_anew(&open(Place::Memory { scratch: dir.path().to_owned() }));
}

#[test]
fn a_kept_store_derives_anew_and_finds_it_again() {
    let dir = tempfile::tempdir().unwrap();
    let place = || Place::Kept { dir: dir.path().join("store") };
    let store = open(place());
    check_derived_anew(&store);
    let expected = records(&store.snapshot());
    store.close().unwrap();
    drop(store);
    // It is opened by another derivation than it was closed with.
    let store = open(place());
    assert_eq!(records(&store.snapshot()), expected);
    assert_eq!(store.snapshot().derivation(), Some(18));
    assert_eq!(store.snapshot().counter(b"keys"), expected.len() as u64);
}

#[test]
fn a_fork_derives_anew_and_its_source_does_not() {
    let dir = tempfile::tempdir().unwrap();
    let source = open(Place::Memory { scratch: dir.path().to_owned() });
    write(&source, (100..140).map(|key| (key, Some("source"))));
    source.fold_now().unwrap();
    let fork = Store::from_snapshot(Env::simulated(4, UnixMicros(9)), &source.snapshot());
    // It has a file of its own over that of the source.
    write(&fork, (130..150).map(|key| (key, Some("fork"))));
    write(&fork, [(100, None)]);
    fork.fold_now().unwrap();
    fork.derive_with(Arc::new(ByBytes));
    fork.fold_now().unwrap();
    let snapshot = fork.snapshot();
    assert_eq!((snapshot.derivation(), source.snapshot().derivation()), (Some(17), Some(18)));
    let expected = records(&snapshot);
    assert_eq!(expected.len(), 49);
    check(&snapshot, &expected);
    assert_eq!(source.snapshot().counter(b"keys"), 40);
}

#[test]
fn a_state_derived_in_another_way_is_swapped_in_and_then_derived_anew() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(Place::Memory { scratch: dir.path().to_owned() });
    write(&store, (0..100).map(|key| (key, Some("first"))));
    store.fold_now().unwrap();
    write(&store, (90..110).map(|key| (key, Some("second"))));
    let saved = store.snapshot();
    let expected: Vec<Bytes> = records(&saved).into_values().map(|record| record.value).collect();
    store.derive_with(Arc::new(ByBytes));
    store.clear(0).unwrap();
    write(&store, [(1, Some("other"))]);
    store.fold_now().unwrap();
    assert_eq!(store.snapshot().derivation(), Some(17));

    // It lists what is small, and nothing of what is not.
    let restored = store.writer().restore(&saved, 50).unwrap();
    assert!(!restored.listed && restored.commit.changes.is_empty());
    // Asked for by the restore; this waits for it.
    store.fold_now().unwrap();
    let found = store.snapshot();
    assert_eq!(found.derivation(), Some(17));
    let values: Vec<Bytes> = records(&found).into_values().map(|record| record.value).collect();
    assert_eq!(values, expected);
    check(&found, &records(&found));
    assert_eq!(saved.derivation(), Some(18));

    write(&store, [(1, Some("other"))]);
    assert!(store.writer().restore(&found, 50).unwrap().listed);
}

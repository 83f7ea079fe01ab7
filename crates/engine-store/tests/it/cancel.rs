//! Walks that nobody waits for any more.

use std::sync::Arc;

use bytes::Bytes;
use engine_store::{Cancel, KeyRange, Snapshot, Store, StoreError, StoreOptions, WriteBatch};

use crate::derive::ByBytes;
use crate::support::{bytes, env};

const KEYS: usize = 5_000;

/// A snapshot with half of its keys in the base and half of them over it.
fn snapshot() -> Snapshot {
    let options = StoreOptions { derive: Arc::new(ByBytes), ..StoreOptions::memory(env()) };
    let store = Store::open(options).unwrap();
    for half in 0..2 {
        let mut batch = WriteBatch::new();
        for key in (half..KEYS).step_by(2) {
            batch.put(bytes(&format!("{key:04}")), Bytes::from_static(b"v"));
        }
        store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
        if half == 0 {
            store.fold_now().unwrap();
        }
    }
    store.snapshot()
}

type Walk<'a> = Box<dyn Iterator<Item = ()> + 'a>;

#[test]
fn a_walk_ends_when_nobody_waits_for_it() {
    fn check(name: &str, len: usize, walk: for<'a> fn(&'a Snapshot) -> Walk<'a>) {
        let cancel = Cancel::default();
        let snapshot = snapshot().until(&cancel);
        assert_eq!(walk(&snapshot).count(), len, "{name}");
        snapshot.check().unwrap();
        // A clone is read by the same reader.
        let clone = snapshot.clone();
        let mut cut = walk(&clone);
        assert!(cut.next().is_some() && cut.next().is_some(), "{name}");
        cancel.cancel();
        assert!(cut.next().is_none() && walk(&snapshot).next().is_none(), "{name}");
        assert_eq!(snapshot.check(), Err(StoreError::Cancelled), "{name}");
    }
    check("range", KEYS, |it| Box::new(it.range(&KeyRange::all()).map(drop)));
    check("range_rev", KEYS, |it| Box::new(it.range_rev(&KeyRange::all()).map(drop)));
    check("heads", KEYS, |it| Box::new(it.heads(&KeyRange::all()).map(drop)));
    check("heads_rev", KEYS, |it| Box::new(it.heads_rev(&KeyRange::all()).map(drop)));
    check("overlay", KEYS / 2, |it| Box::new(it.overlay(&KeyRange::all()).map(drop)));
    check("derived", KEYS / 2, |it| Box::new(it.derived(&KeyRange::all()).map(drop)));
    check("derived_rev", KEYS / 2, |it| Box::new(it.derived_rev(&KeyRange::all()).map(drop)));
}

#[test]
fn entries_are_passed_over_as_long_as_somebody_waits() {
    let whole = snapshot();
    let half = KEYS as u64 / 2;
    for max in [0, 1, 1_023, 1_024, 1_025, half - 1, half, half + 1, u64::MAX] {
        assert_eq!(whole.derived(&KeyRange::all()).pass(max), max.min(half), "{max}");
    }
    let cancel = Cancel::default();
    let cut = whole.until(&cancel);
    cancel.cancel();
    assert_eq!(cut.derived(&KeyRange::all()).pass(u64::MAX), 0);
}

#[test]
fn single_keys_are_read_by_whoever_is_gone() {
    let cancel = Cancel::default();
    let snapshot = snapshot().until(&cancel);
    cancel.cancel();
    for key in [b"0000", b"0001"] {
        assert!(snapshot.get(key).is_some() && snapshot.head(key).is_some());
    }
}

#[test]
fn a_store_does_not_depend_on_who_read_the_state_that_it_begins_with() {
    let cancel = Cancel::default();
    let read = snapshot().until(&cancel);
    let store = Store::memory(env());
    store.restore(&read).unwrap();
    let fork = Store::from_snapshot(env(), &read);
    cancel.cancel();
    for state in [store.snapshot(), fork.snapshot()] {
        assert_eq!(state.heads(&KeyRange::all()).count(), KEYS);
        state.check().unwrap();
    }
    // What is not seen must not look deleted.
    assert_eq!(store.restore(&read), Err(StoreError::Cancelled));
    assert_eq!(store.snapshot().len(), KEYS);
}

//! A derivation for the tests, and what must be derived from a state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use bytes::Bytes;
use engine_store::{Derive, DerivedEntry, DerivedRange, KeyRange, Record, Snapshot};

/// Derives an entry for each byte of a value, `byte 0x00 key`, marked by the length of the value, and counts keys by
/// their length and all together.
pub(crate) struct ByBytes;

impl Derive for ByBytes {
    fn fingerprint(&self) -> u64 {
        17
    }

    fn entries(&self, key: &[u8], value: &[u8], out: &mut Vec<DerivedEntry>) {
        let mark = mark(value);
        out.extend(
            value.iter().map(|byte| DerivedEntry {
                key: Bytes::from([&[*byte, 0][..], key].concat()),
                mark,
            }),
        );
    }

    fn counters(&self, key: &[u8], out: &mut Vec<Bytes>) {
        out.push(Bytes::from(vec![u8::try_from(key.len()).unwrap()]));
        out.push(Bytes::from_static(b"all"));
    }
}

fn mark(value: &[u8]) -> u8 {
    (value.len() % 3).to_le_bytes()[0]
}

/// Whether what the base derived, corrected by the overlay as a reader would, is what follows from
/// `model`.
#[track_caller]
pub(crate) fn check(snapshot: &Snapshot, model: &BTreeMap<Bytes, Record>) {
    let everything = KeyRange::all();
    let entries = |key: &[u8], value: &[u8]| {
        let mut out = Vec::new();
        ByBytes.entries(key, value, &mut out);
        out
    };
    let counters = |key: &[u8]| {
        let mut out = Vec::new();
        ByBytes.counters(key, &mut out);
        out
    };
    let all = |mut range: DerivedRange<'_>| -> Vec<DerivedEntry> {
        std::iter::from_fn(|| range.next_marked())
            .map(|(key, mark)| DerivedEntry { key, mark })
            .collect()
    };
    let derived = all(snapshot.derived(&everything));
    let mut reversed = all(snapshot.derived_rev(&everything));
    reversed.reverse();
    assert_eq!(derived, reversed);
    let shadowed = |key: &[u8]| snapshot.overlay_get(key).is_some();
    let mut found: BTreeSet<DerivedEntry> =
        derived.into_iter().filter(|entry| !shadowed(&entry.key[2..])).collect();
    let mut counted: BTreeMap<Bytes, i64> = BTreeMap::new();
    let names: BTreeSet<Bytes> =
        (0..8).map(|len| Bytes::from(vec![len])).chain([Bytes::from_static(b"all")]).collect();
    for name in names {
        counted.insert(name.clone(), i64::try_from(snapshot.counter(&name)).unwrap());
    }
    for (key, record) in snapshot.overlay(&everything) {
        let change = i64::from(record.is_some()) - i64::from(snapshot.base_get(key).is_some());
        for counter in counters(key) {
            *counted.get_mut(&counter).unwrap() += change;
        }
        if let Some(record) = record {
            found.extend(entries(key, &record.value));
        }
    }
    let expected: BTreeSet<DerivedEntry> =
        model.iter().flat_map(|(key, record)| entries(key, &record.value)).collect();
    assert_eq!(found, expected);
    for (name, value) in counted {
        let counts = |key: &Bytes| counters(key).contains(&name);
        let expected = model.keys().filter(|key| counts(key)).count();
        assert_eq!(value, i64::try_from(expected).unwrap(), "{name:?}");
    }
    let overlay_len = snapshot.overlay(&everything).count();
    assert_eq!(snapshot.overlay_len(&everything, usize::MAX), overlay_len);
    assert_eq!(snapshot.overlay_len(&everything, 2), overlay_len.min(2));
}

/// Derives nothing, counts how often it was asked, and answers only once it may.
#[derive(Default)]
pub(crate) struct Gate {
    asked: AtomicUsize,
    open: AtomicBool,
}

impl Gate {
    pub(crate) fn open(&self) {
        self.open.store(true, Ordering::Release);
    }

    /// How often it was asked for entries.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Acquire)
    }
}

impl Derive for Gate {
    fn fingerprint(&self) -> u64 {
        23
    }

    fn entries(&self, _key: &[u8], _value: &[u8], _out: &mut Vec<DerivedEntry>) {
        self.asked.fetch_add(1, Ordering::AcqRel);
        while !self.open.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
    }

    fn counters(&self, _key: &[u8], _out: &mut Vec<Bytes>) {}
}

//! The state of a store at one moment.

use std::fmt;
use std::ops::Bound;

use base_env::UnixMicros;
use bytes::Bytes;
use imbl::OrdMap;
use imbl::ordmap::DiffItem;

use crate::error::StoreError;
use crate::iter::{DerivedRange, Entry, OverlayRange, Range, RangeRev};
use crate::range::KeyRange;
use crate::record::{Commit, Record, Version};

/// An immutable state of a store: what it held at one version and one time. Cloning is O(1), and a
/// snapshot stays as it is while the store is written.
#[derive(Clone)]
pub struct Snapshot {
    pub(crate) map: OrdMap<Bytes, Record>,
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
}

impl Snapshot {
    /// A snapshot of nothing, taken at `time`.
    pub fn empty(time: UnixMicros) -> Snapshot {
        Snapshot { map: OrdMap::new(), version: Version::ZERO, time }
    }

    /// The record of `key`.
    pub fn get(&self, key: &[u8]) -> Option<Record> {
        self.map.get(key).cloned()
    }

    /// When the value of `key` last changed; `None` when it is missing. Copies no record.
    pub fn updated(&self, key: &[u8]) -> Option<UnixMicros> {
        self.map.get(key).map(|record| record.updated)
    }

    /// The entries of `range` in ascending key order.
    pub fn range(&self, range: &KeyRange) -> Range<'_> {
        Range::new((!range.is_empty()).then(|| self.map.range::<_, [u8]>(range.bounds())))
    }

    /// The entries of `range` in descending key order.
    pub fn range_rev(&self, range: &KeyRange) -> RangeRev<'_> {
        RangeRev::new((!range.is_empty()).then(|| self.map.range::<_, [u8]>(range.bounds())))
    }

    /// The first entry whose key is `key` or greater.
    pub fn seek(&self, key: &[u8]) -> Option<Entry<'_>> {
        let from = (Bound::Included(key), Bound::Unbounded);
        self.map.range::<_, [u8]>(from).next().map(Entry::new)
    }

    /// The derived entries of the base in a range, in ascending order. They are those of the base
    /// alone: leave out what belongs to keys that the overlay shadows, and add the overlay's own.
    pub fn derived(&self, _range: &KeyRange) -> DerivedRange<'_> {
        DerivedRange::new()
    }

    /// Same as [`Snapshot::derived`], in descending order.
    pub fn derived_rev(&self, _range: &KeyRange) -> DerivedRange<'_> {
        DerivedRange::new()
    }

    /// The records of a range that are newer than the base, in ascending key order, those of deleted keys
    /// included. Without a base that is everything.
    pub fn overlay(&self, range: &KeyRange) -> OverlayRange<'_> {
        OverlayRange::new((!range.is_empty()).then(|| self.map.range::<_, [u8]>(range.bounds())))
    }

    /// What the overlay says of `key`: `None` when nothing, so that the base decides; `Some(None)` when the
    /// key was deleted.
    pub fn overlay_get(&self, key: &[u8]) -> Option<Option<Record>> {
        self.get(key).map(Some)
    }

    /// How many entries of the overlay a range holds, counted up to `max`.
    pub fn overlay_len(&self, range: &KeyRange, max: usize) -> usize {
        self.overlay(range).take(max).count()
    }

    /// The value of a counter in the base, zero where it is missing. What the overlay adds and takes
    /// is not in it.
    pub fn counter(&self, _key: &[u8]) -> u64 {
        0
    }

    /// The record of `key` in the base, whatever the overlay says.
    pub fn base_get(&self, _key: &[u8]) -> Option<Record> {
        None
    }

    /// Whether there is a base.
    pub fn has_base(&self) -> bool {
        false
    }

    /// Whether every read of the base so far was answered. One that meets an error answers as if
    /// nothing were there, so whoever read a snapshot checks before it answers.
    ///
    /// # Errors
    /// The first error that a read of the base met.
    pub fn check(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The number of the state shown. Two snapshots of one store with the same version hold the same.
    pub fn version(&self) -> Version {
        self.version
    }

    /// The moment shown: at or after the time of every commit the snapshot holds, and before the time
    /// of every commit it does not hold.
    pub fn time(&self) -> UnixMicros {
        self.time
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.map.len()
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.map.is_empty()
    }

    /// The state at `time`, made by undoing `commits`: those of this snapshot that are later than
    /// `time`, newest first and without a gap.
    pub fn undo<'a>(
        &self,
        commits: impl IntoIterator<Item = &'a Commit>,
        time: UnixMicros,
    ) -> Snapshot {
        let mut past = self.clone();
        for commit in commits {
            debug_assert_eq!(commit.version, past.version, "commits are undone newest first");
            for change in &commit.changes {
                match &change.before {
                    Some(record) => past.map.insert(change.key.clone(), record.clone()),
                    None => past.map.remove::<[u8]>(&change.key),
                };
            }
            past.version = Version::new(commit.version.get().saturating_sub(1));
        }
        past.time = time;
        past
    }

    /// The keys whose values differ between this state and `target`, each with its record there.
    /// Costs as much as the parts the two do not share.
    pub(crate) fn differing(&self, target: &Snapshot) -> Vec<(Bytes, Option<Record>)> {
        let differing = self.map.diff(&target.map).filter_map(|item| match item {
            DiffItem::Add(key, record) => Some((key.clone(), Some(record.clone()))),
            DiffItem::Remove(key, _) => Some((key.clone(), None)),
            DiffItem::Update { old: (key, old), new: (_, new) } => {
                (old.value != new.value).then(|| (key.clone(), Some(new.clone())))
            }
        });
        differing.collect()
    }
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("version", &self.version)
            .field("time", &self.time)
            .field("len", &self.len())
            .finish()
    }
}

//! The state of a store at one moment.

use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;
use bytes::Bytes;

use crate::cancel::{Cancel, Until};
use crate::error::StoreError;
use crate::iter::{
    DerivedRange, Entries, Entry, Heads, Merged, Overlay, OverlayRange, Range, RangeRev, Walk,
};
use crate::lower::{Lower, Settings};
use crate::merge::Direction;
use crate::range::KeyRange;
use crate::record::{Commit, Head, Record, Version};
use crate::table::{Slot, Table, entry_bytes};

/// An immutable state of a store: what it held at one version and one time. Cloning is O(1), and a
/// snapshot stays as it is while the store is written.
#[derive(Clone)]
pub struct Snapshot {
    // INVARIANT: over an empty `lower`, nothing in the table is a deletion.
    pub(crate) table: Table,
    pub(crate) table_bytes: usize,
    pub(crate) lower: Arc<Lower>,
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    /// Records are shown as updated at this time at the earliest. A state that was brought back shows
    /// its old records so: they came back then.
    pub(crate) floor: UnixMicros,
    pub(crate) len: usize,
    /// Ends the walks over this snapshot and its clones.
    pub(crate) cancel: Option<Cancel>,
}

/// `record` as updated at `floor` at the earliest.
pub(crate) fn raise(record: Record, floor: UnixMicros) -> Record {
    Record { updated: record.updated.max(floor), ..record }
}

/// `head` as updated at `floor` at the earliest.
pub(crate) fn raise_head(head: Head, floor: UnixMicros) -> Head {
    Head { updated: head.updated.max(floor), ..head }
}

impl Snapshot {
    /// A snapshot of nothing, taken at `time`.
    pub fn empty(time: UnixMicros) -> Snapshot {
        Snapshot::with(Lower::empty(Arc::new(Settings::default())), time)
    }

    /// A snapshot of nothing but what `lower` holds, which is said later.
    pub(crate) fn with(lower: Arc<Lower>, time: UnixMicros) -> Snapshot {
        Snapshot {
            table: Table::new(),
            table_bytes: 0,
            lower,
            version: Version::ZERO,
            time,
            floor: UnixMicros(i64::MIN),
            len: 0,
            cancel: None,
        }
    }

    /// The same state for a reader who may go before it is done: from the time on that `cancel` says so, walks
    /// over it end where they are, and [`Snapshot::check`] fails. Single keys are read as ever.
    #[must_use]
    pub fn until(self, cancel: &Cancel) -> Snapshot {
        Snapshot { cancel: Some(cancel.clone()), ..self }
    }

    /// The same state, whoever reads this one.
    pub(crate) fn unbound(&self) -> Snapshot {
        Snapshot { cancel: None, ..self.clone() }
    }

    /// The record of `key`.
    pub fn get(&self, key: &[u8]) -> Option<Record> {
        match self.slot(key) {
            Some(slot) => slot.clone(),
            None => self.lower.base.as_ref()?.get(key),
        }
        .map(|record| raise(record, self.floor))
    }

    /// When the value of `key` last changed; `None` when it is missing. Reads no value.
    pub fn updated(&self, key: &[u8]) -> Option<UnixMicros> {
        self.head(key).map(|head| head.updated)
    }

    /// What is known of the record of `key` without its value, which is not read.
    pub fn head(&self, key: &[u8]) -> Option<Head> {
        match self.slot(key) {
            Some(slot) => slot.as_ref().map(Record::head),
            None => self.lower.base.as_ref()?.head(key),
        }
        .map(|head| raise_head(head, self.floor))
    }

    /// The keys of `range` in ascending order, each with what is known of its record without the value. Values
    /// longer than a few kilobytes are not read for it.
    pub fn heads(&self, range: &KeyRange) -> Heads<'_> {
        self.merged_heads(range, Direction::Ascending)
    }

    /// Same as [`Snapshot::heads`], in descending order.
    pub fn heads_rev(&self, range: &KeyRange) -> Heads<'_> {
        self.merged_heads(range, Direction::Descending)
    }

    /// The first key that is `key` or greater. Reads no value.
    pub fn seek_key(&self, key: &[u8]) -> Option<Bytes> {
        let range = KeyRange { start: Bytes::copy_from_slice(key), end: None };
        self.heads(&range).next().map(|(key, _)| key)
    }

    /// The entries of `range` in ascending key order.
    pub fn range(&self, range: &KeyRange) -> Range<'_> {
        Range::new(self.merged(range, Direction::Ascending))
    }

    /// The entries of `range` in descending key order.
    pub fn range_rev(&self, range: &KeyRange) -> RangeRev<'_> {
        RangeRev::new(self.merged(range, Direction::Descending))
    }

    /// The first entry whose key is `key` or greater.
    pub fn seek(&self, key: &[u8]) -> Option<Entry<'_>> {
        self.range(&KeyRange { start: Bytes::copy_from_slice(key), end: None }).next()
    }

    /// The derived entries of the base in a range, in ascending order. They are those of the base
    /// alone: leave out what belongs to keys that the overlay shadows, and add the overlay's own.
    pub fn derived(&self, range: &KeyRange) -> DerivedRange<'_> {
        self.derived_cursor(range, Direction::Ascending)
    }

    /// Same as [`Snapshot::derived`], in descending order.
    pub fn derived_rev(&self, range: &KeyRange) -> DerivedRange<'_> {
        self.derived_cursor(range, Direction::Descending)
    }

    /// The records of a range that are newer than the base, in ascending key order, those of deleted keys
    /// included. Without a base that is everything.
    pub fn overlay(&self, range: &KeyRange) -> OverlayRange<'_> {
        OverlayRange::new(self.walk(range, Direction::Ascending), self.floor, self.reader())
    }

    /// What the overlay says of `key`: `None` when nothing, so that the base decides; `Some(None)` when the
    /// key was deleted.
    pub fn overlay_get(&self, key: &[u8]) -> Option<Option<Record>> {
        self.slot(key).map(|slot| slot.clone().map(|record| raise(record, self.floor)))
    }

    /// How many entries of the overlay a range holds, counted up to `max`.
    pub fn overlay_len(&self, range: &KeyRange, max: usize) -> usize {
        self.walk(range, Direction::Ascending).take(max).count()
    }

    /// The value of a counter in the base, zero where it is missing. What the overlay adds and takes
    /// is not in it.
    pub fn counter(&self, key: &[u8]) -> u64 {
        self.lower.base.as_ref().map_or(0, |base| base.counter(key))
    }

    /// The record of `key` in the base, whatever the overlay says.
    pub fn base_get(&self, key: &[u8]) -> Option<Record> {
        let record = self.lower.base.as_ref()?.fetch(key)?;
        Some(raise(record, self.floor))
    }

    /// Same as [`Snapshot::base_get`] without the value, which is not read.
    pub fn base_head(&self, key: &[u8]) -> Option<Head> {
        let head = self.lower.base.as_ref()?.head(key)?;
        Some(raise_head(head, self.floor))
    }

    /// Whether there is a base.
    pub fn has_base(&self) -> bool {
        self.lower.base.is_some()
    }

    /// The [`crate::Derive::fingerprint`] of what the base was derived by; `None` without one.
    pub fn derivation(&self) -> Option<u64> {
        self.lower.base.as_ref().map(|base| base.fingerprint)
    }

    /// Whether every read so far was answered. One that meets an error of the base, or was cancelled, answers as
    /// if nothing were there, so whoever read a snapshot checks before it answers.
    ///
    /// # Errors
    /// The first error that a read of the base met; [`StoreError::Cancelled`].
    pub fn check(&self) -> Result<(), StoreError> {
        if self.reader().is_over() {
            return Err(StoreError::Cancelled);
        }
        self.lower.base.as_ref().map_or(Ok(()), |base| base.check())
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
        self.len
    }

    /// Whether there are no keys.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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
                past.set(change.key.clone(), change.before.clone());
                past.len = past.len.saturating_add_signed(-change.len_change());
            }
            past.version = Version::new(commit.version.get().saturating_sub(1));
        }
        past.time = time;
        past
    }

    /// Sets what became of a key, but for [`Snapshot::len`].
    pub(crate) fn set(&mut self, key: Bytes, slot: Slot) {
        let key_len = key.len();
        let (added, replaced) = if slot.is_none() && self.lower.is_empty() {
            (0, self.table.remove(&key))
        } else {
            (entry_bytes(key_len, &slot), self.table.insert(key, slot))
        };
        let replaced = replaced.map_or(0, |slot| entry_bytes(key_len, &slot));
        self.table_bytes = (self.table_bytes + added).saturating_sub(replaced);
    }

    /// What the records newer than the base say of a key.
    pub(crate) fn slot(&self, key: &[u8]) -> Option<&Slot> {
        self.table.get(key).or_else(|| self.lower.frozen.as_ref()?.table.get(key))
    }

    /// Whoever reads this snapshot.
    fn reader(&self) -> Until<'_> {
        Until::new(self.cancel.as_ref())
    }

    fn walk(&self, range: &KeyRange, direction: Direction) -> Overlay<'_> {
        let empty = range.is_empty();
        let walk = |table| {
            let inner = (!empty).then(|| Table::range::<_, [u8]>(table, range.bounds()));
            Walk::new(inner, direction)
        };
        let frozen = self.lower.frozen.as_ref().map(|frozen| walk(&frozen.table));
        Overlay::new(walk(&self.table), frozen, direction)
    }

    fn merged(&self, range: &KeyRange, direction: Direction) -> Entries<'_> {
        let base = self.lower.base.as_deref().filter(|_| !range.is_empty());
        let rows = base.map(|base| base.records(range, direction));
        Entries::new(
            Merged::new(self.walk(range, direction), rows, self.reader()),
            base,
            self.floor,
        )
    }

    fn merged_heads(&self, range: &KeyRange, direction: Direction) -> Heads<'_> {
        let base = self.lower.base.as_deref().filter(|_| !range.is_empty());
        let rows = base.map(|base| base.heads(range, direction));
        Heads::new(Merged::new(self.walk(range, direction), rows, self.reader()), self.floor)
    }

    fn derived_cursor(&self, range: &KeyRange, direction: Direction) -> DerivedRange<'_> {
        let base = self.lower.base.as_ref().filter(|_| !range.is_empty());
        DerivedRange::new(base.map(|base| base.derived(range, direction)), self.reader())
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

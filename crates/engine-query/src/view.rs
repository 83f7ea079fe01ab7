//! What an index plan reads of a snapshot.

use bytes::Bytes;
use engine_store::{DerivedRange, Head, KeyRange, Record, Snapshot};

use crate::model::Direction;

/// Derived entries, one after the other.
pub(crate) type DerivedEntries<'v> = DerivedRange<'v>;

/// Records newer than the base, one after the other; `None` for those that were deleted.
pub(crate) type OverlayEntries<'v> = Box<dyn Iterator<Item = (Bytes, Option<Record>)> + 'v>;

/// A base with derived entries and the records that are newer; see the methods of [`Snapshot`].
pub(crate) trait BaseView: Sync {
    fn has_base(&self) -> bool;
    /// What the derived entries were derived by.
    fn derivation(&self) -> Option<u64>;
    fn base_get(&self, key: &[u8]) -> Option<Record>;
    /// Same without the value, which is not read.
    fn base_head(&self, key: &[u8]) -> Option<Head>;
    fn derived(&self, range: &KeyRange, direction: Direction) -> DerivedEntries<'_>;
    fn counter(&self, key: &[u8]) -> u64;
    fn overlay(&self, range: &KeyRange) -> OverlayEntries<'_>;
    /// Whether the overlay says what there is of the key.
    fn is_shadowed(&self, key: &[u8]) -> bool;
}

impl BaseView for Snapshot {
    fn has_base(&self) -> bool {
        self.has_base()
    }

    fn derivation(&self) -> Option<u64> {
        self.derivation()
    }

    fn base_get(&self, key: &[u8]) -> Option<Record> {
        self.base_get(key)
    }

    fn base_head(&self, key: &[u8]) -> Option<Head> {
        self.base_head(key)
    }

    fn derived(&self, range: &KeyRange, direction: Direction) -> DerivedEntries<'_> {
        match direction {
            Direction::Ascending => self.derived(range),
            Direction::Descending => self.derived_rev(range),
        }
    }

    fn counter(&self, key: &[u8]) -> u64 {
        self.counter(key)
    }

    fn overlay(&self, range: &KeyRange) -> OverlayEntries<'_> {
        Box::new(self.overlay(range).map(|(key, record)| (key.clone(), record)))
    }

    fn is_shadowed(&self, key: &[u8]) -> bool {
        self.overlay_get(key).is_some()
    }
}

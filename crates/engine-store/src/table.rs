//! The records in memory that the base does not hold yet.

use bytes::Bytes;
use imbl::OrdMap;

use crate::record::Record;

/// What is known of a key: its record, or that it was deleted.
pub(crate) type Slot = Option<Record>;

/// Keys and what became of them. Cloning is O(1).
pub(crate) type Table = OrdMap<Bytes, Slot>;

/// Memory of an entry beside its key and value: the table's share, and the allocation.
pub(crate) const ENTRY_OVERHEAD: usize = 160;

/// The memory that an entry takes, about.
pub(crate) fn entry_bytes(key_len: usize, slot: &Slot) -> usize {
    ENTRY_OVERHEAD + key_len + slot.as_ref().map_or(0, |record| record.value.len())
}

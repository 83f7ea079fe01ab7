//! What the base's tables hold, byte by byte.

use base_env::UnixMicros;
use bytes::{Buf, BufMut, Bytes};
use redb::TableDefinition;

use crate::record::Record;
use crate::table::Slot;

/// Key to record: creation time, update time, value. Nothing at all where a lower base's record was
/// deleted.
pub(crate) const RECORDS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("records");
/// Derived keys, each with [`PRESENT`] or, over a lower base, [`ABSENT`].
pub(crate) const DERIVED: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("derived");
/// Counters by key.
pub(crate) const COUNTERS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("counters");
/// Numbers by name, written in the transaction that they describe.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");

/// The value of a derived entry.
pub(crate) const PRESENT: &[u8] = &[];
/// The value of a derived entry that a lower base has and this one has not.
pub(crate) const ABSENT: &[u8] = &[0];

/// Bytes of the two times before a value.
const TIMES_LEN: usize = 16;

/// Writes a slot into `out`, in place of what was there.
pub(crate) fn encode(slot: &Slot, out: &mut Vec<u8>) {
    out.clear();
    if let Some(record) = slot {
        out.put_i64_le(record.created.0);
        out.put_i64_le(record.updated.0);
        out.extend_from_slice(&record.value);
    }
}

/// The times and the value in stored bytes; `None` for a deleted record.
pub(crate) fn split(mut stored: &[u8]) -> Option<(UnixMicros, UnixMicros, &[u8])> {
    if stored.len() < TIMES_LEN {
        return None;
    }
    let created = UnixMicros(stored.get_i64_le());
    let updated = UnixMicros(stored.get_i64_le());
    Some((created, updated, stored))
}

/// A copy of a stored record.
pub(crate) fn decode(stored: &[u8]) -> Slot {
    let (created, updated, value) = split(stored)?;
    Some(Record { created, updated, value: Bytes::copy_from_slice(value) })
}

/// Copies of a key and its stored record, in one allocation.
pub(crate) fn decode_entry(key: &[u8], stored: &[u8]) -> (Bytes, Slot) {
    let Some((created, updated, value)) = split(stored) else {
        return (Bytes::copy_from_slice(key), None);
    };
    let mut both = Vec::with_capacity(key.len() + value.len());
    both.extend_from_slice(key);
    both.extend_from_slice(value);
    let mut key_bytes = Bytes::from(both);
    let value = key_bytes.split_off(key.len());
    (key_bytes, Some(Record { created, updated, value }))
}

/// A copy of a derived key, and whether it is there.
pub(crate) fn decode_derived(key: &[u8], stored: &[u8]) -> (Bytes, Option<()>) {
    (Bytes::copy_from_slice(key), (stored == PRESENT).then_some(()))
}

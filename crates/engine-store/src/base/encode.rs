//! What the base's tables hold, byte by byte.

use base_env::UnixMicros;
use bytes::{Buf, BufMut, Bytes};
use redb::TableDefinition;

use crate::limits::INLINE_BYTES_MAX;
use crate::record::{Head, Record};

/// Counters by key.
pub(crate) const COUNTERS: TableDefinition<'_, &[u8], u64> = TableDefinition::new("counters");
/// Numbers by name, written in the transaction that they describe.
pub(crate) const META: TableDefinition<'_, &str, u64> = TableDefinition::new("meta");
/// The runs by their numbers, a newer one's being higher: how many heads and how many bytes each holds.
pub(crate) const RUNS: TableDefinition<'_, u64, (u64, u64)> = TableDefinition::new("runs");

/// The value of a derived entry that is below and not here. That of one that is there is its mark, and nothing where
/// that is zero.
pub(crate) const ABSENT: &[u8] = &[0];

/// The value of a derived entry with that mark.
pub(crate) fn encode_mark(mark: &u8) -> &[u8] {
    if *mark == 0 { &[] } else { std::slice::from_ref(mark) }
}

/// The mark of a derived entry; `None` for one that is not there.
pub(crate) fn decode_mark(stored: &[u8]) -> Option<u8> {
    match stored {
        [] => Some(0),
        [mark, ..] => (*mark != 0).then_some(*mark),
    }
}

/// Bytes of the two times a head begins with.
const TIMES_LEN: usize = 16;
/// Follows the times where the value follows.
const INLINE: u8 = 0;
/// Follows the times where the value is apart, and its length follows.
const APART: u8 = 1;

/// Where the value of a head is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<T> {
    Inline(T),
    /// In the values of the same run; it is so long.
    Apart(usize),
}

/// A head as it is stored: its times, and where the value is.
pub(crate) type Stored<'v> = (UnixMicros, UnixMicros, Place<&'v [u8]>);

/// Writes the head of a record into `out`, in place of what was there. Answers whether the value goes apart.
pub(crate) fn encode(record: &Record, out: &mut Vec<u8>) -> bool {
    out.clear();
    out.put_i64_le(record.created.0);
    out.put_i64_le(record.updated.0);
    let apart = record.value.len() > INLINE_BYTES_MAX;
    if apart {
        out.put_u8(APART);
        out.put_u64_le(record.value.len() as u64);
    } else {
        out.put_u8(INLINE);
        out.extend_from_slice(&record.value);
    }
    apart
}

/// Takes a stored head apart; `None` for that of a deleted record.
pub(crate) fn split(mut stored: &[u8]) -> Option<Stored<'_>> {
    if stored.len() <= TIMES_LEN {
        return None;
    }
    let created = UnixMicros(stored.get_i64_le());
    let updated = UnixMicros(stored.get_i64_le());
    let place = match stored.get_u8() {
        APART => Place::Apart(usize::try_from(stored.try_get_u64_le().ok()?).ok()?),
        _ => Place::Inline(stored),
    };
    Some((created, updated, place))
}

/// Whether a stored head says that the record was deleted.
pub(crate) fn is_deleted(stored: &[u8]) -> bool {
    stored.is_empty()
}

/// What a stored head says without its value.
pub(crate) fn decode_head(stored: &[u8]) -> Option<Head> {
    let (created, updated, place) = split(stored)?;
    let value_len = match place {
        Place::Inline(value) => value.len(),
        Place::Apart(len) => len,
    };
    Some(Head { created, updated, value_len })
}

/// Copies of a key and of an inline value, in one allocation.
pub(crate) fn copy_both(key: &[u8], value: &[u8]) -> (Bytes, Bytes) {
    let mut both = Vec::with_capacity(key.len() + value.len());
    both.extend_from_slice(key);
    both.extend_from_slice(value);
    let mut key_bytes = Bytes::from(both);
    let value = key_bytes.split_off(key.len());
    (key_bytes, value)
}

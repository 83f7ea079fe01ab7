//! The records that were read last, in front of the file.
//!
//! Counters, sessions, and the documents that security rules look at are read again and again. A lookup in
//! the file walks a tree and copies; here it is a hash and a count. States of a base never change, so
//! nothing in here is ever out of date: what is of a state nobody reads any more makes room by itself.

use std::hash::{Hash, Hasher};

use bytes::Bytes;
use quick_cache::sync::Cache;
use quick_cache::{Equivalent, Weighter};

use crate::limits::{INLINE_BYTES_MAX, RECENT_BYTES_MAX, RECENT_LEN};
use crate::record::Record;
use crate::table::ENTRY_OVERHEAD;

/// Records of the states of one file. That there is none is not kept: who writes new documents asks
/// for each of them once.
pub(super) struct Recent {
    records: Cache<Key, Record, Bytewise>,
}

impl Recent {
    pub(super) fn new() -> Recent {
        Recent { records: Cache::with_weighter(RECENT_LEN, RECENT_BYTES_MAX, Bytewise) }
    }

    /// The record of `key` in the state numbered `generation`, if it was read before.
    pub(super) fn get(&self, generation: u64, key: &[u8]) -> Option<Record> {
        self.records.get(&Sought { generation, key })
    }

    /// Keeps a record. Long values are not worth their room.
    pub(super) fn keep(&self, generation: u64, key: &[u8], record: &Record) {
        if record.value.len() <= INLINE_BYTES_MAX {
            let key = Key { generation, key: Bytes::copy_from_slice(key) };
            self.records.insert(key, record.clone());
        }
    }
}

struct Key {
    generation: u64,
    key: Bytes,
}

/// A key that is looked for, without a copy of it.
struct Sought<'a> {
    generation: u64,
    key: &'a [u8],
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.generation == other.generation && self.key == other.key
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Sought { generation: self.generation, key: &self.key }.hash(state);
    }
}

impl Hash for Sought<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.generation);
        state.write(self.key);
    }
}

impl Equivalent<Key> for Sought<'_> {
    fn equivalent(&self, other: &Key) -> bool {
        self.generation == other.generation && self.key == other.key
    }
}

#[derive(Clone)]
struct Bytewise;

impl Weighter<Key, Record> for Bytewise {
    fn weight(&self, key: &Key, record: &Record) -> u64 {
        (ENTRY_OVERHEAD + key.key.len() + record.value.len()) as u64
    }
}

#[cfg(test)]
mod tests {
    use base_env::UnixMicros;

    use super::*;

    fn record(bytes: usize) -> Record {
        let (created, updated) = (UnixMicros(1), UnixMicros(2));
        Record { created, updated, value: Bytes::from(vec![7; bytes]) }
    }

    #[test]
    fn answers_of_one_state_are_not_those_of_another() {
        let recent = Recent::new();
        recent.keep(1, b"a", &record(3));
        recent.keep(2, b"a", &record(4));
        assert_eq!(recent.get(1, b"a"), Some(record(3)));
        assert_eq!(recent.get(2, b"a"), Some(record(4)));
        assert_eq!(recent.get(3, b"a"), None);
        assert_eq!(recent.get(1, b"b"), None);
    }

    #[test]
    fn it_stays_within_its_room() {
        let recent = Recent::new();
        recent.keep(1, b"long", &record(INLINE_BYTES_MAX + 1));
        assert_eq!(recent.get(1, b"long"), None);
        for index in 0..20_000_u32 {
            recent.keep(1, &index.to_be_bytes(), &record(1_000));
        }
        assert!(recent.records.weight() <= RECENT_BYTES_MAX, "{}", recent.records.weight());
        assert!(recent.records.len() > 500, "{}", recent.records.len());
    }
}

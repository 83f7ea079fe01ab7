//! What a key space wants in the base beside its records.

use bytes::Bytes;

/// Entries and counters that follow from the records of a key space: indexes, for example.
///
/// They are made by the fold, never on the path of a commit, and live in the base only. Every method
/// must be pure: what was derived from a record is taken away by deriving it again.
pub trait Derive: Send + Sync + 'static {
    /// Identifies the derivation, the definitions of indexes included. A base that was derived by
    /// another one is derived anew when it is opened.
    fn fingerprint(&self) -> u64;

    /// Appends the derived entries of a record: complete keys, in any order. The fold calls it with the old and with
    /// the new value of a key and writes only what differs.
    fn entries(&self, key: &[u8], value: &[u8], out: &mut Vec<DerivedEntry>);

    /// Appends the keys of the counters that a record counts in: each is one higher while the record is
    /// there.
    fn counters(&self, key: &[u8], out: &mut Vec<Bytes>);
}

/// One derived entry.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DerivedEntry {
    /// The key, by which it is found.
    pub key: Bytes,
    /// What is known beside the key; zero takes no room.
    pub mark: u8,
}

impl From<Bytes> for DerivedEntry {
    fn from(key: Bytes) -> DerivedEntry {
        DerivedEntry { key, mark: 0 }
    }
}

/// Derives nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoDerive;

impl Derive for NoDerive {
    fn fingerprint(&self) -> u64 {
        0
    }

    fn entries(&self, _key: &[u8], _value: &[u8], _out: &mut Vec<DerivedEntry>) {}

    fn counters(&self, _key: &[u8], _out: &mut Vec<Bytes>) {}
}

//! The writes of one commit.

use std::collections::BTreeMap;

use bytes::Bytes;

/// What to do with one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// Store the value. Where the stored value is equal already, nothing happens at all.
    Put(Bytes),
    /// Store the value as that of a new key: `created` is this commit's time, and it counts as a
    /// change even where the stored value is equal. For a delete and a put in one commit.
    Recreate(Bytes),
    /// Remove the key. Where it is missing, nothing happens.
    Delete,
}

/// Writes to apply together, at most one for each key, in key order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WriteBatch {
    ops: BTreeMap<Bytes, Op>,
}

impl WriteBatch {
    /// No writes.
    pub fn new() -> WriteBatch {
        WriteBatch::default()
    }

    /// Sets what happens to `key`, instead of what was set before.
    pub fn set(&mut self, key: Bytes, op: Op) {
        self.ops.insert(key, op);
    }

    /// Same as [`WriteBatch::set`] with [`Op::Put`].
    pub fn put(&mut self, key: Bytes, value: Bytes) {
        self.set(key, Op::Put(value));
    }

    /// Same as [`WriteBatch::set`] with [`Op::Delete`].
    pub fn delete(&mut self, key: Bytes) {
        self.set(key, Op::Delete);
    }

    /// What is set to happen to `key`.
    pub fn get(&self, key: &[u8]) -> Option<&Op> {
        self.ops.get(key)
    }

    /// How many keys are written.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether nothing is written.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The writes in key order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&Bytes, &Op)> + Clone {
        self.ops.iter()
    }
}

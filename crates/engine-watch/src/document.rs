//! Documents as everybody is told of them.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use engine_store::Record;

/// A document at one moment, shared by all who are told of it.
#[derive(Debug)]
pub struct Document<M> {
    /// Its key.
    pub key: Bytes,
    /// What there is of it; `None` where it does not exist.
    pub record: Option<Record>,
    made: OnceLock<M>,
}

impl<M> Document<M> {
    /// A document that nothing has been made of yet.
    pub fn new(key: Bytes, record: Option<Record>) -> Document<M> {
        Document { key, record, made: OnceLock::new() }
    }

    /// What was made of it; `make` makes it, for whoever asks first.
    pub fn made(&self, make: impl FnOnce() -> M) -> &M {
        self.made.get_or_init(make)
    }

    /// The bytes it keeps in memory.
    pub(crate) fn size(&self) -> usize {
        let value_len = self.record.as_ref().map_or(0, |record| record.value.len());
        // What is made of it is about as large.
        size_of::<Document<M>>() + self.key.len() + 2 * value_len
    }
}

/// A document as one target sees it.
#[derive(Debug)]
pub struct Seen<M> {
    /// The document.
    pub document: Arc<Document<M>>,
    /// Whether the target has it now. When not, it had it before.
    pub inside: bool,
}

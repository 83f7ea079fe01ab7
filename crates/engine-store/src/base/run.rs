//! One run: the records of some folds, in order, with the derived entries that they changed.

use base_env::UnixMicros;
use bytes::Bytes;
use redb::{ReadOnlyTable, ReadTransaction, StorageError, TableDefinition, TableError};

use super::encode::{Place, split};
use crate::record::Record;
use crate::table::Slot;

pub(super) type BytesTable = ReadOnlyTable<&'static [u8], &'static [u8]>;
pub(super) type BytesDefinition<'n> = TableDefinition<'n, &'static [u8], &'static [u8]>;

/// The tables of one run, which never change.
pub(super) struct Run {
    pub(super) number: u64,
    /// How many heads it holds, deleted ones included.
    pub(super) len: u64,
    /// How many bytes of keys and values.
    pub(super) bytes: u64,
    /// Key to times and value, see [`super::encode`]. Nothing at all where a lower record was deleted.
    pub(super) heads: BytesTable,
    /// Key to value, of those that are not in the heads.
    pub(super) values: BytesTable,
    /// Derived keys, each present or, over lower runs, absent.
    pub(super) derived: BytesTable,
}

/// What a table of a run holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    Heads,
    Values,
    Derived,
}

impl Part {
    pub(super) const ALL: [Part; 3] = [Part::Heads, Part::Values, Part::Derived];

    /// The name of that table of the run with that number.
    pub(super) fn table_name(self, number: u64) -> String {
        let part = match self {
            Part::Heads => "heads",
            Part::Values => "values",
            Part::Derived => "derived",
        };
        format!("{part}-{number:016x}")
    }
}

/// A record of a run whose value may not have been read yet.
pub(crate) struct Unread<'a> {
    created: UnixMicros,
    updated: UnixMicros,
    value: Value<'a>,
}

enum Value<'a> {
    Read(Bytes),
    Apart(&'a Run),
}

impl Run {
    pub(super) fn open(
        transaction: &ReadTransaction,
        number: u64,
        (len, bytes): (u64, u64),
    ) -> Result<Run, TableError> {
        let open = |part: Part| {
            let name = part.table_name(number);
            transaction.open_table(BytesDefinition::new(&name))
        };
        let (heads, values) = (open(Part::Heads)?, open(Part::Values)?);
        Ok(Run { number, len, bytes, heads, values, derived: open(Part::Derived)? })
    }

    /// What is known here of a key: `None` when nothing, so that lower runs decide.
    pub(super) fn get(&self, key: &[u8]) -> Result<Option<Slot>, StorageError> {
        let Some(stored) = self.heads.get(key)? else { return Ok(None) };
        let Some((created, updated, place)) = split(stored.value()) else { return Ok(Some(None)) };
        let value = match place {
            Place::Inline(value) => Bytes::copy_from_slice(value),
            Place::Apart(_) => self.apart(key)?,
        };
        Ok(Some(Some(Record { created, updated, value })))
    }

    /// The value of a head that has it not.
    pub(super) fn apart(&self, key: &[u8]) -> Result<Bytes, StorageError> {
        match self.values.get(key)? {
            Some(value) => Ok(Bytes::copy_from_slice(value.value())),
            None => Err(StorageError::Corrupted("a record is without its value".to_owned())),
        }
    }

    /// A copy of a row of the heads; of a value that is apart, what leads to it.
    pub(super) fn unread<'a>(&'a self, key: &[u8], stored: &[u8]) -> (Bytes, Option<Unread<'a>>) {
        let Some((created, updated, place)) = split(stored) else {
            return (Bytes::copy_from_slice(key), None);
        };
        let (key, value) = match place {
            Place::Inline(value) => {
                let (key, value) = super::encode::copy_both(key, value);
                (key, Value::Read(value))
            }
            Place::Apart(_) => (Bytes::copy_from_slice(key), Value::Apart(self)),
        };
        (key, Some(Unread { created, updated, value }))
    }
}

impl Unread<'_> {
    /// The record, with its value.
    pub(super) fn read(self, key: &[u8]) -> Result<Record, StorageError> {
        let value = match self.value {
            Value::Read(value) => value,
            Value::Apart(run) => run.apart(key)?,
        };
        Ok(Record { created: self.created, updated: self.updated, value })
    }
}

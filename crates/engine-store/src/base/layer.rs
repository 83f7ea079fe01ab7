//! One state of the base, to read.

use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;
use redb::{ReadOnlyTable, StorageError};

use super::cursor::Cursor;
use super::encode::{decode, decode_derived, decode_entry, split};
use super::file::BaseFile;
use crate::error::StoreError;
use crate::merge::Direction;
use crate::range::KeyRange;
use crate::record::{Record, Version};
use crate::table::Slot;

pub(super) type BytesTable = ReadOnlyTable<&'static [u8], &'static [u8]>;

/// The tables of one state, which stay as they are while the file goes on.
pub(super) struct Tables {
    pub(super) records: BytesTable,
    pub(super) derived: BytesTable,
    pub(super) counters: ReadOnlyTable<&'static [u8], u64>,
}

/// One state of a base file, over one of another where it was forked from that. It keeps its state
/// readable, and the pages of it allocated, for as long as it lives.
pub(crate) struct Base {
    // Before the file, whose reads must have ended when it goes.
    pub(super) tables: Tables,
    file: Arc<BaseFile>,
    generation: u64,
    // INVARIANT: it has none under itself, so that a read looks into two files at most.
    under: Option<Arc<Base>>,
    /// The newest version in it, its time and how many keys it holds.
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    pub(crate) len: usize,
    /// The derivation that made the derived entries.
    pub(crate) fingerprint: u64,
}

impl Base {
    pub(super) fn new(
        file: Arc<BaseFile>,
        generation: u64,
        under: Option<Arc<Base>>,
        tables: Tables,
        meta: &ReadOnlyTable<&'static str, u64>,
    ) -> Result<Base, StorageError> {
        let number = |name: &str| -> Result<u64, StorageError> {
            Ok(meta.get(name)?.map_or(0, |value| value.value()))
        };
        Ok(Base {
            version: Version::new(number("version")?),
            time: UnixMicros(number("time")?.cast_signed()),
            len: usize::try_from(number("len")?).unwrap_or(usize::MAX),
            fingerprint: number("fingerprint")?,
            tables,
            file,
            generation,
            under,
        })
    }

    pub(crate) fn file(&self) -> &Arc<BaseFile> {
        &self.file
    }

    pub(crate) fn under(&self) -> Option<&Arc<Base>> {
        self.under.as_ref()
    }

    /// Whether this is the newest state of its file.
    pub(crate) fn is_tip(&self) -> bool {
        *self.file.tip.lock() == self.generation
    }

    pub(crate) fn get(&self, key: &[u8]) -> Option<Record> {
        self.find(key, decode).flatten()
    }

    /// When a key was updated; copies no value.
    pub(crate) fn updated(&self, key: &[u8]) -> Option<UnixMicros> {
        self.find(key, |stored| split(stored).map(|(_, updated, _)| updated)).flatten()
    }

    /// What `read` makes of the stored bytes of a key.
    fn find<T>(&self, key: &[u8], read: impl Fn(&[u8]) -> T) -> Option<T> {
        match self.tables.records.get(key) {
            Ok(Some(stored)) => Some(read(stored.value())),
            Ok(None) => self.under.as_ref()?.find(key, read),
            Err(error) => {
                self.file.note(error);
                None
            }
        }
    }

    /// The record of a key, for a fold, which must not go on after an error.
    pub(super) fn try_get(&self, key: &[u8]) -> Result<Slot, StorageError> {
        match (self.tables.records.get(key)?, &self.under) {
            (Some(stored), _) => Ok(decode(stored.value())),
            (None, Some(under)) => under.try_get(key),
            (None, None) => Ok(None),
        }
    }

    pub(crate) fn counter(&self, key: &[u8]) -> u64 {
        match self.try_counter(key) {
            Ok(value) => value,
            Err(error) => {
                self.file.note(error);
                0
            }
        }
    }

    pub(super) fn try_counter(&self, key: &[u8]) -> Result<u64, StorageError> {
        match (self.tables.counters.get(key)?, &self.under) {
            (Some(value), _) => Ok(value.value()),
            (None, Some(under)) => under.try_counter(key),
            (None, None) => Ok(0),
        }
    }

    /// Whether a derived entry is there.
    pub(super) fn try_derived(&self, key: &[u8]) -> Result<bool, StorageError> {
        match (self.tables.derived.get(key)?, &self.under) {
            (Some(value), _) => Ok(value.value().is_empty()),
            (None, Some(under)) => under.try_derived(key),
            (None, None) => Ok(false),
        }
    }

    pub(crate) fn records(&self, range: &KeyRange, direction: Direction) -> Cursor<'_, Record> {
        let under = self.under.as_ref().map(|under| under.records(range, direction));
        let rows = self.tables.records.range::<&[u8]>(range.bounds());
        Cursor::new(&self.file, rows, under, decode_entry, direction)
    }

    pub(crate) fn derived(&self, range: &KeyRange, direction: Direction) -> Cursor<'_, ()> {
        let under = self.under.as_ref().map(|under| under.derived(range, direction));
        let rows = self.tables.derived.range::<&[u8]>(range.bounds());
        Cursor::new(&self.file, rows, under, decode_derived, direction)
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.file.check()?;
        self.under.as_ref().map_or(Ok(()), |under| under.check())
    }
}

impl fmt::Debug for Base {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Base")
            .field("file", &self.file)
            .field("generation", &self.generation)
            .field("version", &self.version)
            .field("len", &self.len)
            .field("under", &self.under)
            .finish_non_exhaustive()
    }
}

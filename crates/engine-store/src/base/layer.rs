//! One state of the base, which is read.

use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;
use bytes::Bytes;
use redb::{ReadOnlyTable, StorageError};

use super::cursor::{Cursor, Decode, Rows};
use super::encode::{decode_head, decode_mark};
use super::file::BaseFile;
use super::run::{Run, Unread};
use crate::error::StoreError;
use crate::limits::FILE_GROWTH_MAX;
use crate::merge::Direction;
use crate::range::KeyRange;
use crate::record::{Head, Record, Version};
use crate::table::Slot;

/// The tables of one state, which stay as they are while the file goes on.
pub(super) struct Tables {
    /// The newest first.
    pub(super) runs: Vec<Run>,
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

    /// The runs of this file and then of the one below, the newest first.
    fn runs(&self) -> impl DoubleEndedIterator<Item = (&BaseFile, &Run)> {
        let under = self.under.iter().flat_map(|under| under.own_runs());
        self.own_runs().chain(under)
    }

    /// All the runs it is made of, the newest first.
    pub(super) fn all_runs(&self) -> impl Iterator<Item = &Run> {
        self.runs().map(|(_, run)| run)
    }

    fn own_runs(&self) -> impl DoubleEndedIterator<Item = (&BaseFile, &Run)> {
        self.tables.runs.iter().map(|run| (&*self.file, run))
    }

    /// Whether the file takes much more room than this state of it: then others are held, which keep their
    /// pages from being used again.
    pub(crate) fn is_outgrown(&self, slack_bytes: usize) -> bool {
        let held: u64 = self.tables.runs.iter().map(|run| run.bytes).sum();
        let bound = held.saturating_mul(FILE_GROWTH_MAX).saturating_add(slack_bytes as u64);
        self.file.size().is_some_and(|size| size > bound)
    }

    /// The record of a key that somebody asked for.
    pub(crate) fn get(&self, key: &[u8]) -> Option<Record> {
        if let Some(record) = self.file.recent.get(self.generation, key) {
            return Some(record);
        }
        let record = self.fetch(key)?;
        self.file.recent.keep(self.generation, key, &record);
        Some(record)
    }

    /// The record of a key that a walk of derived entries led to. There are many, and few are met again
    /// soon: they would push out what is.
    pub(crate) fn fetch(&self, key: &[u8]) -> Option<Record> {
        self.try_get(key).map_err(|error| self.file.note(error)).ok().flatten()
    }

    /// What is known of a record without its value.
    pub(crate) fn head(&self, key: &[u8]) -> Option<Head> {
        self.try_head(key).map_err(|error| self.file.note(error)).ok().flatten()
    }

    fn try_head(&self, key: &[u8]) -> Result<Option<Head>, StorageError> {
        for (_, run) in self.runs() {
            if let Some(stored) = run.heads.get(key)? {
                return Ok(decode_head(stored.value()));
            }
        }
        Ok(None)
    }

    /// The record of a key, for a fold, which must not go on after an error.
    pub(super) fn try_get(&self, key: &[u8]) -> Result<Slot, StorageError> {
        for (_, run) in self.runs() {
            if let Some(slot) = run.get(key)? {
                return Ok(slot);
            }
        }
        Ok(None)
    }

    /// The record that a walk has met.
    pub(crate) fn read(&self, unread: Unread<'_>, key: &[u8]) -> Option<Record> {
        unread.read(key).map_err(|error| self.file.note(error)).ok()
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

    pub(crate) fn records(&self, range: &KeyRange, direction: Direction) -> Cursor<'_, Unread<'_>> {
        self.cursor(direction, |run| heads(run, range), |run, key, stored| run.unread(key, stored))
    }

    pub(crate) fn heads(&self, range: &KeyRange, direction: Direction) -> Cursor<'_, Head> {
        let decode =
            |_: &Run, key: &[u8], stored: &[u8]| (Bytes::copy_from_slice(key), decode_head(stored));
        self.cursor(direction, |run| heads(run, range), decode)
    }

    pub(crate) fn derived(&self, range: &KeyRange, direction: Direction) -> Cursor<'_, u8> {
        let decode =
            |_: &Run, key: &[u8], stored: &[u8]| (Bytes::copy_from_slice(key), decode_mark(stored));
        let rows = |run: &Run| run.derived.range::<&[u8]>(range.bounds());
        self.cursor(direction, rows, decode)
    }

    fn cursor<'a, T>(
        &'a self,
        direction: Direction,
        rows: impl Fn(&Run) -> Result<Rows, StorageError>,
        decode: Decode<'a, T>,
    ) -> Cursor<'a, T> {
        let mut cursor = None;
        for (file, run) in self.runs().rev() {
            cursor = Some(Cursor::new((file, run), rows(run), cursor, decode, direction));
        }
        cursor.unwrap_or_else(|| Cursor::nothing(direction))
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.file.check()?;
        self.under.as_ref().map_or(Ok(()), |under| under.check())
    }
}

fn heads(run: &Run, range: &KeyRange) -> Result<Rows, StorageError> {
    run.heads.range::<&[u8]>(range.bounds())
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

//! Writing the base: one fold, in one transaction.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use base_env::UnixMicros;
use bytes::Bytes;
use redb::{ReadableTable, Table, WriteTransaction};

use super::encode::{
    ABSENT, COUNTERS, DERIVED, META, PRESENT, RECORDS, decode, decode_entry, encode,
};
use super::file::BaseFile;
use super::layer::Base;
use super::sorter::{Presence, Sorter};
use crate::derive::Derive;
use crate::error::StoreError;
use crate::limits::DERIVED_SORT_BYTES;
use crate::record::Version;
use crate::table::{Slot, Table as Records};

type BytesTable<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// What a fold brings into the base.
pub(crate) struct Fold<'a> {
    /// What became of keys since the base.
    pub(crate) records: &'a Records,
    /// The state to which they lead.
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    pub(crate) len: usize,
    pub(crate) derive: &'a dyn Derive,
    /// Where temporary files go.
    pub(crate) scratch: &'a Path,
}

/// What a fold goes on from.
enum Start<'a> {
    /// The newest state of the file it writes to.
    Tip,
    /// The records of the newest state of the file it writes to, derived anew.
    Underived(&'a Base),
    /// Nothing: what the file holds is removed.
    Empty,
    /// A state that lies over the same one as the new file: its own part is copied.
    Copy(&'a Base),
}

impl Fold<'_> {
    /// Folds over `base`, which is the newest state of a file that is ours to write to.
    pub(crate) fn onto(&self, base: &Base) -> Result<Arc<Base>, StoreError> {
        self.write(base.file(), &Start::Tip, base.under().cloned())
    }

    /// The same where `base` was derived in another way. It must not lie over another one.
    pub(crate) fn onto_underived(&self, base: &Base) -> Result<Arc<Base>, StoreError> {
        self.write(base.file(), &Start::Underived(base), None)
    }

    /// Folds over nothing, into a file whose content is no longer wanted.
    pub(crate) fn onto_nothing(&self, file: &Arc<BaseFile>) -> Result<Arc<Base>, StoreError> {
        self.write(file, &Start::Empty, None)
    }

    /// Folds over a state that is not ours to write to, into a new file.
    pub(crate) fn over(
        &self,
        file: &Arc<BaseFile>,
        base: &Arc<Base>,
    ) -> Result<Arc<Base>, StoreError> {
        match base.under() {
            None => self.write(file, &Start::Empty, Some(Arc::clone(base))),
            // Two files deep is enough: the nearer one's own part comes along.
            Some(under) => self.write(file, &Start::Copy(base), Some(Arc::clone(under))),
        }
    }

    fn write(
        &self,
        file: &Arc<BaseFile>,
        start: &Start<'_>,
        under: Option<Arc<Base>>,
    ) -> Result<Arc<Base>, StoreError> {
        let commit = || -> Result<(), redb::Error> {
            let mut transaction = file.database.begin_write()?;
            // Opening after a kill must not walk the whole file. Nobody opens a temporary one again.
            transaction.set_quick_repair(!file.is_temporary());
            if matches!(start, Start::Empty) {
                transaction.delete_table(RECORDS)?;
            }
            if matches!(start, Start::Empty | Start::Underived(_)) {
                transaction.delete_table(DERIVED)?;
                transaction.delete_table(COUNTERS)?;
            }
            self.fill(&transaction, start, under.as_deref(), file.store())?;
            transaction.commit()?;
            Ok(())
        };
        commit().map_err(|error| file.error(error))?;
        let generation = {
            let mut tip = file.tip.lock();
            *tip += 1;
            *tip
        };
        let newest = file.newest(generation, under)?;
        newest.map(Arc::new).ok_or_else(|| {
            file.error(redb::Error::Corrupted("what was just written is missing".to_owned()))
        })
    }

    fn fill(
        &self,
        transaction: &WriteTransaction,
        start: &Start<'_>,
        under: Option<&Base>,
        store: u64,
    ) -> Result<(), redb::Error> {
        let mut writer = Writer {
            records: transaction.open_table(RECORDS)?,
            derived: Sorter::new(self.scratch.to_owned(), DERIVED_SORT_BYTES),
            under,
            derive: self.derive,
            counted: HashMap::new(),
            scratch: Scratch::default(),
        };
        let mut counters = transaction.open_table(COUNTERS)?;
        match start {
            Start::Tip | Start::Empty => {}
            Start::Underived(base) => writer.derive_all(base)?,
            Start::Copy(base) => {
                writer.copy(base)?;
                let mut derived = transaction.open_table(DERIVED)?;
                for row in base.tables.derived.iter()? {
                    let (key, stored) = row?;
                    derived.insert(key.value(), stored.value())?;
                }
                for row in base.tables.counters.iter()? {
                    let (key, value) = row?;
                    counters.insert(key.value(), value.value())?;
                }
            }
        }
        for (key, slot) in self.records {
            writer.put(key, slot)?;
        }
        let Writer { counted, derived, records, .. } = writer;
        drop(records);
        write_derived(derived, transaction.open_table(DERIVED)?, under)?;
        let mut counted: Vec<(Bytes, i64)> = counted.into_iter().collect();
        counted.sort_unstable();
        for (key, change) in counted {
            let stored = counters.get(key.as_ref())?.map(|value| value.value());
            let before = match (stored, under) {
                (Some(value), _) => value,
                (None, Some(under)) => under.try_counter(&key)?,
                (None, None) => 0,
            };
            let after = before.saturating_add_signed(change);
            if after == 0 && under.is_none() {
                counters.remove(key.as_ref())?;
            } else {
                counters.insert(key.as_ref(), after)?;
            }
        }
        let mut meta = transaction.open_table(META)?;
        meta.insert("store", store)?;
        meta.insert("version", self.version.get())?;
        meta.insert("time", self.time.0.cast_unsigned())?;
        meta.insert("len", self.len as u64)?;
        meta.insert("fingerprint", self.derive.fingerprint())?;
        Ok(())
    }
}

struct Writer<'t> {
    records: BytesTable<'t>,
    derived: Sorter,
    under: Option<&'t Base>,
    derive: &'t dyn Derive,
    /// By how much each counter changes.
    counted: HashMap<Bytes, i64>,
    scratch: Scratch,
}

/// Buffers that are used for one record after the other.
#[derive(Default)]
struct Scratch {
    stored: Vec<u8>,
    old: Vec<Bytes>,
    new: Vec<Bytes>,
    counters: Vec<Bytes>,
}

impl Writer<'_> {
    /// Brings along what `base` itself holds, as it is.
    fn copy(&mut self, base: &Base) -> Result<(), redb::Error> {
        for row in base.tables.records.iter()? {
            let (key, stored) = row?;
            self.records.insert(key.value(), stored.value())?;
        }
        Ok(())
    }

    fn derive_all(&mut self, base: &Base) -> Result<(), redb::Error> {
        for row in base.tables.records.iter()? {
            let (key, stored) = row?;
            if let (key, Some(record)) = decode_entry(key.value(), stored.value()) {
                self.derive(&key, None, Some(&record.value))?;
            }
        }
        Ok(())
    }

    fn put(&mut self, key: &Bytes, slot: &Slot) -> Result<(), redb::Error> {
        let below = self.under.map_or(Ok(None), |under| under.try_get(key))?;
        let own = if slot.is_some() || below.is_some() {
            encode(slot, &mut self.scratch.stored);
            self.records.insert(key.as_ref(), self.scratch.stored.as_slice())?
        } else {
            self.records.remove(key.as_ref())?
        };
        let before = own.map_or(below, |stored| decode(stored.value()));
        let (old, new) = (before.map(|record| record.value), slot.as_ref().map(|new| &new.value));
        if old.as_ref() != new {
            self.derive(key, old.as_ref(), new)?;
        }
        Ok(())
    }

    /// Notes what follows from the change of a value.
    fn derive(&mut self, key: &Bytes, old: Option<&Bytes>, new: Option<&Bytes>) -> io::Result<()> {
        let Scratch { old: old_keys, new: new_keys, counters, .. } = &mut self.scratch;
        for (value, keys) in [(old, &mut *old_keys), (new, &mut *new_keys)] {
            keys.clear();
            if let Some(value) = value {
                self.derive.entries(key, value, keys);
                keys.sort_unstable();
                keys.dedup();
            }
        }
        for key in old_keys.iter().filter(|key| new_keys.binary_search(key).is_err()) {
            self.derived.push(key, Presence::Absent)?;
        }
        for key in new_keys.iter().filter(|key| old_keys.binary_search(key).is_err()) {
            self.derived.push(key, Presence::Present)?;
        }
        let change = i64::from(new.is_some()) - i64::from(old.is_some());
        if change != 0 {
            counters.clear();
            self.derive.counters(key, counters);
            for counter in counters.drain(..) {
                *self.counted.entry(counter).or_insert(0) += change;
            }
        }
        Ok(())
    }
}

/// Writes what changed of the derived entries, in their order.
fn write_derived(
    derived: Sorter,
    mut table: BytesTable<'_>,
    under: Option<&Base>,
) -> Result<(), redb::Error> {
    derived.drain(|key, presence| {
        match presence {
            Presence::Present => {
                table.insert(key, PRESENT)?;
            }
            Presence::Absent if under.map_or(Ok(false), |under| under.try_derived(key))? => {
                table.insert(key, ABSENT)?;
            }
            Presence::Absent => {
                table.remove(key)?;
            }
        }
        Ok(())
    })
}

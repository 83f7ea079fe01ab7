//! Writing one run: what a fold brings, merged with what it takes in of older runs.

use std::collections::HashMap;
use std::io;
use std::ops::Bound;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use redb::{CursorMut, WriteTransaction};

use super::encode::{ABSENT, encode, encode_mark, is_deleted, split};
use super::file::BaseFile;
use super::layer::Base;
use super::rows::MergedRows;
use super::run::{BytesDefinition, Part, Run};
use super::sorter::{Presence, Sorter};
use crate::derive::{Derive, DerivedEntry};
use crate::limits::FOLD_LOOK_ROWS;
use crate::table::{Slot, Table as Records};

type Rows<'t> = CursorMut<'t, &'static [u8], &'static [u8]>;

/// What one run is made of.
pub(super) struct Build<'a> {
    /// What became of keys.
    pub(super) records: &'a Records,
    /// The runs that are taken in, the newest first.
    pub(super) taken: &'a [&'a Run],
    /// What was there before `records`.
    pub(super) before: Option<&'a Base>,
    /// Whether there is anything below that deleted keys have to shadow.
    pub(super) shadows: bool,
    /// Whether the entries of every record are made, instead of what differs.
    pub(super) derives_all: bool,
    pub(super) derive: &'a dyn Derive,
    pub(super) watched: Watched<'a>,
}

/// What can end a fold before it is done.
#[derive(Clone, Copy)]
pub(super) struct Watched<'a> {
    /// Full when there is no room for more.
    pub(super) file: &'a BaseFile,
    /// Set when the fold is no longer wanted.
    pub(super) cancelled: &'a AtomicBool,
}

/// Looks now and then whether a fold is still wanted, and after each row whether there is room.
struct Watch<'a> {
    watched: Watched<'a>,
    rows: u32,
}

impl Watch<'_> {
    /// One more row was written.
    fn row(&mut self) -> io::Result<()> {
        self.watched.file.check_room()?;
        self.rows += 1;
        if self.rows >= FOLD_LOOK_ROWS {
            self.rows = 0;
            if self.watched.cancelled.load(Ordering::Acquire) {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "the store is closing"));
            }
        }
        Ok(())
    }
}

/// How large a run is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Size {
    pub(super) len: u64,
    pub(super) bytes: u64,
}

/// By how much counters change.
pub(super) type Counted = HashMap<Bytes, i64>;

impl Build<'_> {
    /// Writes the run into tables of that number. Derived entries are sorted by `sorter`.
    pub(super) fn write(
        &self,
        transaction: &WriteTransaction,
        number: u64,
        sorter: Sorter,
    ) -> Result<(Size, Counted), redb::Error> {
        let mut changes = Changes {
            derive: self.derive,
            sorter,
            counted: Counted::new(),
            scratch: <_>::default(),
        };
        let mut size = Size::default();
        self.write_records(transaction, number, &mut changes, &mut size)?;
        let Changes { sorter, counted, .. } = changes;
        self.write_derived(transaction, number, sorter, &mut size)?;
        Ok((size, counted))
    }

    fn watch(&self) -> Watch<'_> {
        Watch { watched: self.watched, rows: 0 }
    }

    fn write_records(
        &self,
        transaction: &WriteTransaction,
        number: u64,
        changes: &mut Changes<'_>,
        size: &mut Size,
    ) -> Result<(), redb::Error> {
        let heads_name = Part::Heads.table_name(number);
        let values_name = Part::Values.table_name(number);
        let mut heads = transaction.open_table(BytesDefinition::new(&heads_name))?;
        let mut values = transaction.open_table(BytesDefinition::new(&values_name))?;
        let mut out = Out {
            heads: heads.upper_bound_mut(Bound::<&[u8]>::Unbounded)?,
            values: values.upper_bound_mut(Bound::<&[u8]>::Unbounded)?,
            size,
            watch: self.watch(),
        };
        let mut rows = MergedRows::new(self.taken, |run| run.heads.range::<&[u8]>(..))?;
        let mut stored = Vec::new();
        for (key, slot) in self.records {
            while let Some((key, head, run)) = rows.next_before(Some(key))? {
                self.take_in(key.value(), head.value(), run, &mut out, changes)?;
            }
            let before = self.before.map_or(Ok(None), |base| base.try_get(key))?;
            match slot {
                Some(record) => {
                    let apart = encode(record, &mut stored);
                    out.push(key, &stored, apart.then_some(&record.value))?;
                }
                None if self.shadows => out.push(key, &[], None)?,
                None => {}
            }
            let old = before.as_ref().map(|record| &record.value);
            changes.replace(key, old, slot, self.derives_all)?;
        }
        while let Some((key, head, run)) = rows.next_before(None)? {
            self.take_in(key.value(), head.value(), run, &mut out, changes)?;
        }
        out.heads.close()?;
        out.values.close()?;
        Ok(())
    }

    /// Brings a row of an older run along.
    fn take_in(
        &self,
        key: &[u8],
        head: &[u8],
        run: &Run,
        out: &mut Out<'_, '_>,
        changes: &mut Changes<'_>,
    ) -> Result<(), redb::Error> {
        if is_deleted(head) && !self.shadows {
            return Ok(());
        }
        let place = split(head).map(|(_, _, place)| place);
        let apart = match place {
            Some(super::encode::Place::Apart(_)) => Some(run.apart(key)?),
            Some(super::encode::Place::Inline(_)) | None => None,
        };
        out.push(key, head, apart.as_ref())?;
        if self.derives_all {
            let inline = match place {
                Some(super::encode::Place::Inline(value)) => Some(Bytes::copy_from_slice(value)),
                Some(super::encode::Place::Apart(_)) | None => None,
            };
            if let Some(value) = apart.or(inline) {
                changes.derive(key, None, Some(&value))?;
            }
        }
        Ok(())
    }

    fn write_derived(
        &self,
        transaction: &WriteTransaction,
        number: u64,
        sorter: Sorter,
        size: &mut Size,
    ) -> Result<(), redb::Error> {
        let name = Part::Derived.table_name(number);
        let mut table = transaction.open_table(BytesDefinition::new(&name))?;
        let mut out = table.upper_bound_mut(Bound::<&[u8]>::Unbounded)?;
        let taken = if self.derives_all { &[] } else { self.taken };
        let mut rows = MergedRows::new(taken, |run| run.derived.range::<&[u8]>(..))?;
        let mut watch = self.watch();
        let mut push = |out: &mut Rows<'_>, key: &[u8], mark: &[u8]| -> Result<(), redb::Error> {
            watch.row()?;
            if mark != ABSENT || self.shadows {
                size.bytes += key.len() as u64;
                out.insert_before(key, mark)?;
            }
            Ok(())
        };
        // Of equal keys the last one counts, which is present if any is.
        let mut last: Option<(Vec<u8>, Presence)> = None;
        let mut flush = |last: &mut Option<(Vec<u8>, Presence)>,
                         out: &mut Rows<'_>|
         -> Result<(), redb::Error> {
            let Some((key, presence)) = last.as_ref() else { return Ok(()) };
            while let Some((older, mark, _)) = rows.next_before(Some(key))? {
                push(out, older.value(), mark.value())?;
            }
            match presence {
                Presence::Present(mark) => push(out, key, encode_mark(mark)),
                Presence::Absent => push(out, key, ABSENT),
            }
        };
        sorter.drain(|key, presence| -> Result<(), redb::Error> {
            if last.as_ref().is_none_or(|(known, _)| known != key) {
                flush(&mut last, &mut out)?;
            }
            let (known, mark) = last.get_or_insert_with(|| (Vec::new(), presence));
            known.clear();
            known.extend_from_slice(key);
            *mark = presence;
            Ok(())
        })?;
        flush(&mut last, &mut out)?;
        while let Some((older, mark, _)) = rows.next_before(None)? {
            push(&mut out, older.value(), mark.value())?;
        }
        out.close()?;
        Ok(())
    }
}

/// Where records go.
struct Out<'t, 's> {
    heads: Rows<'t>,
    values: Rows<'t>,
    size: &'s mut Size,
    watch: Watch<'s>,
}

impl Out<'_, '_> {
    fn push(&mut self, key: &[u8], head: &[u8], apart: Option<&Bytes>) -> Result<(), redb::Error> {
        self.watch.row()?;
        self.size.len += 1;
        self.size.bytes += (key.len() + head.len()) as u64;
        self.heads.insert_before(key, head)?;
        if let Some(value) = apart {
            self.size.bytes += (key.len() + value.len()) as u64;
            self.values.insert_before(key, value.as_ref())?;
        }
        Ok(())
    }
}

/// What follows from the changes of records.
struct Changes<'a> {
    derive: &'a dyn Derive,
    sorter: Sorter,
    counted: Counted,
    scratch: Scratch,
}

/// Buffers that are used for one record after the other.
#[derive(Default)]
struct Scratch {
    old: Vec<DerivedEntry>,
    new: Vec<DerivedEntry>,
    counters: Vec<Bytes>,
}

impl Changes<'_> {
    /// Notes that the value of a key is another one.
    fn replace(
        &mut self,
        key: &[u8],
        old: Option<&Bytes>,
        new: &Slot,
        derives_all: bool,
    ) -> io::Result<()> {
        let new = new.as_ref().map(|record| &record.value);
        if derives_all {
            self.derive(key, None, new)
        } else if old != new {
            self.derive(key, old, new)
        } else {
            Ok(())
        }
    }

    /// Notes what follows from the change of a value.
    fn derive(&mut self, key: &[u8], old: Option<&Bytes>, new: Option<&Bytes>) -> io::Result<()> {
        let Scratch { old: old_keys, new: new_keys, counters } = &mut self.scratch;
        for (value, keys) in [(old, &mut *old_keys), (new, &mut *new_keys)] {
            keys.clear();
            if let Some(value) = value {
                self.derive.entries(key, value, keys);
            }
        }
        if old.is_some() {
            for keys in [&mut *old_keys, &mut *new_keys] {
                keys.sort_unstable();
                keys.dedup();
            }
        }
        let has_key = |known: &[DerivedEntry], entry: &DerivedEntry| {
            known.binary_search_by(|known| known.key.cmp(&entry.key)).is_ok()
        };
        for entry in old_keys.iter().filter(|entry| !has_key(new_keys, entry)) {
            self.sorter.push(&entry.key, Presence::Absent)?;
        }
        // Without old ones the new ones are not sorted, and nothing is left out.
        for entry in new_keys.iter().filter(|entry| old_keys.binary_search(entry).is_err()) {
            self.sorter.push(&entry.key, Presence::Present(entry.mark))?;
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

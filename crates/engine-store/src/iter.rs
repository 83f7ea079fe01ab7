//! Walking a snapshot in key order. These types hide what the snapshot is made of.

use std::fmt;
use std::iter::Peekable;

use base_env::UnixMicros;
use bytes::Bytes;
use imbl::ordmap::RangedIter;
use imbl::shared_ptr::DefaultSharedPtr;

use crate::base::{Base, Cursor, Unread};
use crate::cancel::Until;
use crate::limits::PASSED_AT_ONCE;
use crate::merge::{Direction, Turn, turn};
use crate::record::{Head, Record};
use crate::snapshot::{raise, raise_head};
use crate::table::Slot;

type TableRange<'a> = RangedIter<'a, Bytes, Slot, DefaultSharedPtr>;

/// One key and its record, seen in a snapshot.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    inner: Inner<'a>,
}

#[derive(Clone, Debug)]
enum Inner<'a> {
    Shared(&'a Bytes, &'a Record),
    Owned(Bytes, Record),
}

impl<'a> Entry<'a> {
    /// An entry in memory, shown as updated at `floor` at the earliest.
    fn shared(key: &'a Bytes, record: &'a Record, floor: UnixMicros) -> Entry<'a> {
        if record.updated < floor {
            return Entry::owned(key.clone(), record.clone(), floor);
        }
        Entry { inner: Inner::Shared(key, record) }
    }

    fn owned(key: Bytes, record: Record, floor: UnixMicros) -> Entry<'a> {
        Entry { inner: Inner::Owned(key, raise(record, floor)) }
    }

    /// The key.
    pub fn key(&self) -> &Bytes {
        match &self.inner {
            Inner::Shared(key, _) => key,
            Inner::Owned(key, _) => key,
        }
    }

    /// The record.
    pub fn record(&self) -> &Record {
        match &self.inner {
            Inner::Shared(_, record) => record,
            Inner::Owned(_, record) => record,
        }
    }

    /// Key and record, to keep. Copies no bytes.
    pub fn into_owned(self) -> (Bytes, Record) {
        match self.inner {
            Inner::Shared(key, record) => (key.clone(), record.clone()),
            Inner::Owned(key, record) => (key, record),
        }
    }
}

/// A range of one table, one way.
pub(crate) struct Walk<'a> {
    inner: Option<TableRange<'a>>,
    direction: Direction,
}

impl<'a> Walk<'a> {
    pub(crate) fn new(inner: Option<TableRange<'a>>, direction: Direction) -> Walk<'a> {
        Walk { inner, direction }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = (&'a Bytes, &'a Slot);

    fn next(&mut self) -> Option<Self::Item> {
        let inner = self.inner.as_mut()?;
        match self.direction {
            Direction::Ascending => inner.next(),
            Direction::Descending => inner.next_back(),
        }
    }
}

/// A range of the table that is written over the one that is being folded.
pub(crate) struct Overlay<'a> {
    table: Peekable<Walk<'a>>,
    frozen: Option<Peekable<Walk<'a>>>,
    direction: Direction,
}

impl<'a> Overlay<'a> {
    pub(crate) fn new(
        table: Walk<'a>,
        frozen: Option<Walk<'a>>,
        direction: Direction,
    ) -> Overlay<'a> {
        Overlay { table: table.peekable(), frozen: frozen.map(Iterator::peekable), direction }
    }
}

impl<'a> Iterator for Overlay<'a> {
    type Item = (&'a Bytes, &'a Slot);

    fn next(&mut self) -> Option<Self::Item> {
        let Some(frozen) = &mut self.frozen else { return self.table.next() };
        let upper = self.table.peek().map(|(key, _)| key.as_ref());
        match turn(upper, frozen.peek().map(|(key, _)| key.as_ref()), self.direction) {
            Turn::Lower => return frozen.next(),
            Turn::Both => drop(frozen.next()),
            Turn::Upper | Turn::Neither => {}
        }
        self.table.next()
    }
}

/// A range of everything; rows of the base are `T`.
pub(crate) struct Merged<'a, T> {
    overlay: Peekable<Overlay<'a>>,
    base: Option<Box<Peekable<Cursor<'a, T>>>>,
    direction: Direction,
    reader: Until<'a>,
}

/// What a range of everything meets next.
pub(crate) enum Met<'a, T> {
    Overlay(&'a Bytes, &'a Record),
    Base(Bytes, T),
}

impl<'a, T> Merged<'a, T> {
    pub(crate) fn new(
        overlay: Overlay<'a>,
        base: Option<Cursor<'a, T>>,
        reader: Until<'a>,
    ) -> Merged<'a, T> {
        let direction = overlay.direction;
        let base = base.map(|base| Box::new(base.peekable()));
        Merged { overlay: overlay.peekable(), base, direction, reader }
    }
}

impl<'a, T> Iterator for Merged<'a, T> {
    type Item = Met<'a, T>;

    fn next(&mut self) -> Option<Met<'a, T>> {
        loop {
            if self.reader.is_over() {
                return None;
            }
            if let Some(base) = &mut self.base {
                let upper = self.overlay.peek().map(|(key, _)| key.as_ref());
                match turn(upper, base.peek().map(|(key, _)| key.as_ref()), self.direction) {
                    Turn::Lower => {
                        let (key, row) = base.next()?;
                        return Some(Met::Base(key, row));
                    }
                    Turn::Both => drop(base.next()),
                    Turn::Upper | Turn::Neither => {}
                }
            }
            if let (key, Some(record)) = self.overlay.next()? {
                return Some(Met::Overlay(key, record));
            }
        }
    }
}

/// The entries of a range.
pub(crate) struct Entries<'a> {
    inner: Merged<'a, Unread<'a>>,
    base: Option<&'a Base>,
    floor: UnixMicros,
}

impl<'a> Entries<'a> {
    pub(crate) fn new(
        inner: Merged<'a, Unread<'a>>,
        base: Option<&'a Base>,
        floor: UnixMicros,
    ) -> Entries<'a> {
        Entries { inner, base, floor }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        match self.inner.next()? {
            Met::Overlay(key, record) => Some(Entry::shared(key, record, self.floor)),
            Met::Base(key, row) => {
                // After an error, which is noted, nothing more is shown.
                let record = self.base?.read(row, &key)?;
                Some(Entry::owned(key, record, self.floor))
            }
        }
    }
}

/// The entries of a range in ascending key order; see [`crate::Snapshot::range`].
pub struct Range<'a> {
    inner: Entries<'a>,
}

impl<'a> Range<'a> {
    pub(crate) fn new(inner: Entries<'a>) -> Range<'a> {
        Range { inner }
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.inner.next()
    }
}

/// The entries of a range in descending key order; see [`crate::Snapshot::range_rev`].
pub struct RangeRev<'a> {
    inner: Entries<'a>,
}

impl<'a> RangeRev<'a> {
    pub(crate) fn new(inner: Entries<'a>) -> RangeRev<'a> {
        RangeRev { inner }
    }
}

impl<'a> Iterator for RangeRev<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.inner.next()
    }
}

/// The keys of a range and what is known of their records without values; see [`crate::Snapshot::heads`].
pub struct Heads<'a> {
    inner: Merged<'a, Head>,
    floor: UnixMicros,
}

impl<'a> Heads<'a> {
    pub(crate) fn new(inner: Merged<'a, Head>, floor: UnixMicros) -> Heads<'a> {
        Heads { inner, floor }
    }
}

impl Iterator for Heads<'_> {
    type Item = (Bytes, Head);

    fn next(&mut self) -> Option<(Bytes, Head)> {
        let (key, head) = match self.inner.next()? {
            Met::Overlay(key, record) => (key.clone(), record.head()),
            Met::Base(key, head) => (key, head),
        };
        Some((key, raise_head(head, self.floor)))
    }
}

/// The records of a range that are newer than the base, in ascending key order; see
/// [`crate::Snapshot::overlay`].
pub struct OverlayRange<'a> {
    inner: Overlay<'a>,
    floor: UnixMicros,
    reader: Until<'a>,
}

impl<'a> OverlayRange<'a> {
    pub(crate) fn new(
        inner: Overlay<'a>,
        floor: UnixMicros,
        reader: Until<'a>,
    ) -> OverlayRange<'a> {
        OverlayRange { inner, floor, reader }
    }
}

impl<'a> Iterator for OverlayRange<'a> {
    /// The key, and its record unless it was deleted.
    type Item = (&'a Bytes, Option<Record>);

    fn next(&mut self) -> Option<Self::Item> {
        if self.reader.is_over() {
            return None;
        }
        let (key, slot) = self.inner.next()?;
        Some((key, slot.clone().map(|record| raise(record, self.floor))))
    }
}

/// Derived entries of the base in a range; see [`crate::Snapshot::derived`].
pub struct DerivedRange<'a> {
    inner: Option<Cursor<'a, u8>>,
    reader: Until<'a>,
}

impl<'a> DerivedRange<'a> {
    pub(crate) fn new(inner: Option<Cursor<'a, u8>>, reader: Until<'a>) -> DerivedRange<'a> {
        DerivedRange { inner, reader }
    }
}

impl DerivedRange<'_> {
    /// Goes past up to `max` entries without copying them; answers how many there were.
    pub fn pass(&mut self, max: u64) -> u64 {
        let Some(inner) = self.inner.as_mut() else { return 0 };
        let mut passed = 0;
        while passed < max && !self.reader.is_over() {
            let wanted = PASSED_AT_ONCE.min(max - passed);
            let met = inner.pass(wanted);
            passed += met;
            if met < wanted {
                break;
            }
        }
        passed
    }

    /// The next entry with its mark.
    pub fn next_marked(&mut self) -> Option<(Bytes, u8)> {
        if self.reader.is_over() {
            return None;
        }
        self.inner.as_mut()?.next()
    }
}

impl Iterator for DerivedRange<'_> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        self.next_marked().map(|(key, _)| key)
    }
}

macro_rules! debug_by_name {
    ($($name:ident),*) => {$(
        impl fmt::Debug for $name<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).finish_non_exhaustive()
            }
        }
    )*};
}

debug_by_name!(Range, RangeRev, Heads, OverlayRange, DerivedRange);

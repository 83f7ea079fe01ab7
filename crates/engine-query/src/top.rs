//! The first documents of a result by a sort, in memory bounded by how many are wanted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use base_value::Value;
use bytes::Bytes;
use engine_store::{Entry, Record};

use crate::document::Document;
use crate::execute::Row;
use crate::sort::Sort;

/// A document that was found, with what it is sorted by.
pub(crate) struct Found {
    key: Bytes,
    /// Where the name starts in the key.
    name_at: usize,
    record: Record,
    values: Vec<Value>,
}

impl Found {
    fn rank(&self) -> (&[Value], &[u8]) {
        (&self.values, self.key.get(self.name_at..).unwrap_or_default())
    }

    /// The document as a row of the result.
    pub(crate) fn into_row(self) -> Option<Row> {
        Row::new(self.key, self.record)
    }
}

/// Gathers documents and keeps the first ones.
pub(crate) struct Top<'q> {
    sort: &'q Sort,
    wanted: Option<usize>,
    found: Vec<Ranked<'q>>,
    heap: BinaryHeap<Ranked<'q>>,
}

impl<'q> Top<'q> {
    /// Keeps the first `wanted` documents, or all.
    pub(crate) fn new(sort: &'q Sort, wanted: Option<usize>) -> Self {
        Top { sort, wanted, found: Vec::new(), heap: BinaryHeap::new() }
    }

    /// Offers one more document. What is surely not among the first ones costs no allocation.
    pub(crate) fn offer(&mut self, entry: &Entry<'_>, document: &mut Document<'_>) {
        let Some(wanted) = self.wanted else {
            self.found.push(self.ranked(entry, document));
            return;
        };
        if self.heap.len() >= wanted {
            let Some(last) = self.heap.peek() else { return };
            if self.sort.compare_document(document, last.found.rank()).is_ge() {
                return;
            }
            self.heap.pop();
        }
        self.heap.push(self.ranked(entry, document));
    }

    /// What was kept, in order.
    pub(crate) fn into_sorted(self) -> Vec<Found> {
        let mut ranked = match self.wanted {
            Some(_) => self.heap.into_vec(),
            None => self.found,
        };
        ranked.sort_unstable();
        ranked.into_iter().map(|ranked| ranked.found).collect()
    }

    fn ranked(&self, entry: &Entry<'_>, document: &mut Document<'_>) -> Ranked<'q> {
        let (key, record) = entry.clone().into_owned();
        let name_at = key.len() - document.name.len();
        let values = self.sort.values(document);
        Ranked { sort: self.sort, found: Found { key, name_at, record, values } }
    }
}

/// A found document that knows its order.
struct Ranked<'q> {
    sort: &'q Sort,
    found: Found,
}

impl Ord for Ranked<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.sort.compare(self.found.rank(), other.found.rank())
    }
}

impl PartialOrd for Ranked<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked<'_> {}

//! The first documents of a result by a sort, in memory bounded by how many are wanted.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use base_value::Value;
use bytes::Bytes;
use engine_store::Record;

use crate::document::Document;
use crate::rows::Row;
use crate::sort::Sort;

/// A document that was found, with what it is sorted by.
#[derive(Clone)]
pub(crate) struct Found {
    key: Bytes,
    /// Where the name starts in the key.
    name_at: usize,
    record: Record,
    values: Vec<Value>,
}

impl Found {
    /// A matching document.
    pub(crate) fn new(
        sort: &Sort,
        key: &Bytes,
        record: &Record,
        document: &mut Document<'_>,
    ) -> Self {
        let name_at = key.len() - document.name.len();
        let values = sort.values(document);
        Found { key: key.clone(), name_at, record: record.clone(), values }
    }

    /// Its storage key.
    pub(crate) fn key(&self) -> &Bytes {
        &self.key
    }

    /// What is stored.
    pub(crate) fn record(&self) -> &Record {
        &self.record
    }

    pub(crate) fn rank(&self) -> (&[Value], &[u8]) {
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
    pub(crate) fn offer(&mut self, key: &Bytes, record: &Record, document: &mut Document<'_>) {
        if let Some(wanted) = self.wanted
            && self.heap.len() >= wanted
        {
            let Some(last) = self.heap.peek() else { return };
            if self.sort.compare_document(document, last.found.rank()).is_ge() {
                return;
            }
        }
        self.push(Found::new(self.sort, key, record, document));
    }

    /// Same as [`Top::offer`] for one that was found before.
    pub(crate) fn push(&mut self, found: Found) {
        let ranked = Ranked { sort: self.sort, found };
        let Some(wanted) = self.wanted else {
            self.found.push(ranked);
            return;
        };
        self.heap.push(ranked);
        if self.heap.len() > wanted {
            self.heap.pop();
        }
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

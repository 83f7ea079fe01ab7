//! A checked query and its execution against a snapshot.

use std::cmp::Ordering;

use base_value::{DatabaseName, DocumentPath, FieldPath, key};
use bytes::Bytes;
use engine_store::{Entry, KeyRange, Record, Snapshot};

use crate::document::{Cells, Document, FieldTable, Slot};
use crate::error::QueryError;
use crate::filter::Predicate;
use crate::model::{Order, Query};
use crate::name_key;
use crate::nearest;
use crate::normalize::full_order;
use crate::plan::Plan;
use crate::project::project;
use crate::scope::{Entries, Scope};
use crate::sort::{Position, Sort};
use crate::top::{Found, Top};
use crate::validate;

/// A query that has been checked and compiled: ask it as often as you like, of any snapshot.
#[derive(Clone, Debug)]
pub struct Prepared {
    database: DatabaseName,
    query: Query,
    order: Vec<Order>,
    sort: Sort,
    table: FieldTable,
    predicate: Option<Predicate>,
    start: Option<Position>,
    end: Option<Position>,
    scope: Scope,
    plan: Plan,
    other_plans: Vec<Plan>,
    nearest: Option<Slot>,
}

/// One document of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its storage key.
    pub key: Bytes,
    /// Its path.
    pub path: DocumentPath,
    /// What is stored, or with a distance to be shown, what is stored and that.
    pub record: Record,
}

impl Row {
    /// The row of a key and its record; `None` where the key is no document's.
    pub fn new(key: Bytes, record: Record) -> Option<Self> {
        Some(Row { path: key::parse(&key)?, key, record })
    }
}

impl Prepared {
    /// Checks and compiles a query against a database.
    ///
    /// # Errors
    /// What the product refuses, in its words.
    pub fn new(database: &DatabaseName, query: Query) -> Result<Self, QueryError> {
        Prepared::with_order(database, query, &[])
    }

    /// Same as [`Prepared::new`], additionally ordered by `more` before the name.
    pub(crate) fn with_order(
        database: &DatabaseName,
        query: Query,
        more: &[FieldPath],
    ) -> Result<Self, QueryError> {
        let disjuncts = validate::check(database, &query)?;
        let mut table = FieldTable::default();
        let predicate = match &query.filter {
            Some(filter) => Some(Predicate::compile(filter, database, &mut table)?),
            None => None,
        };
        let order = full_order(&query, more);
        let sort = Sort::compile(&order, &mut table);
        let position = |cursor| Position::compile(cursor, &sort, database);
        let start = query.start.as_ref().map(position).transpose()?;
        let end = query.end.as_ref().map(position).transpose()?;
        let cursors = (start.as_ref(), end.as_ref());
        let mut plans = Plan::candidates(&disjuncts, &sort, cursors, database)?.into_iter();
        let plan = plans.next().unwrap_or_default();
        let nearest = query.nearest.as_ref().map(|nearest| table.slot(&nearest.field));
        let scope = Scope::of(&query)?;
        let database = database.clone();
        Ok(Prepared {
            database,
            query,
            order,
            sort,
            table,
            predicate,
            start,
            end,
            scope,
            plan,
            other_plans: plans.collect(),
            nearest,
        })
    }

    /// The database the query was checked against.
    pub fn database(&self) -> &DatabaseName {
        &self.database
    }

    /// The query as it was stated.
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// The full order: explicit, implied, and the name last.
    pub fn order(&self) -> &[Order] {
        &self.order
    }

    /// A range that holds every key the query can ever match.
    pub fn scope(&self) -> KeyRange {
        self.scope.range()
    }

    /// This query with each other plan that can serve it. The answer never depends on the plan.
    pub fn alternatives(&self) -> impl Iterator<Item = Prepared> {
        self.other_plans.iter().map(|plan| Prepared {
            plan: plan.clone(),
            other_plans: Vec::new(),
            ..self.clone()
        })
    }

    /// Runs the query. Where the order is that of names, documents are read as rows are asked for, and
    /// reading ends at the limit; otherwise all matches are read now and only what can be in the result is
    /// kept. Projection is left to [`Prepared::project`].
    pub fn run<'s>(&'s self, snapshot: &'s Snapshot) -> Rows<'s> {
        if let (Some(nearest), Some(slot)) = (&self.query.nearest, self.nearest) {
            return Rows::ready(nearest::search(self, nearest, slot, snapshot), 0);
        }
        if self.query.limit == Some(0) {
            return Rows::ready(Vec::new(), 0);
        }
        if self.sort.fields.is_empty() && self.plan.runs(&self.scope, self.sort.name) {
            return Rows {
                source: Source::Stream(Stream {
                    matches: self.matching(snapshot),
                    offset: self.query.offset,
                    limit: self.query.limit,
                }),
                skipped: 0,
            };
        }
        self.run_sorted(snapshot)
    }

    fn run_sorted<'s>(&'s self, snapshot: &'s Snapshot) -> Rows<'s> {
        let offset = self.query.offset as usize;
        let wanted = self.query.limit.map(|limit| offset.saturating_add(limit as usize));
        let mut top = Top::new(&self.sort, wanted);
        self.matching(snapshot).for_each(|entry, document| top.offer(entry, document));
        let mut found = top.into_sorted();
        let skipped = offset.min(found.len());
        let rows = found.drain(skipped..).filter_map(Found::into_row).collect();
        Rows::ready(rows, skipped)
    }

    /// Whether a document is in the result, were there no offset and no limit.
    pub fn matches(&self, key: &[u8], record: &Record) -> bool {
        if !self.scope.contains(key) {
            return false;
        }
        let mut cells = Cells::default();
        let mut document = self.document(key, record, &mut cells);
        self.accepts(&mut document)
    }

    /// Order of two documents of the result.
    pub fn compare(&self, left: &Row, right: &Row) -> Ordering {
        let values = |row: &Row| {
            let mut cells = Cells::default();
            self.sort.values(&mut self.document(&row.key, &row.record, &mut cells))
        };
        let names = (name_key::of_key(&left.key), name_key::of_key(&right.key));
        self.sort.compare((&values(left), names.0), (&values(right), names.1))
    }

    /// The fields of a document that the query returns, encoded.
    pub fn project(&self, fields: &Bytes) -> Bytes {
        match &self.query.select {
            Some(select) => project(fields, select),
            None => fields.clone(),
        }
    }

    /// Everything in the result, were there no offset and no limit, in order of names.
    pub(crate) fn matching<'s>(&'s self, snapshot: &'s Snapshot) -> Matches<'s> {
        let entries = self.plan.entries(&self.scope, snapshot, self.sort.name);
        Matches { prepared: self, entries, cells: Cells::default() }
    }

    /// Place of a field that the order or a filter names.
    pub(crate) fn slot(&self, field: &FieldPath) -> Option<Slot> {
        self.table.find(field)
    }

    /// A document as this query reads it.
    pub(crate) fn document<'d>(
        &'d self,
        key: &'d [u8],
        record: &'d Record,
        cells: &'d mut Cells,
    ) -> Document<'d> {
        Document::new(name_key::of_key(key), &record.value, &self.table, cells)
    }

    fn accepts(&self, document: &mut Document<'_>) -> bool {
        self.predicate.as_ref().is_none_or(|predicate| predicate.keeps(document))
            && self.sort.places(document)
            && self.start.as_ref().is_none_or(|start| start.precedes(&self.sort, document))
            && self.end.as_ref().is_none_or(|end| !end.precedes(&self.sort, document))
    }
}

/// The documents a query matches.
pub(crate) struct Matches<'s> {
    prepared: &'s Prepared,
    entries: Entries<'s>,
    cells: Cells,
}

impl<'s> Matches<'s> {
    /// The next document's entry.
    fn next_entry(&mut self) -> Option<Entry<'s>> {
        let Matches { prepared, entries, cells } = self;
        entries.find(|entry| {
            prepared.accepts(&mut prepared.document(entry.key(), entry.record(), cells))
        })
    }

    /// Calls `visit` for every document until it answers that it has enough.
    pub(crate) fn try_for_each(
        mut self,
        mut visit: impl FnMut(&Entry<'s>, &mut Document<'_>) -> std::ops::ControlFlow<()>,
    ) {
        for entry in self.entries {
            let mut document = self.prepared.document(entry.key(), entry.record(), &mut self.cells);
            if self.prepared.accepts(&mut document) && visit(&entry, &mut document).is_break() {
                return;
            }
        }
    }

    /// Calls `visit` for every document.
    pub(crate) fn for_each(self, mut visit: impl FnMut(&Entry<'s>, &mut Document<'_>)) {
        self.try_for_each(|entry, document| {
            visit(entry, document);
            std::ops::ControlFlow::Continue(())
        });
    }
}

/// The rows of a result, in order.
pub struct Rows<'s> {
    source: Source<'s>,
    skipped: usize,
}

enum Source<'s> {
    Stream(Stream<'s>),
    Ready(std::vec::IntoIter<Row>),
}

struct Stream<'s> {
    matches: Matches<'s>,
    offset: u32,
    limit: Option<u32>,
}

impl Rows<'_> {
    fn ready(rows: Vec<Row>, skipped: usize) -> Self {
        Rows { source: Source::Ready(rows.into_iter()), skipped }
    }

    /// How many matches the offset has passed over. Final once the first row, or the end, was met.
    pub fn skipped(&self) -> usize {
        self.skipped
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let stream = match &mut self.source {
            Source::Ready(rows) => return rows.next(),
            Source::Stream(stream) => stream,
        };
        while stream.offset > 0 {
            stream.matches.next_entry()?;
            stream.offset -= 1;
            self.skipped += 1;
        }
        if let Some(limit) = &mut stream.limit {
            *limit = limit.checked_sub(1)?;
        }
        let (key, record) = stream.matches.next_entry()?.into_owned();
        Row::new(key, record)
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("skipped", &self.skipped).finish_non_exhaustive()
    }
}

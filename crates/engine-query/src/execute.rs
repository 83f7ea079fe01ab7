//! A checked query and its execution against a snapshot.

use std::cmp::Ordering;

use base_value::{DatabaseName, FieldPath};
use bytes::Bytes;
use engine_store::{KeyRange, Record, Snapshot};

use crate::document::{Cells, Document, FieldTable, Slot};
use crate::error::QueryError;
use crate::explain::{Scanned, Way, Work};
use crate::filter::Predicate;
use crate::index::Indexer;
use crate::index::access::Conjunct;
use crate::index::spec::{IndexPlan, Wanted};
use crate::index::stream::Place;
use crate::model::{Order, Query};
use crate::name_key;
use crate::nearest;
use crate::normalize::{Disjuncts, full_order};
use crate::overlay::Overlay;
use crate::plan::Plan;
use crate::project::project;
use crate::rows::{Matches, Row, Rows};
use crate::run::Run;
use crate::scope::Scope;
use crate::sort::{Position, Sort};
use crate::top::{Found, Top};
use crate::validate;
use crate::view::BaseView;

mod names;

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
    /// What the filter says to indexes; `None` where none serves the scope.
    conjuncts: Option<Vec<Conjunct>>,
    places: Vec<Place>,
    index_plans: Vec<IndexPlan>,
    /// The index plans for bases that were derived by another indexer: those of the automatic indexes. `None`
    /// where the others are no more than that.
    automatic_plans: Option<Vec<IndexPlan>>,
    /// The one of the index plans that is to be used.
    index_plan: Option<usize>,
    /// What snapshots are derived with, where that is known.
    indexer: Option<Indexer>,
    nearest: Option<Slot>,
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
        let mut plan = plans.next().unwrap_or_default();
        let nearest = query.nearest.as_ref().map(|nearest| table.slot(&nearest.field));
        let scope = Scope::of(&query)?;
        let places = scope.places(&query);
        let mut other_plans: Vec<Plan> = plans.collect();
        let conjuncts = match places.is_empty() {
            true => None,
            false => Some(conjuncts(&disjuncts, &sort, cursors, database)?),
        };
        if conjuncts.as_ref().is_some_and(Vec::is_empty) {
            // Nothing can match.
            other_plans.insert(0, std::mem::replace(&mut plan, Plan::Lookup(Vec::new())));
        }
        Ok(Prepared {
            database: database.clone(),
            query,
            order,
            sort,
            table,
            predicate,
            start,
            end,
            scope,
            plan,
            other_plans,
            conjuncts,
            places,
            index_plans: Vec::new(),
            automatic_plans: None,
            index_plan: None,
            indexer: None,
            nearest,
        })
    }

    /// This query, served by indexes. A snapshot whose base was derived by another indexer serves it with the
    /// automatic indexes.
    #[must_use]
    pub fn with_indexer(mut self, indexer: &Indexer) -> Self {
        self.indexer = Some(indexer.clone());
        let Some(conjuncts) = &self.conjuncts else { return self };
        let composites: Vec<_> = indexer.composites_for(&self.query).collect();
        let wanted = Wanted {
            order: &self.order,
            start: self.start.as_ref(),
            end: self.end.as_ref(),
            composites: &composites,
        };
        self.index_plans = IndexPlan::candidates(conjuncts, &wanted);
        if !composites.is_empty() {
            let automatic = Wanted { composites: &[], ..wanted };
            self.automatic_plans = Some(IndexPlan::candidates(conjuncts, &automatic));
        }
        self
    }

    /// Same query, same indexes, additionally ordered by `more` before the name.
    pub(crate) fn reordered(&self, more: &[FieldPath]) -> Result<Self, QueryError> {
        let prepared = Prepared::with_order(&self.database, self.query.clone(), more)?;
        Ok(match &self.indexer {
            Some(indexer) => prepared.with_indexer(indexer),
            None => prepared,
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

    /// This query with each single plan that can serve it. The answer never depends on the plan.
    pub fn alternatives(&self) -> impl Iterator<Item = Prepared> {
        let scans = std::iter::once(&self.plan).chain(&self.other_plans).map(|plan| Prepared {
            plan: plan.clone(),
            other_plans: Vec::new(),
            index_plans: Vec::new(),
            ..self.clone()
        });
        let indexed = (0..self.index_plans.len())
            .map(|plan| Prepared { index_plan: Some(plan), ..self.clone() });
        scans.chain(indexed)
    }

    /// Runs the query. Where the order is that of names, documents are read as rows are asked for, and
    /// reading ends at the limit; otherwise all matches are read now and only what can be in the result is
    /// kept. Projection is left to [`Prepared::project`].
    pub fn run<'s>(&'s self, snapshot: &'s Snapshot) -> Rows<'s> {
        if let (Some(nearest), Some(slot)) = (&self.query.nearest, self.nearest) {
            let (rows, work) = nearest::search(self, nearest, slot, snapshot);
            return Rows::ready(rows, 0, work, self);
        }
        if self.query.limit == Some(0) {
            let work = Work { way: self.way(snapshot), ..Work::default() };
            return Rows::ready(Vec::new(), 0, work, self);
        }
        if self.uses_indexes(snapshot)
            && let Some(run) = self.run_indexed(snapshot)
        {
            return Rows::indexed(run, self);
        }
        let is_unfolded = self.is_unfolded(snapshot);
        if !self.sort.fields.is_empty() || !self.plan.runs(&self.scope, self.sort.name) {
            return self.run_sorted(snapshot, is_unfolded);
        }
        if self.is_keys_only() && self.reads_no_fields() {
            return Rows::keys(self.keys(snapshot), self);
        }
        if let Some(rows) = self.run_behind_offset(snapshot, is_unfolded) {
            return rows;
        }
        Rows::stream(self.matching(snapshot), self.query.offset, self, is_unfolded)
    }

    /// Whether the query would be served by an index, were there a base.
    pub(crate) fn is_unfolded(&self, view: &dyn BaseView) -> bool {
        !view.has_base() && !self.index_plans.is_empty()
    }

    /// Whether rows need no fields: names alone are selected and ordered by.
    pub(crate) fn is_keys_only(&self) -> bool {
        self.sort.fields.is_empty()
            && self.query.nearest.is_none()
            && self
                .query
                .select
                .as_ref()
                .is_some_and(|select| select.iter().all(FieldPath::is_name))
    }

    /// Whether it takes no fields to tell what is in the result, and where.
    pub(crate) fn reads_no_fields(&self) -> bool {
        self.table.is_empty()
    }

    /// Whether an index plan is better than all others.
    pub(crate) fn uses_indexes(&self, view: &dyn BaseView) -> bool {
        let is_lookup = matches!(self.plan, Plan::Lookup(_));
        self.index_plan.is_some()
            || (!is_lookup && view.has_base() && !self.index_plans(view).is_empty())
    }

    /// Whether one index plan is to be used, whatever others there are.
    pub(crate) fn is_forced(&self) -> bool {
        self.index_plan.is_some()
    }

    /// The index plans to choose from.
    pub(crate) fn index_plans(&self, view: &dyn BaseView) -> &[IndexPlan] {
        match (self.index_plan, &self.automatic_plans) {
            (Some(plan), _) => self.index_plans.get(plan..=plan).unwrap_or_default(),
            (None, Some(automatic)) if !self.is_derived(view) => automatic,
            (None, _) => &self.index_plans,
        }
    }

    /// Whether the base holds what the indexer of this query derives.
    fn is_derived(&self, view: &dyn BaseView) -> bool {
        use engine_store::Derive;
        let wanted = self.indexer.as_ref().map(Derive::fingerprint);
        view.derivation().is_none_or(|derivation| Some(derivation) == wanted)
    }

    pub(crate) fn run_indexed<'s>(&'s self, view: &'s dyn BaseView) -> Option<Run<'s>> {
        let overlay = Overlay::of(self, view);
        let runs =
            self.index_plans(view).iter().map(|plan| Run::new(self, view, plan, overlay.clone()));
        Run::best(runs.collect())
    }

    fn run_sorted<'s>(&'s self, snapshot: &'s Snapshot, is_unfolded: bool) -> Rows<'s> {
        let offset = self.query.offset as usize;
        let wanted = self.query.limit.map(|limit| offset.saturating_add(limit as usize));
        let mut top = Top::new(&self.sort, wanted);
        let looked_at = self
            .matching(snapshot)
            .for_each(|entry, document| top.offer(entry.key(), entry.record(), document));
        let mut found = top.into_sorted();
        let skipped = offset.min(found.len());
        let rows = found.drain(skipped..).filter_map(Found::into_row);
        let rows = rows.map(|row| self.stripped(row)).collect();
        let unfolded = if is_unfolded { looked_at } else { 0 };
        let work = Work { unfolded, scanned: Scanned::by_name(looked_at), way: Way::Names };
        Rows::ready(rows, skipped, work, self)
    }

    /// The row without what a query that selects names alone has not asked for.
    pub(crate) fn stripped(&self, mut row: Row) -> Row {
        if self.is_keys_only() {
            row.record.value = Bytes::new();
        }
        row
    }

    /// Whether a document is in the result, were there no offset and no limit.
    pub fn matches(&self, key: &[u8], record: &Record) -> bool {
        if !self.is_in_scope(key) {
            return false;
        }
        let mut cells = Cells::default();
        let mut document = self.document(key, record, &mut cells);
        self.accepts(&mut document)
    }

    /// Order of two documents of the result.
    pub fn compare(&self, left: &Row, right: &Row) -> Ordering {
        self.compare_records((&left.key, &left.record), (&right.key, &right.record))
    }

    /// Same as [`Prepared::compare`], of keys and what they hold.
    pub fn compare_records(&self, left: (&[u8], &Record), right: (&[u8], &Record)) -> Ordering {
        let values = |(key, record): (&[u8], &Record)| {
            let mut cells = Cells::default();
            self.sort.values(&mut self.document(key, record, &mut cells))
        };
        let names = (name_key::of_key(left.0), name_key::of_key(right.0));
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
        let entries = self.plan.walk(&self.scope, snapshot, self.sort.name);
        Matches::new(self, entries)
    }

    /// Whether a document is where the query looks.
    pub(crate) fn is_in_scope(&self, key: &[u8]) -> bool {
        self.scope.contains(key)
    }

    /// Where the entries of the scope are.
    pub(crate) fn places(&self) -> &[Place] {
        &self.places
    }

    /// The counter of all that the query matches, where there is one.
    pub(crate) fn counter(&self) -> Option<Vec<u8>> {
        let is_whole = self.predicate.is_none()
            && self.sort.fields.is_empty()
            && self.start.is_none()
            && self.end.is_none()
            && self.index_plan.is_none()
            && self.indexer.is_some();
        // The last place is the widest one.
        self.places.last().filter(|_| is_whole).map(|place| place.scope.clone())
    }

    /// The order, compiled.
    pub(crate) fn sort(&self) -> &Sort {
        &self.sort
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

    /// Whether a document in scope is in the result, were there no offset and no limit.
    pub(crate) fn accepts(&self, document: &mut Document<'_>) -> bool {
        self.predicate.as_ref().is_none_or(|predicate| predicate.keeps(document))
            && self.sort.places(document)
            && self.start.as_ref().is_none_or(|start| start.precedes(&self.sort, document))
            && self.end.as_ref().is_none_or(|end| !end.precedes(&self.sort, document))
    }
}

/// What each conjunction that can match says to indexes.
fn conjuncts(
    disjuncts: &Disjuncts,
    sort: &Sort,
    cursors: (Option<&Position>, Option<&Position>),
    database: &DatabaseName,
) -> Result<Vec<Conjunct>, QueryError> {
    let mut conjuncts = Vec::new();
    for leaves in disjuncts.iter() {
        if let Some(mut conjunct) = Conjunct::of(leaves, database)? {
            conjunct.names.narrow_by_cursors(sort, cursors);
            conjuncts.push(conjunct);
        }
    }
    Ok(conjuncts)
}

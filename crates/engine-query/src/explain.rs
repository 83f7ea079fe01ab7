//! What explaining a query tells: which indexes it takes, what was read for it, and what production would charge.
//!
//! Nothing here is worked out unless somebody asks: the names of indexes are taken out of the plan's own key
//! prefixes, and what was read is what the walks have counted for their meters anyway.

use std::fmt;
use std::ops::AddAssign;

use base_value::FieldPath;

use crate::execute::Prepared;
use crate::index::spec::{IndexPlan, Walk, WalkKind};
use crate::index::stream::Meter;
use crate::index::{IndexMode, IndexScope, layout};
use crate::limits::{ENTRIES_PER_READ, VECTORS_PER_READ};
use crate::model::{Direction, From, Query};
use crate::normalize::inequality_fields;
use crate::view::BaseView;

/// Whether a request wants to know how it is answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Explain {
    /// It wants the answer alone.
    #[default]
    Off,
    /// It wants the plan alone: nothing is executed.
    Plan,
    /// It wants the answer, the plan and what it took.
    Analyze,
}

/// An index that a query reads, as production would name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsedIndex {
    /// Which queries it serves.
    pub scope: IndexScope,
    /// Its fields, the name last.
    pub fields: Vec<(FieldPath, IndexMode)>,
}

impl fmt::Display for UsedIndex {
    /// Its fields, such as `(foo ASC, __name__ ASC)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (at, (field, mode)) in self.fields.iter().enumerate() {
            let comma = if at > 0 { ", " } else { "" };
            let mode = match mode {
                IndexMode::Ascending => "ASC",
                IndexMode::Descending => "DESC",
                IndexMode::Contains => "CONTAINS",
            };
            write!(f, "{comma}{field} {mode}")?;
        }
        f.write_str(")")
    }
}

/// What was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scanned {
    /// Entries of indexes. Names of documents that were walked are entries of the index of names.
    pub index_entries: u64,
    /// Documents whose fields were looked at.
    pub documents: u64,
    /// Vectors that were compared.
    pub vectors: u64,
}

impl Scanned {
    /// So many documents, met by walking names.
    pub(crate) fn by_name(documents: usize) -> Self {
        let documents = documents as u64;
        Scanned { index_entries: documents, documents, vectors: 0 }
    }

    /// So many names.
    pub(crate) fn names(names: usize) -> Self {
        Scanned { index_entries: names as u64, ..Scanned::default() }
    }

    /// So many documents, met without any index.
    pub(crate) fn documents(documents: usize) -> Self {
        Scanned { documents: documents as u64, ..Scanned::default() }
    }
}

impl AddAssign for Scanned {
    fn add_assign(&mut self, other: Self) {
        self.index_entries += other.index_entries;
        self.documents += other.documents;
        self.vectors += other.vectors;
    }
}

impl Meter {
    /// What was read so far.
    pub(crate) fn scanned(&self) -> Scanned {
        Scanned { index_entries: self.entries, documents: self.documents, vectors: 0 }
    }
}

/// Which way documents are got at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Way {
    /// By names, or by a counter of them.
    #[default]
    Names,
    /// Through index plans.
    Plans(Plans),
}

/// Index plans that are at work, by their places in the list of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Plans {
    /// The one that answers.
    pub(crate) first: usize,
    /// Those that have read something, a bit for each.
    pub(crate) read: u64,
    /// Those that have looked for entries beside those they walk.
    pub(crate) probed: u64,
}

impl Plans {
    /// One plan alone.
    pub(crate) fn only(plan: usize) -> Self {
        Plans { first: plan, read: bit(plan), probed: 0 }
    }

    /// The first of so many that are going to race.
    pub(crate) fn all(plans: usize) -> Self {
        Plans { first: 0, read: bit(plans).wrapping_sub(1), probed: 0 }
    }

    /// Those of a race that the plan `first` has won, by the meters of those that have begun.
    pub(crate) fn raced<'m>(first: usize, meters: impl Iterator<Item = &'m Meter>) -> Self {
        let plans = Plans { first, ..Plans::default() };
        meters.enumerate().fold(plans, |plans, (at, meter)| plans.with(at, meter))
    }

    /// These, and a plan that has been at work.
    pub(crate) fn with(mut self, plan: usize, meter: &Meter) -> Self {
        self.read |= bit(plan);
        if meter.probes > 0 {
            self.probed |= bit(plan);
        }
        self
    }
}

/// A query has fewer plans than there are bits: one for each field with an inequality, and two more.
fn bit(plan: usize) -> u64 {
    u32::try_from(plan).ok().and_then(|plan| 1_u64.checked_shl(plan)).unwrap_or(0)
}

/// What answering took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Work {
    /// How many documents were matched one by one that a fold would let an index find.
    pub(crate) unfolded: usize,
    pub(crate) scanned: Scanned,
    pub(crate) way: Way,
}

impl Prepared {
    /// The indexes that [`Prepared::run`] is going to read, in the order in which they come into play. Of several
    /// plans that would race all are told. Reads nothing.
    pub fn plan(&self, snapshot: &engine_store::Snapshot) -> Vec<UsedIndex> {
        self.used(self.way(snapshot), snapshot)
    }

    /// Which way [`Prepared::run`] goes, as far as that is known beforehand.
    pub(crate) fn way(&self, view: &dyn BaseView) -> Way {
        if self.query().nearest.is_some() {
            return self.visited_way(view);
        }
        match self.uses_indexes(view) {
            true => Way::Plans(Plans::all(self.index_plans(view).len())),
            false => Way::Names,
        }
    }

    /// Which way every match is visited, whatever the order.
    pub(crate) fn visited_way(&self, view: &dyn BaseView) -> Way {
        self.visited_plan(view).map_or(Way::Names, |plan| Way::Plans(Plans::only(plan)))
    }

    /// The indexes that are read on a way, each once, those of the plan that answers first.
    pub(crate) fn used(&self, way: Way, view: &dyn BaseView) -> Vec<UsedIndex> {
        let plans = match way {
            Way::Names => return vec![self.names_index()],
            Way::Plans(plans) => plans,
        };
        let has = |bits: u64, plan: usize| bits & bit(plan) != 0;
        let others = (0..self.index_plans(view).len())
            .filter(|plan| *plan != plans.first && has(plans.read, *plan));
        let mut used = Vec::new();
        for at in std::iter::once(plans.first).chain(others) {
            let Some(plan) = self.index_plans(view).get(at) else { continue };
            for index in self.of_plan(plan, has(plans.probed, at)) {
                if !used.contains(&index) {
                    used.push(index);
                }
            }
        }
        used
    }

    fn names_index(&self) -> UsedIndex {
        UsedIndex {
            scope: self.index_scope(),
            fields: vec![(FieldPath::name(), mode(self.names_direction()))],
        }
    }

    fn of_plan(&self, plan: &IndexPlan, with_probes: bool) -> impl Iterator<Item = UsedIndex> {
        plan.walks.iter().flat_map(move |walk| {
            let walked = walk.keys().map(|key| (key, walk.direction));
            let probes = walk.probes.iter().filter(move |_| with_probes);
            let probed = probes.map(|key| (key.as_slice(), Direction::Ascending));
            walked.chain(probed).filter_map(|(key, direction)| self.index_at(key, direction))
        })
    }

    /// The index whose entries begin like that. One that is there by itself is there both ways in production, and
    /// told as it is walked; a declared one is told as it is declared.
    fn index_at(&self, key: &[u8], direction: Direction) -> Option<UsedIndex> {
        let by_name = |mode| (FieldPath::name(), mode);
        let fields = if let Some((path, elements)) = layout::field_of(key) {
            let by_value = if elements { IndexMode::Contains } else { mode(direction) };
            vec![(path, by_value), by_name(mode(direction))]
        } else {
            let composite = self.composites().find(|known| key.starts_with(&known.index))?;
            let fields = composite.definition.fields.iter();
            let names =
                if composite.flips_name { Direction::Descending } else { Direction::Ascending };
            fields
                .map(|field| (field.path.clone(), field.mode))
                .chain([by_name(mode(names))])
                .collect()
        };
        Some(UsedIndex { scope: self.index_scope(), fields })
    }

    fn index_scope(&self) -> IndexScope {
        match self.query().from {
            From::Collection(_) | From::Children => IndexScope::Collection,
            From::Group(_) | From::Descendants => IndexScope::Group,
        }
    }
}

impl Walk {
    /// What the entries that are walked begin with, behind their scope.
    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let (postings, range) = match &self.kind {
            WalkKind::Postings(postings) => (postings.as_slice(), None),
            WalkKind::Range(range) => ([].as_slice(), Some(range.prefix.as_slice())),
        };
        postings.iter().map(Vec::as_slice).chain(range)
    }
}

fn mode(direction: Direction) -> IndexMode {
    match direction {
        Direction::Ascending => IndexMode::Ascending,
        Direction::Descending => IndexMode::Descending,
    }
}

/// What production would charge for what was read, by its price list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charge {
    /// Documents that cost a read each: those in the result, and those that the offset has passed over.
    pub documents: u64,
    /// Index entries that cost a read for every so many.
    pub index_entries: u64,
    /// Read operations in all; a query costs at least one.
    pub reads: u64,
}

impl Charge {
    /// For a query that has returned, and passed over, so many documents.
    pub fn of_query(query: &Query, returned: u64, skipped: u64, scanned: Scanned) -> Self {
        let entries = if has_ranges(query) { scanned.index_entries } else { 0 };
        Charge::new(query, returned.saturating_add(skipped), entries, scanned)
    }

    /// For aggregations over so many matches, those included that the offset has passed over.
    pub fn of_aggregation(query: &Query, matched: u64, scanned: Scanned) -> Self {
        let entries = if has_ranges(query) { scanned.index_entries } else { matched };
        Charge::new(query, 0, entries, scanned)
    }

    fn new(query: &Query, documents: u64, entries: u64, scanned: Scanned) -> Self {
        let (index_entries, per_read) = match query.nearest {
            Some(_) => (scanned.vectors, VECTORS_PER_READ),
            None => (entries, ENTRIES_PER_READ),
        };
        let reads = documents.saturating_add(index_entries.div_ceil(per_read)).max(1);
        Charge { documents, index_entries, reads }
    }

    /// Whether nothing but the query itself is charged.
    pub fn is_minimum(&self) -> bool {
        self.documents == 0 && self.index_entries == 0
    }
}

/// Whether there are inequalities on more than one field: only then a query's entries are charged.
fn has_ranges(query: &Query) -> bool {
    query.filter.as_ref().is_some_and(|filter| inequality_fields(filter).len() > 1)
}

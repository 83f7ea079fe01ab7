//! Index plans: for every conjunction of a query, which entries are walked, and what their order says about the
//! order of the result.

use std::collections::HashSet;

use base_value::FieldPath;
use base_value::index_key::{Encoded, push_value};

use super::access::{Conjunct, FieldRange, Posting};
use super::derive::Composite;
use super::stream::Directions;
use super::{IndexMode, IndexScope};
use crate::model::{Direction, Order};
use crate::scope::NameBounds;
use crate::sort::Position;

/// A way to get at the documents of a query through indexes: one walk for every conjunction.
#[derive(Clone, Debug)]
pub(crate) struct IndexPlan {
    pub(crate) walks: Vec<Walk>,
    /// How many fields of the order the walks run in.
    pub(crate) covered: usize,
    /// Whether they run in the whole order, the name included.
    pub(crate) is_complete: bool,
    /// Which way the orders run that the walks run in.
    pub(crate) directions: Directions,
    /// Whether no document is met, and has the probed entries, in two of the walks.
    pub(crate) is_disjoint: bool,
}

/// The entries that are walked for one conjunction. They hold every document that matches it.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) kind: WalkKind,
    /// What is known of the order's fields, one after the other, as far as the walk runs in it.
    pub(crate) order: Vec<OrderPart>,
    /// Which way the entries are read.
    pub(crate) direction: Direction,
    /// Whether the order, the name included, is the one entries are met in.
    pub(crate) is_complete: bool,
    pub(crate) names: NameBounds,
    /// Entries a match has, too: index and value.
    pub(crate) probes: Vec<Vec<u8>>,
    /// Whether every document that is met, and has the probed entries, matches.
    pub(crate) is_settled: bool,
    /// Whether only the group's own scope is walked: the root's collection is in there.
    pub(crate) is_group_only: bool,
}

/// What is walked.
#[derive(Clone, Debug)]
pub(crate) enum WalkKind {
    /// The documents that are in all of these postings (index and value), in order of names.
    Postings(Vec<Vec<u8>>),
    /// The entries of one index.
    Range(WalkRange),
}

/// A range of one index's entries.
#[derive(Clone, Debug)]
pub(crate) struct WalkRange {
    /// Index, and values that are fixed.
    pub(crate) prefix: Vec<u8>,
    /// The fields of the values behind the prefix.
    pub(crate) fields: Vec<FieldPath>,
    /// How many of the index's values are in the prefix.
    pub(crate) fixed: usize,
    /// Which of the values behind the prefix are stored with flipped bits.
    pub(crate) flipped: Vec<bool>,
    /// First value behind the prefix, inclusive; encoded, not flipped.
    pub(crate) start: Vec<u8>,
    /// First value behind the prefix, exclusive; encoded, not flipped.
    pub(crate) end: Vec<u8>,
    /// First values behind the prefix that are passed over.
    pub(crate) holes: Vec<Vec<u8>>,
    /// Whether names are stored with flipped bits.
    pub(crate) flips_name: bool,
}

/// What a walk knows of one field of the order.
#[derive(Clone, Debug)]
pub(crate) enum OrderPart {
    /// It is the same for every document.
    Constant(Vec<u8>, Encoded),
    /// It is this value behind the prefix.
    Component(usize),
}

/// What walks are chosen for.
pub(crate) struct Wanted<'q> {
    /// The full order; the name last.
    pub(crate) order: &'q [Order],
    pub(crate) start: Option<&'q Position>,
    pub(crate) end: Option<&'q Position>,
    pub(crate) composites: &'q [&'q Composite],
}

impl IndexPlan {
    /// The plans that can serve a query, those in the order of the result first.
    pub(crate) fn candidates(conjuncts: &[Conjunct], wanted: &Wanted<'_>) -> Vec<Self> {
        let mut plans = Vec::new();
        let ordered: Option<Vec<Walk>> =
            conjuncts.iter().map(|conjunct| wanted.best_ordered(conjunct)).collect();
        plans.extend(ordered.and_then(|walks| wanted.plan(walks)));
        let narrow = conjuncts.iter().map(|conjunct| {
            wanted.postings(conjunct).or_else(|| {
                let range = conjunct.ranges.first()?;
                Some(wanted.range(conjunct, range))
            })
        });
        plans.extend(narrow.collect::<Option<Vec<Walk>>>().and_then(|walks| wanted.plan(walks)));
        if let [conjunct] = conjuncts {
            for range in conjunct.ranges.iter().skip(usize::from(conjunct.postings.is_empty())) {
                plans.extend(wanted.plan(vec![wanted.range(conjunct, range)]));
            }
        }
        let is_disjoint = are_disjoint(conjuncts);
        let mut distinct: Vec<IndexPlan> = Vec::new();
        for mut plan in plans {
            plan.is_disjoint = is_disjoint;
            if !distinct.iter().any(|known| known.is_like(&plan)) {
                distinct.push(plan);
            }
        }
        distinct
    }

    /// Whether the plan only walks postings.
    pub(crate) fn is_postings(&self) -> bool {
        self.walks.iter().all(|walk| matches!(walk.kind, WalkKind::Postings(_)))
    }

    /// Whether the plan reads the same entries in the same way.
    fn is_like(&self, other: &IndexPlan) -> bool {
        self.walks.len() == other.walks.len()
            && self.walks.iter().zip(&other.walks).all(|(one, two)| {
                let is_same = match (&one.kind, &two.kind) {
                    (WalkKind::Postings(one), WalkKind::Postings(two)) => one == two,
                    (WalkKind::Range(one), WalkKind::Range(two)) => {
                        one.prefix == two.prefix && one.start == two.start && one.end == two.end
                    }
                    (WalkKind::Postings(_) | WalkKind::Range(_), _) => false,
                };
                is_same && one.direction == two.direction
            })
    }
}

impl Walk {
    /// Whether the order says of documents that are met what only holds for those that match.
    pub(crate) fn claims_order(&self) -> bool {
        !self.probes.is_empty()
            && self.order.iter().any(|part| matches!(part, OrderPart::Constant(..)))
    }
}

impl Wanted<'_> {
    /// The plan of these walks; `None` where there are none.
    fn plan(&self, walks: Vec<Walk>) -> Option<IndexPlan> {
        let covered = walks.iter().map(|walk| walk.order.len()).min()?;
        let is_complete = walks.iter().all(|walk| walk.is_complete);
        let (fields, name) = self.fields();
        let directions = Directions {
            fields: fields.iter().take(covered).map(|order| order.direction).collect(),
            name: is_complete.then_some(name),
        };
        Some(IndexPlan { walks, covered, is_complete, directions, is_disjoint: false })
    }

    /// The orders by fields, and the direction of names.
    fn fields(&self) -> (&[Order], Direction) {
        match self.order.split_last() {
            Some((name, fields)) => (fields, name.direction),
            None => (&[], Direction::Ascending),
        }
    }

    /// The walk that runs in as much of the order as any does.
    fn best_ordered(&self, conjunct: &Conjunct) -> Option<Walk> {
        let composites =
            self.composites.iter().filter_map(|composite| self.composite(conjunct, composite));
        let walks = composites.chain(self.postings(conjunct)).chain(self.ordered(conjunct));
        // Of equal ones the first is kept: a composite index leaves least to be checked.
        walks.reduce(|best, walk| {
            let rank = |walk: &Walk| (walk.is_complete, walk.order.len());
            if rank(&walk) > rank(&best) { walk } else { best }
        })
    }

    /// The intersection of all postings.
    fn postings(&self, conjunct: &Conjunct) -> Option<Walk> {
        if conjunct.postings.is_empty() {
            return None;
        }
        let postings = conjunct.postings.iter().map(Posting::key).collect();
        let direction = self.fields().1;
        let order = self.order_parts(conjunct, &[]);
        let is_settled = conjunct.is_settled && conjunct.ranges.is_empty();
        Some(self.walk(WalkKind::Postings(postings), conjunct, order, direction, is_settled))
    }

    /// The index of the first field of the order that no posting fixes.
    fn ordered(&self, conjunct: &Conjunct) -> Option<Walk> {
        let (fields, _) = self.fields();
        let order = fields.iter().find(|order| conjunct.fixed(&order.field).is_none())?;
        let range = conjunct.range(&order.field).cloned();
        let mut range = range.unwrap_or_else(|| FieldRange::all(&order.field));
        if fields.first().is_some_and(|first| first.field == order.field) {
            self.narrow_by_cursors(&mut range, order.direction);
        }
        Some(self.range(conjunct, &range))
    }

    /// The entries of a field within a range.
    fn range(&self, conjunct: &Conjunct, range: &FieldRange) -> Walk {
        let (fields, _) = self.fields();
        let components = [&range.field];
        let order = self.order_parts(conjunct, &components);
        let direction = fields
            .iter()
            .find(|order| order.field == range.field)
            .map_or(Direction::Ascending, |order| order.direction);
        let kind = WalkKind::Range(WalkRange {
            prefix: super::layout::ascending(&range.field),
            fields: vec![range.field.clone()],
            fixed: 0,
            flipped: vec![false],
            start: range.start.clone(),
            end: range.end.clone(),
            holes: range.holes.clone(),
            flips_name: false,
        });
        let is_settled = conjunct.is_settled
            && conjunct.ranges.iter().all(|known| known.field == range.field && known.is_exact);
        let mut walk = self.walk(kind, conjunct, order, direction, is_settled);
        walk.probes = conjunct.postings.iter().map(Posting::key).collect();
        walk
    }

    /// A composite index: fields that postings fix, then fields of the order.
    fn composite(&self, conjunct: &Conjunct, composite: &Composite) -> Option<Walk> {
        let mut prefix = composite.index.clone();
        let mut used = Vec::new();
        let mut fields = composite.definition.fields.iter().peekable();
        while let Some(field) = fields.peek() {
            let elements = field.mode == IndexMode::Contains;
            let posting = conjunct
                .postings
                .iter()
                .position(|posting| posting.field == field.path && posting.elements == elements);
            let Some((at, posting)) = posting.zip(posting.and_then(|at| conjunct.postings.get(at)))
            else {
                break;
            };
            if posting.encoded == Encoded::Cut {
                return None;
            }
            let flip = field.mode == IndexMode::Descending;
            prefix.extend(posting.value.iter().map(|byte| if flip { !byte } else { *byte }));
            used.push(at);
            fields.next();
        }
        let rest: Vec<_> = fields.collect();
        let (orders, name) = self.fields();
        let mut wanted = orders.iter().filter(|order| conjunct.fixed(&order.field).is_none());
        let mut direction = None;
        for field in &rest {
            let order = wanted.next().filter(|order| order.field == field.path)?;
            let flip = match field.mode {
                IndexMode::Ascending => false,
                IndexMode::Descending => true,
                IndexMode::Contains => return None,
            };
            let forward = flip == (order.direction == Direction::Descending);
            let way = if forward { Direction::Ascending } else { Direction::Descending };
            if *direction.get_or_insert(way) != way {
                return None;
            }
        }
        let direction =
            direction.unwrap_or_else(|| if composite.flips_name { name.reverse() } else { name });
        let components: Vec<_> = rest.iter().map(|field| &field.path).collect();
        let first = rest.first().and_then(|field| conjunct.range(&field.path));
        let mut range = match (first, rest.first()) {
            (Some(range), _) => range.clone(),
            (None, Some(field)) => FieldRange::all(&field.path),
            // Only the name is behind the prefix.
            (None, None) => FieldRange::all(&FieldPath::name()),
        };
        if orders.first().is_some_and(|first| first.field == range.field) {
            self.narrow_by_cursors(
                &mut range,
                orders.first().map_or(name, |first| first.direction),
            );
        }
        let order = self.order_parts(conjunct, &components);
        let kind = WalkKind::Range(WalkRange {
            prefix,
            fields: components.into_iter().cloned().collect(),
            fixed: used.len(),
            flipped: rest.iter().map(|field| field.mode == IndexMode::Descending).collect(),
            start: range.start,
            end: range.end,
            holes: range.holes,
            flips_name: composite.flips_name,
        });
        let is_settled = conjunct.is_settled
            && conjunct.ranges.iter().all(|known| known.field == range.field && known.is_exact);
        let mut walk = self.walk(kind, conjunct, order, direction, is_settled);
        let others = conjunct.postings.iter().enumerate().filter(|(at, _)| !used.contains(at));
        walk.probes = others.map(|(_, posting)| posting.key()).collect();
        walk.is_group_only = composite.definition.scope == IndexScope::Group;
        Some(walk)
    }

    fn walk(
        &self,
        kind: WalkKind,
        conjunct: &Conjunct,
        order: Option<Vec<OrderPart>>,
        direction: Direction,
        is_settled: bool,
    ) -> Walk {
        let (fields, name) = self.fields();
        let is_covered = order.as_ref().is_some_and(|order| order.len() == fields.len());
        let names = match &kind {
            WalkKind::Range(range) if range.flips_name => direction.reverse(),
            WalkKind::Range(_) | WalkKind::Postings(_) => direction,
        };
        let walked = |order: &Order| match &kind {
            WalkKind::Postings(_) => false,
            WalkKind::Range(range) => {
                range.prefix == super::layout::ascending(&order.field) && range.flipped.len() == 1
            }
        };
        // Fields of the order must be there for a document to be in the result.
        let has_fields =
            is_covered || fields.iter().all(|order| conjunct.has(&order.field) || walked(order));
        Walk {
            kind,
            order: order.unwrap_or_default(),
            direction,
            is_complete: is_covered && names == name,
            names: conjunct.names.clone(),
            probes: Vec::new(),
            is_settled: is_settled && has_fields && self.start.is_none() && self.end.is_none(),
            is_group_only: false,
        }
    }

    /// How far the order is known from postings and the values that are walked; `None` where the walk does not
    /// run in it at all.
    fn order_parts(
        &self,
        conjunct: &Conjunct,
        components: &[&FieldPath],
    ) -> Option<Vec<OrderPart>> {
        let (fields, _) = self.fields();
        let mut parts = Vec::new();
        let mut walked = 0;
        for order in fields {
            if let Some(posting) = conjunct.fixed(&order.field) {
                parts.push(OrderPart::Constant(posting.value.clone(), posting.encoded));
            } else if components.get(walked) == Some(&&order.field) {
                parts.push(OrderPart::Component(walked));
                walked += 1;
            } else {
                break;
            }
        }
        // Names are only in order where every value before them is.
        (walked == components.len()).then_some(parts)
    }

    /// Leaves out what is before the start or behind the end by the first value alone.
    fn narrow_by_cursors(&self, range: &mut FieldRange, direction: Direction) {
        for (position, is_start) in [(self.start, true), (self.end, false)] {
            let Some(value) = position.and_then(|position| position.values.first()) else {
                continue;
            };
            let mut at = Vec::new();
            push_value(&mut at, value);
            if is_start == (direction == Direction::Ascending) {
                range.start_at(at);
            } else {
                range.end_at(super::access::after_prefix(at));
            }
        }
    }
}

/// Whether no document matches two of the conjunctions: there are fields which all of them fix, and no two to the
/// same values.
fn are_disjoint(conjuncts: &[Conjunct]) -> bool {
    let Some((first, others)) = conjuncts.split_first() else { return true };
    let fixed = first.postings.iter().filter(|posting| {
        let in_all = || others.iter().all(|other| other.fixed(&posting.field).is_some());
        !posting.elements && in_all()
    });
    let fields: Vec<&FieldPath> = fixed.map(|posting| &posting.field).collect();
    let mut known = HashSet::with_capacity(conjuncts.len());
    conjuncts.iter().all(|conjunct| {
        let values = fields.iter().filter_map(|field| Some(&conjunct.fixed(field)?.value));
        known.insert(values.collect::<Vec<_>>())
    })
}

impl Posting {
    /// Index and value.
    fn key(&self) -> Vec<u8> {
        [self.index.as_slice(), &self.value].concat()
    }
}

//! What needs no rows: counting matches by index entries, and visiting matches in any order.

use std::collections::HashSet;

use bytes::Bytes;
use engine_store::{Record, Snapshot};

use crate::document::{Cells, Document};
use crate::execute::Prepared;
use crate::explain::{Plans, Scanned, Way, Work};
use crate::index::spec::IndexPlan;
use crate::index::stream::{Item, Meter, OrderKey, Step};
use crate::index::union::Union;
use crate::overlay::Overlay;
use crate::run::{CONTEST_WORK, has_probes, read_work};
use crate::view::BaseView;

/// Counts the matches of one plan; documents are read only where entries do not say all.
pub(crate) struct Tally<'s> {
    prepared: &'s Prepared,
    view: &'s dyn BaseView,
    plan: &'s IndexPlan,
    union: Union<'s>,
    has_overlay: bool,
    /// Whether every entry is one match.
    is_plain: bool,
    repeats: Repeats,
    wanted: u64,
    pub(crate) count: u64,
    is_done: bool,
    cells: Cells,
    meter: Meter,
}

impl<'s> Tally<'s> {
    /// Counts up to `wanted`, what is newer than the base included.
    pub(crate) fn new(
        prepared: &'s Prepared,
        view: &'s dyn BaseView,
        plan: &'s IndexPlan,
        overlay: &Overlay,
        wanted: u64,
    ) -> Self {
        let repeats = Repeats::of(plan);
        let union = Union::new(view, plan, prepared.places(), repeats.are_possible);
        let has_overlay = overlay.looked_at > 0;
        let is_sure = !repeats.are_possible
            && plan.walks.iter().all(|walk| walk.is_settled && walk.probes.is_empty());
        Tally {
            prepared,
            view,
            plan,
            is_plain: is_sure && !has_overlay && union.is_plain(),
            union,
            has_overlay,
            repeats,
            wanted,
            count: overlay.found.len() as u64,
            is_done: false,
            cells: Cells::default(),
            meter: Meter::new(),
        }
    }

    /// Of several plans that of the one which is first to know, and what all of them have read.
    pub(crate) fn best(mut tallies: Vec<Tally<'s>>) -> Option<(u64, Scanned, Way)> {
        let mut work = CONTEST_WORK;
        if let [only] = tallies.as_mut_slice() {
            only.advance();
            return Tally::decided(&tallies, 0, 1);
        }
        let mut begun = 0;
        while !tallies.is_empty() {
            for (at, tally) in tallies.iter_mut().enumerate() {
                begun = begun.max(at + 1);
                tally.meter.allow(work);
                tally.advance();
                if tally.is_done {
                    return Tally::decided(&tallies, at, begun);
                }
            }
            work = work.saturating_mul(2);
        }
        None
    }

    /// What the tally of the plan `best` has come to, and what it and the others that have begun have read.
    fn decided(tallies: &[Tally<'s>], best: usize, begun: usize) -> Option<(u64, Scanned, Way)> {
        let begun = || tallies.iter().take(begun).map(|tally| &tally.meter);
        let mut scanned = Scanned::default();
        begun().for_each(|meter| scanned += meter.scanned());
        let plans = Plans::raced(best, begun());
        let best = tallies.get(best)?;
        Some((best.count.min(best.wanted), scanned, Way::Plans(plans)))
    }

    fn advance(&mut self) {
        while self.count < self.wanted {
            if self.is_plain {
                match self.union.pass(self.wanted - self.count, &mut self.meter) {
                    Step::Item(passed) => self.count += passed,
                    Step::Pause => return,
                    Step::End => break,
                }
                continue;
            }
            match self.union.next(&mut self.meter) {
                Step::Item(item) => {
                    if self.matches(&item) {
                        self.count += 1;
                    }
                }
                Step::Pause => return,
                Step::End => break,
            }
        }
        self.is_done = true;
    }

    fn matches(&mut self, item: &Item) -> bool {
        if self.has_overlay && self.view.is_shadowed(&item.key) {
            return false;
        }
        if self.repeats.knows(item) {
            return false;
        }
        let is_settled = self.plan.walks.get(item.walk).is_some_and(|walk| walk.is_settled);
        let mut matches = has_probes(self.prepared, self.view, self.plan, item, &mut self.meter);
        if matches && !is_settled {
            let Some(record) = self.view.base_get(&item.key) else { return false };
            self.meter.documents += 1;
            self.meter.spend(read_work(record.value.len()));
            let mut document = self.prepared.document(&item.key, &record, &mut self.cells);
            matches = self.prepared.accepts(&mut document);
        }
        if matches {
            self.repeats.note(item);
        }
        matches
    }
}

/// Knows which documents several walks of a plan have met. Walked in order, those are next to each other as far as
/// the plan runs in the order of the result, so that few are remembered at a time.
struct Repeats {
    are_possible: bool,
    order: OrderKey,
    seen: HashSet<Bytes>,
}

impl Repeats {
    fn of(plan: &IndexPlan) -> Self {
        let are_possible = plan.walks.len() > 1 && !plan.is_disjoint;
        Repeats { are_possible, order: OrderKey::default(), seen: HashSet::new() }
    }

    /// Whether a document that was noted is met again.
    fn knows(&self, item: &Item) -> bool {
        self.are_possible && self.order == item.order && self.seen.contains(&item.key)
    }

    /// Notes a document that has the probed entries.
    fn note(&mut self, item: &Item) {
        if !self.are_possible {
            return;
        }
        if self.order != item.order {
            self.order.clone_from(&item.order);
            self.seen.clear();
        }
        self.seen.insert(item.key.clone());
    }
}

impl Prepared {
    /// The index plan that [`each_match`] goes through; `None` where it scans.
    pub(crate) fn visited_plan(&self, view: &dyn BaseView) -> Option<usize> {
        // Every document has to be read then, and those of a scan lie next to each other.
        let reads_all = self.query().filter.is_none() && !self.is_forced();
        if reads_all || !self.uses_indexes(view) {
            return None;
        }
        let plans = self.index_plans(view);
        plans.iter().position(IndexPlan::is_postings).or((!plans.is_empty()).then_some(0))
    }
}

/// Calls `visit` for every match, in no order, were there no offset and no limit: through an index where one serves. Answers
/// what that took.
pub(crate) fn each_match(
    prepared: &Prepared,
    snapshot: &Snapshot,
    visit: &mut dyn FnMut(&Bytes, &Record, &mut Document<'_>),
) -> Work {
    if let Some(plan) = prepared.visited_plan(snapshot) {
        return visit_indexed(prepared, snapshot, plan, visit);
    }
    let looked_at = prepared.matching(snapshot).for_each(|entry, document| {
        visit(entry.key(), entry.record(), document);
    });
    // Without a filter a fold would change nothing.
    let is_unfolded = prepared.query().filter.is_some() && prepared.is_unfolded(snapshot);
    let unfolded = if is_unfolded { looked_at } else { 0 };
    Work { unfolded, scanned: Scanned::by_name(looked_at), way: Way::Names }
}

/// The same through one index plan.
fn visit_indexed(
    prepared: &Prepared,
    view: &dyn BaseView,
    plan_at: usize,
    visit: &mut dyn FnMut(&Bytes, &Record, &mut Document<'_>),
) -> Work {
    let Some(plan) = prepared.index_plans(view).get(plan_at) else { return Work::default() };
    let overlay = Overlay::of(prepared, view);
    let mut cells = Cells::default();
    for found in overlay.found.iter() {
        let (key, record) = (found.key(), found.record());
        visit(key, record, &mut prepared.document(key, record, &mut cells));
    }
    let mut repeats = Repeats::of(plan);
    let mut union = Union::new(view, plan, prepared.places(), repeats.are_possible);
    let mut meter = Meter::new();
    while let Step::Item(item) = union.next(&mut meter) {
        let is_shadowed = overlay.looked_at > 0 && view.is_shadowed(&item.key);
        if is_shadowed || repeats.knows(&item) {
            continue;
        }
        // Without the entries it may be met in another walk too, and be known there by another place in the order.
        if plan.walks.len() > 1 && !has_probes(prepared, view, plan, &item, &mut meter) {
            continue;
        }
        repeats.note(&item);
        let Some(record) = view.base_get(&item.key) else { continue };
        meter.documents += 1;
        let mut document = prepared.document(&item.key, &record, &mut cells);
        if prepared.accepts(&mut document) {
            visit(&item.key, &record, &mut document);
        }
    }
    let mut scanned = Scanned::documents(overlay.documents);
    scanned += meter.scanned();
    Work { unfolded: overlay.looked_at, scanned, way: Way::Plans(Plans::only(plan_at)) }
}

#[cfg(test)]
mod tests;

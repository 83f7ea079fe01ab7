//! What needs no rows: counting matches by index entries, and visiting matches in any order.

use std::collections::HashSet;

use bytes::Bytes;
use engine_store::{Record, Snapshot};

use crate::document::{Cells, Document};
use crate::execute::Prepared;
use crate::index::spec::IndexPlan;
use crate::index::stream::{Item, Meter, Step};
use crate::index::union::Union;
use crate::run::{CONTEST_WORK, Overlay, has_probes, read_work};
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
    seen: HashSet<Bytes>,
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
        let union = Union::new(view, plan, prepared.places(), false);
        let has_overlay = overlay.looked_at > 0;
        let is_sure = match plan.walks.as_slice() {
            [only] => only.is_settled && only.probes.is_empty(),
            _ => false,
        };
        Tally {
            prepared,
            view,
            plan,
            is_plain: is_sure && !has_overlay && union.is_plain(),
            union,
            has_overlay,
            seen: HashSet::new(),
            wanted,
            count: overlay.found.len() as u64,
            is_done: false,
            cells: Cells::default(),
            meter: Meter::new(),
        }
    }

    /// Of several plans that of the one which is first to know.
    pub(crate) fn best(mut tallies: Vec<Tally<'s>>) -> Option<u64> {
        let mut work = CONTEST_WORK;
        if let [only] = tallies.as_mut_slice() {
            only.advance();
            return Some(only.count.min(only.wanted));
        }
        while !tallies.is_empty() {
            for tally in &mut tallies {
                tally.meter.allow(work);
                tally.advance();
                if tally.is_done {
                    return Some(tally.count.min(tally.wanted));
                }
            }
            work = work.saturating_mul(2);
        }
        None
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
        if self.plan.walks.len() > 1 && self.seen.contains(&item.key) {
            return false;
        }
        let is_settled = self.plan.walks.get(item.walk).is_some_and(|walk| walk.is_settled);
        let mut matches = has_probes(self.prepared, self.view, self.plan, item, &mut self.meter);
        if matches && !is_settled {
            let Some(record) = self.view.base_get(&item.key) else { return false };
            self.meter.spend(read_work(record.value.len()));
            let mut document = self.prepared.document(&item.key, &record, &mut self.cells);
            matches = self.prepared.accepts(&mut document);
        }
        if matches && self.plan.walks.len() > 1 {
            self.seen.insert(item.key.clone());
        }
        matches
    }
}

/// Calls `visit` for every match, in no order, were there no offset and no limit: through an index where one serves. Answers
/// how many documents were looked at that a fold would let an index find.
pub(crate) fn each_match(
    prepared: &Prepared,
    snapshot: &Snapshot,
    visit: &mut dyn FnMut(&Bytes, &Record, &mut Document<'_>),
) -> usize {
    // Every document has to be read then, and those of a scan lie next to each other.
    let reads_all = prepared.query().filter.is_none() && !prepared.is_forced();
    if reads_all || !prepared.uses_indexes(snapshot) {
        let looked_at = prepared.matching(snapshot).for_each(|entry, document| {
            visit(entry.key(), entry.record(), document);
        });
        let is_unfolded = !reads_all && prepared.is_unfolded(snapshot);
        return if is_unfolded { looked_at } else { 0 };
    }
    visit_indexed(prepared, snapshot, visit)
}

/// The same through postings where there are any.
fn visit_indexed(
    prepared: &Prepared,
    view: &dyn BaseView,
    visit: &mut dyn FnMut(&Bytes, &Record, &mut Document<'_>),
) -> usize {
    let plans = prepared.index_plans(view);
    let Some(plan) = plans.iter().find(|plan| plan.is_postings()).or(plans.first()) else {
        return 0;
    };
    let overlay = Overlay::of(prepared, view);
    let mut cells = Cells::default();
    for found in overlay.found.iter() {
        let (key, record) = (found.key(), found.record());
        visit(key, record, &mut prepared.document(key, record, &mut cells));
    }
    let mut seen = HashSet::new();
    let mut union = Union::new(view, plan, prepared.places(), false);
    let mut meter = Meter::new();
    while let Step::Item(item) = union.next(&mut meter) {
        let is_shadowed = overlay.looked_at > 0 && view.is_shadowed(&item.key);
        if is_shadowed || (plan.walks.len() > 1 && !seen.insert(item.key.clone())) {
            continue;
        }
        let Some(record) = view.base_get(&item.key) else { continue };
        let mut document = prepared.document(&item.key, &record, &mut cells);
        if prepared.accepts(&mut document) {
            visit(&item.key, &record, &mut document);
        }
    }
    overlay.looked_at
}

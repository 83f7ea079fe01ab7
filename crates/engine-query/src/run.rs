//! Running index plans: documents met in indexes are read, matched and merged with those that are newer than
//! the base.

use std::collections::{HashSet, VecDeque};

use base_value::index_key::{Encoded, push_value};
use bytes::Bytes;
use engine_store::{KeyRange, Record};

use crate::document::{Cells, Document};
use crate::execute::Prepared;
use crate::explain::{Plans, Scanned, Way};
use crate::index::spec::{IndexPlan, Walk};
use crate::index::stream::{Item, Meter, OrderKey, Step};
use crate::index::union::Union;
use crate::overlay::Overlay;
use crate::rows::Row;
use crate::top::{Found, Top};
use crate::view::BaseView;

/// The work of reading a document, and of every so many bytes of it.
const READ: u64 = 10;
const READ_BYTES: usize = 1_024;

/// The work of looking whether an entry is there.
const PROBE: u64 = 10;

/// From this size on, looking into an index costs less than reading a document.
const PROBE_FROM_BYTES: u64 = 4_096;

/// Work that contestants begin with; it doubles from round to round.
pub(crate) const CONTEST_WORK: u64 = 64;

/// Rows in order that show a plan to be worth staying with where all rows are wanted.
const CONTEST_ROWS: usize = 256;

/// One plan at work.
pub(crate) struct Run<'s> {
    prepared: &'s Prepared,
    view: &'s dyn BaseView,
    plan: &'s IndexPlan,
    union: Union<'s>,
    item: Option<Item>,
    is_base_done: bool,
    overlay: Overlay,
    overlay_at: usize,
    overlay_order: Option<OrderKey>,
    group: Option<Group<'s>>,
    /// The document that was decided last.
    decided: Option<Bytes>,
    /// Rows in order that nobody has taken yet.
    pub(crate) ready: VecDeque<Row>,
    /// How many more matches there may be, those that the offset passes over included.
    wanted: Option<usize>,
    offset: usize,
    pub(crate) skipped: usize,
    pub(crate) is_done: bool,
    cells: Cells,
    pub(crate) meter: Meter,
    bytes_read: u64,
    /// The plans that were at work before this one was chosen, and what those have read that were not.
    raced: Plans,
    lost: Scanned,
}

/// Documents of which the plan does not know which one is first.
struct Group<'s> {
    order: OrderKey,
    top: Top<'s>,
    /// Those that are decided, where several walks may meet them.
    decided: HashSet<Bytes>,
}

impl<'s> Run<'s> {
    pub(crate) fn new(
        prepared: &'s Prepared,
        view: &'s dyn BaseView,
        plan: &'s IndexPlan,
        overlay: Overlay,
    ) -> Self {
        let query = prepared.query();
        let offset = query.offset as usize;
        Run {
            prepared,
            view,
            plan,
            union: Union::new(view, plan, prepared.places(), true),
            item: None,
            is_base_done: false,
            overlay,
            overlay_at: 0,
            overlay_order: None,
            group: None,
            decided: None,
            ready: VecDeque::new(),
            wanted: query.limit.map(|limit| offset.saturating_add(limit as usize)),
            offset,
            skipped: 0,
            is_done: false,
            cells: Cells::default(),
            meter: Meter::new(),
            bytes_read: 0,
            raced: Plans::only(0),
            lost: Scanned::default(),
        }
    }

    /// Of several plans the one that is first to find all there is to find, or enough to stay with it. Costs
    /// at most twice as much for each as the best one alone.
    pub(crate) fn best(mut runs: Vec<Run<'s>>) -> Option<Run<'s>> {
        let mut work = CONTEST_WORK;
        let mut begun = 0;
        while runs.len() > 1 {
            for at in 0..runs.len() {
                begun = begun.max(at + 1);
                let Some(run) = runs.get_mut(at) else { continue };
                run.meter.allow(work);
                run.advance(false);
                if run.is_done || (run.wanted.is_none() && run.ready.len() >= CONTEST_ROWS) {
                    run.meter.allow(u64::MAX);
                    let raced = Plans::raced(at, runs.iter().take(begun).map(|run| &run.meter));
                    let mut best = runs.swap_remove(at);
                    best.raced = raced;
                    runs.iter().for_each(|lost| best.lost += lost.meter.scanned());
                    return Some(best);
                }
            }
            work = work.saturating_mul(2);
        }
        runs.pop()
    }

    /// How many records newer than the base were looked at.
    pub(crate) fn unfolded(&self) -> usize {
        self.overlay.looked_at
    }

    /// What was read so far.
    pub(crate) fn scanned(&self) -> Scanned {
        let mut scanned = Scanned::documents(self.overlay.documents);
        scanned += self.lost;
        scanned += self.meter.scanned();
        scanned
    }

    /// Which way documents are got at.
    pub(crate) fn way(&self) -> Way {
        Way::Plans(self.raced.with(self.raced.first, &self.meter))
    }

    /// Goes on until all is found or the meter is spent, or, where one row is enough, until one is ready.
    pub(crate) fn advance(&mut self, for_one_row: bool) {
        while !self.is_done && (!for_one_row || self.ready.is_empty()) {
            if self.wanted == Some(0) {
                self.is_done = true;
                return;
            }
            if self.item.is_none() && !self.is_base_done {
                match self.union.next(&mut self.meter) {
                    Step::Item(item) => self.item = Some(item),
                    Step::Pause => return,
                    Step::End => self.is_base_done = true,
                }
            }
            self.fill_overlay_order();
            let takes_overlay = match (&self.item, &self.overlay_order) {
                (Some(item), Some(newer)) => *newer < item.order,
                (item, _) => item.is_none(),
            };
            let next = if takes_overlay {
                self.overlay_order.as_ref()
            } else {
                self.item.as_ref().map(|item| &item.order)
            };
            if let Some(group) = &self.group
                && next != Some(&group.order)
            {
                self.close_group();
                continue;
            }
            if next.is_none() {
                self.is_done = true;
            } else if takes_overlay {
                self.take_overlay();
            } else if let Some(item) = self.item.take() {
                self.take_item(item);
            }
        }
    }

    fn fill_overlay_order(&mut self) {
        if self.overlay_order.is_none()
            && let Some(found) = self.overlay.found.get(self.overlay_at)
        {
            self.overlay_order = Some(order_of(self.plan, found));
        }
    }

    /// Whether the order says where the document is, whatever others there are.
    fn is_exact(&self, order: &OrderKey) -> bool {
        self.plan.is_complete && !order.is_cut()
    }

    fn take_overlay(&mut self) {
        let found = self.overlay.found.get(self.overlay_at).cloned();
        self.overlay_at += 1;
        if let Some((found, order)) = found.zip(self.overlay_order.take()) {
            if self.is_exact(&order) {
                self.emit(found);
            } else {
                self.group(order).top.push(found);
            }
        }
    }

    fn take_item(&mut self, item: Item) {
        let is_exact = self.is_exact(&item.order);
        if !is_exact {
            self.group(item.order.clone());
        }
        if self.is_decided(&item.key, is_exact) {
            return;
        }
        if is_exact && self.is_sure(&item) {
            self.decide(&item.key, is_exact);
            if self.offset > 0 {
                if !self.is_shadowed(&item) {
                    self.pass();
                }
                return;
            }
            if self.prepared.is_keys_only() {
                self.emit_key(item);
                return;
            }
        }
        let Some(record) = self.read(&item) else { return };
        let prepared = self.prepared;
        let mut cells = std::mem::take(&mut self.cells);
        let mut document = prepared.document(&item.key, &record, &mut cells);
        self.take_document(&item, is_exact, &record, &mut document);
        self.cells = cells;
    }

    /// Takes a document that was read where a walk has met it.
    fn take_document(
        &mut self,
        item: &Item,
        is_exact: bool,
        record: &Record,
        document: &mut Document<'_>,
    ) {
        if !self.prepared.accepts(document) {
            self.decide(&item.key, is_exact);
            return;
        }
        let sort = self.prepared.sort();
        if self.plan.walks.get(item.walk).is_some_and(Walk::claims_order) {
            // A document that matches another conjunction, but not this walk's, is met at its place by the
            // other's walk.
            let found = Found::new(sort, &item.key, record, document);
            if order_of(self.plan, &found) != item.order {
                return;
            }
        }
        self.decide(&item.key, is_exact);
        if is_exact {
            let found = Found::new(sort, &item.key, record, document);
            self.emit(found);
        } else if let Some(group) = &mut self.group {
            group.top.offer(&item.key, record, document);
        }
    }

    /// Reads a document that the overlay does not shadow and that no index says cannot match.
    fn read(&mut self, item: &Item) -> Option<Record> {
        if self.is_shadowed(item) {
            return None;
        }
        let documents = self.meter.documents;
        let is_large = documents > 0 && self.bytes_read / documents >= PROBE_FROM_BYTES;
        if is_large && !has_probes(self.prepared, self.view, self.plan, item, &mut self.meter) {
            return None;
        }
        let record = self.view.base_get(&item.key)?;
        let length = record.value.len();
        self.meter.documents += 1;
        self.meter.spend(read_work(length));
        self.bytes_read += length as u64;
        Some(record)
    }

    /// Whether the overlay says what there is of the document.
    fn is_shadowed(&self, item: &Item) -> bool {
        self.overlay.looked_at > 0 && self.view.is_shadowed(&item.key)
    }

    /// Whether the document matches, by its entries alone.
    fn is_sure(&self, item: &Item) -> bool {
        let walk = self.plan.walks.get(item.walk);
        walk.is_some_and(|walk| walk.is_settled && walk.probes.is_empty())
    }

    /// Takes one match in; answers whether it is a row of the result.
    fn pass(&mut self) -> bool {
        if let Some(wanted) = &mut self.wanted {
            match wanted.checked_sub(1) {
                Some(fewer) => *wanted = fewer,
                None => return false,
            }
        }
        if self.offset == 0 {
            return true;
        }
        self.offset -= 1;
        self.skipped += 1;
        false
    }

    /// Whether another walk has met the document, and it was found out then whether it is a match. What one
    /// walk alone has against a document decides nothing: another one may meet it with better reason.
    fn is_decided(&self, key: &Bytes, is_exact: bool) -> bool {
        if self.plan.walks.len() < 2 {
            return false;
        }
        match &self.group {
            Some(group) if !is_exact => group.decided.contains(key),
            // Walks meet a document at the same place of the order, so that repeated ones follow each other.
            _ => self.decided.as_ref() == Some(key),
        }
    }

    fn decide(&mut self, key: &Bytes, is_exact: bool) {
        if self.plan.walks.len() < 2 {
            return;
        }
        match &mut self.group {
            Some(group) if !is_exact => drop(group.decided.insert(key.clone())),
            _ => self.decided = Some(key.clone()),
        }
    }

    fn group(&mut self, order: OrderKey) -> &mut Group<'s> {
        let (prepared, wanted) = (self.prepared, self.wanted);
        self.group.get_or_insert_with(|| Group {
            order,
            top: Top::new(prepared.sort(), wanted),
            decided: HashSet::new(),
        })
    }

    fn close_group(&mut self) {
        if let Some(group) = self.group.take() {
            for found in group.top.into_sorted() {
                self.emit(found);
            }
        }
    }

    fn emit(&mut self, found: Found) {
        if self.pass() {
            self.ready.extend(found.into_row().map(|row| self.prepared.stripped(row)));
        }
    }

    /// Takes a match in of which nobody has asked for fields.
    fn emit_key(&mut self, item: Item) {
        if self.is_shadowed(&item) {
            return;
        }
        self.meter.spend(PROBE);
        if let Some(head) = self.view.base_head(&item.key)
            && self.pass()
        {
            self.ready.extend(Row::bare(item.key, head));
        }
    }
}

/// What the order of a plan says of a document.
fn order_of(plan: &IndexPlan, found: &Found) -> OrderKey {
    let (values, name) = found.rank();
    let mut order = OrderKey::default();
    let mut encoded = Vec::new();
    for (value, direction) in values.iter().zip(&plan.directions.fields) {
        encoded.clear();
        let whole: Encoded = push_value(&mut encoded, value);
        order.push(&encoded, whole, *direction);
    }
    if let Some(direction) = plan.directions.name {
        order.push_name(name, direction);
    }
    order
}

/// Whether a document has the entries that a match has beside the one that was met.
pub(crate) fn has_probes(
    prepared: &Prepared,
    view: &dyn BaseView,
    plan: &IndexPlan,
    item: &Item,
    meter: &mut Meter,
) -> bool {
    let Some((walk, place)) = plan.walks.get(item.walk).zip(prepared.places().get(item.place))
    else {
        return true;
    };
    let name = item.key.get(place.key.len()..).unwrap_or_default();
    walk.probes.iter().all(|probe| {
        meter.spend(PROBE);
        meter.probes += 1;
        let entry = Bytes::from([place.scope.as_slice(), probe, name].concat());
        let end = Bytes::from([&entry[..], &[0]].concat());
        let range = KeyRange::new(entry, end);
        let is_there = view.derived(&range, crate::model::Direction::Ascending).next().is_some();
        meter.entries += u64::from(is_there);
        is_there
    })
}

/// The work of reading a document of that length.
pub(crate) fn read_work(length: usize) -> u64 {
    READ + (length / READ_BYTES) as u64
}

#[cfg(test)]
mod tests;

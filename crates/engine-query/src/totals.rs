//! Sums and averages: over the entries of an index where they hold the numbers, else over documents.

use base_value::codec::Scalar;
use base_value::{FieldPath, Value};
use engine_store::Snapshot;

use crate::aggregate::AggregateOp;
use crate::document::{Cells, Document, Slot, View};
use crate::execute::Prepared;
use crate::explain::{Plans, Scanned, Way, Work};
use crate::index::numbers::{Found, NumberWalk};
use crate::model::Query;
use crate::overlay::Overlay;
use crate::tally::each_match;
use crate::view::BaseView;

/// What was met so far of all aggregations of a query.
#[derive(Default)]
pub(crate) struct Totals {
    count: u64,
    /// How many matches the offset has passed over.
    skipped: u64,
    /// One for each summed or averaged field.
    fields: Vec<Total>,
}

struct Total {
    field: FieldPath,
    slot: Option<Slot>,
    numbers: Numbers,
}

impl Totals {
    /// A count alone.
    pub(crate) fn counted(count: u64, skipped: u64) -> Self {
        Totals { count, skipped, fields: Vec::new() }
    }

    /// Those of the fields over the result of a query that is ordered by them, too. Also answers what that took.
    pub(crate) fn of(
        prepared: &Prepared,
        fields: &[FieldPath],
        snapshot: &Snapshot,
    ) -> (Self, Work) {
        let total = |field: &FieldPath| Total {
            field: field.clone(),
            slot: prepared.slot(field),
            numbers: Numbers::default(),
        };
        let fields_totals = fields.iter().map(total).collect();
        let mut totals = Totals { fields: fields_totals, ..Totals::default() };
        if needs_rows(prepared.query()) {
            let mut cells = Cells::default();
            let mut rows = prepared.run(snapshot);
            for row in rows.by_ref() {
                totals.add(&mut prepared.document(&row.key, &row.record, &mut cells));
            }
            totals.skipped = rows.skipped() as u64;
            return (totals, rows.work());
        }
        let walk = NumberWalk::of(prepared.index_plans(snapshot), fields);
        if let Some(walk) = &walk
            && prepared.uses_indexes(snapshot)
        {
            let work = totals.add_indexed(prepared, snapshot, walk);
            return (totals, work);
        }
        let mut work = each_match(prepared, snapshot, &mut |_, _, document| totals.add(document));
        if walk.is_some() && prepared.is_unfolded(snapshot) {
            // A base would have the numbers without the documents.
            let met = usize::try_from(totals.count).unwrap_or(usize::MAX);
            work.unfolded = work.unfolded.max(met);
        }
        (totals, work)
    }

    /// Which way [`Totals::of`] goes.
    pub(crate) fn way(prepared: &Prepared, fields: &[FieldPath], view: &dyn BaseView) -> Way {
        if needs_rows(prepared.query()) {
            return prepared.way(view);
        }
        match NumberWalk::of(prepared.index_plans(view), fields) {
            Some(walk) if prepared.uses_indexes(view) => Way::Plans(Plans::only(walk.plan)),
            Some(_) | None => prepared.visited_way(view),
        }
    }

    /// How many documents have matched, those included that the offset has passed over.
    pub(crate) fn matched(&self) -> u64 {
        self.count.saturating_add(self.skipped)
    }

    /// What an aggregation came to.
    pub(crate) fn value(&self, op: &AggregateOp) -> Value {
        match op {
            AggregateOp::Count { up_to } => {
                let count = i64::try_from(self.count).unwrap_or(i64::MAX);
                Value::Integer(up_to.map_or(count, |up_to| up_to.min(count)))
            }
            AggregateOp::Sum(field) => self.numbers(field).map_or(Value::Integer(0), Numbers::sum),
            AggregateOp::Avg(field) => self.numbers(field).map_or(Value::Null, Numbers::average),
        }
    }

    fn numbers(&self, field: &FieldPath) -> Option<&Numbers> {
        self.fields.iter().find(|total| total.field == *field).map(|total| &total.numbers)
    }

    fn add(&mut self, document: &mut Document<'_>) {
        self.count += 1;
        for total in &mut self.fields {
            if let Some(View::Scalar(scalar)) = total.slot.and_then(|slot| document.get(slot)) {
                total.numbers.add(scalar);
            }
        }
    }

    /// Reads only documents that are newer than the base; answers what that took.
    fn add_indexed(
        &mut self,
        prepared: &Prepared,
        view: &dyn BaseView,
        walk: &NumberWalk<'_>,
    ) -> Work {
        let overlay = Overlay::of(prepared, view);
        let mut cells = Cells::default();
        for found in overlay.found.iter() {
            self.add(&mut prepared.document(found.key(), found.record(), &mut cells));
        }
        let entries = walk.each(prepared, view, &overlay, &mut |found: &Found| {
            self.count += 1;
            for (total, scalar) in self.fields.iter_mut().zip(found) {
                scalar.iter().for_each(|scalar| total.numbers.add(*scalar));
            }
        });
        let mut scanned = Scanned::documents(overlay.documents);
        scanned.index_entries = entries;
        Work { unfolded: overlay.looked_at, scanned, way: Way::Plans(Plans::only(walk.plan)) }
    }
}

/// Whether rows have to be told apart: the sum is not one over all matches.
fn needs_rows(query: &Query) -> bool {
    query.limit.is_some() || query.offset > 0 || query.nearest.is_some()
}

/// Numbers that are added up: exactly as long as they are integers, whatever the sum passes through.
#[derive(Debug, Default)]
pub struct Numbers {
    integers: i128,
    doubles: Option<f64>,
    count: u64,
}

impl Numbers {
    /// Takes a value in, if it is a number.
    pub fn add(&mut self, scalar: Scalar<'_>) {
        match scalar {
            // Not even 2^64 integers reach the ends of i128.
            Scalar::Integer(integer) => self.integers = self.integers.wrapping_add(integer.into()),
            Scalar::Double(double) => *self.doubles.get_or_insert(0.0) += double,
            _ => return,
        }
        self.count += 1;
    }

    fn as_double(&self) -> f64 {
        self.integers as f64 + self.doubles.unwrap_or(0.0)
    }

    /// Whether there was no number.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Their sum: an integer where all were integers and it is one, else a double.
    pub fn sum(&self) -> Value {
        match i64::try_from(self.integers) {
            Ok(integer) if self.doubles.is_none() => Value::Integer(integer),
            Ok(_) | Err(_) => Value::Double(self.as_double()),
        }
    }

    /// Their mean; null of nothing.
    pub fn average(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        Value::Double(self.as_double() / self.count as f64)
    }
}

#[cfg(test)]
mod tests;

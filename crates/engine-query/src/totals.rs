//! Sums and averages: over the entries of an index where they hold the numbers, else over documents.

use base_value::codec::Scalar;
use base_value::{FieldPath, Value};
use engine_store::Snapshot;

use crate::aggregate::AggregateOp;
use crate::document::{Cells, Document, Slot, View};
use crate::execute::Prepared;
use crate::index::numbers::{Found, NumberWalk};
use crate::run::Overlay;
use crate::tally::each_match;
use crate::view::BaseView;

/// What was met so far of all aggregations of a query.
#[derive(Default)]
pub(crate) struct Totals {
    count: u64,
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
    pub(crate) fn counted(count: u64) -> Self {
        Totals { count, fields: Vec::new() }
    }

    /// Those of the fields over the result of a query that is ordered by them, too. Also answers how much a fold would
    /// let an index find.
    pub(crate) fn of(
        prepared: &Prepared,
        fields: &[FieldPath],
        snapshot: &Snapshot,
    ) -> (Self, usize) {
        let total = |field: &FieldPath| Total {
            field: field.clone(),
            slot: prepared.slot(field),
            numbers: Numbers::default(),
        };
        let mut totals = Totals { count: 0, fields: fields.iter().map(total).collect() };
        let query = prepared.query();
        if query.limit.is_some() || query.offset > 0 || query.nearest.is_some() {
            let mut cells = Cells::default();
            let mut rows = prepared.run(snapshot);
            for row in rows.by_ref() {
                totals.add(&mut prepared.document(&row.key, &row.record, &mut cells));
            }
            return (totals, rows.unfolded());
        }
        let walk = NumberWalk::of(prepared.index_plans(snapshot), fields);
        if let Some(walk) = &walk
            && prepared.uses_indexes(snapshot)
        {
            let looked_at = totals.add_indexed(prepared, snapshot, walk);
            return (totals, looked_at);
        }
        let unfolded = each_match(prepared, snapshot, &mut |_, _, document| totals.add(document));
        if walk.is_some() && prepared.is_unfolded(snapshot) {
            // A base would have the numbers without the documents.
            let met = usize::try_from(totals.count).unwrap_or(usize::MAX);
            return (totals, unfolded.max(met));
        }
        (totals, unfolded)
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

    /// Reads only documents that are newer than the base; answers how many those are.
    fn add_indexed(
        &mut self,
        prepared: &Prepared,
        view: &dyn BaseView,
        walk: &NumberWalk<'_>,
    ) -> usize {
        let overlay = Overlay::of(prepared, view);
        let mut cells = Cells::default();
        for found in overlay.found.iter() {
            self.add(&mut prepared.document(found.key(), found.record(), &mut cells));
        }
        walk.each(prepared, view, &overlay, &mut |found: &Found| {
            self.count += 1;
            for (total, scalar) in self.fields.iter_mut().zip(found) {
                scalar.iter().for_each(|scalar| total.numbers.add(*scalar));
            }
        });
        overlay.looked_at
    }
}

/// A sum that is exact as long as it is of integers, whatever it passes through.
#[derive(Default)]
struct Numbers {
    integers: i128,
    doubles: Option<f64>,
    count: u64,
}

impl Numbers {
    fn add(&mut self, scalar: Scalar<'_>) {
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

    fn sum(&self) -> Value {
        match i64::try_from(self.integers) {
            Ok(integer) if self.doubles.is_none() => Value::Integer(integer),
            Ok(_) | Err(_) => Value::Double(self.as_double()),
        }
    }

    fn average(&self) -> Value {
        if self.count == 0 {
            return Value::Null;
        }
        Value::Double(self.as_double() / self.count as f64)
    }
}

#[cfg(test)]
mod tests;

//! Nearest neighbours, by comparing with every row.

use std::cmp::Ordering;

use base_value::Value;

use super::apply::set;
use super::{Nearest, Rows};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Scope, distance};
use crate::row::Row;

/// The rows that have a vector of the same dimension, near before far. Rows that are equally near stay in
/// their order.
pub(super) fn search(
    rows: Rows<'_>,
    search: &Nearest,
    engine: &Engine<'_>,
) -> Result<Vec<Row>, PipelineError> {
    let mut found: Vec<(f64, usize, Row)> = Vec::new();
    let most = search.limit.map(|limit| limit.saturating_mul(2).max(64));
    for (place, row) in rows.enumerate() {
        let row = row?;
        engine.work_on(size_of_val(search.target.as_slice()))?;
        let near = match search.vector.evaluate(&Scope::new(engine, &row))?.as_deref() {
            Some(Value::Vector(vector)) => distance(vector, &search.target, search.measure),
            _ => None,
        };
        let Some(near) = near else { continue };
        found.push((near, place, row));
        if most.is_some_and(|most| found.len() > most) {
            truncate(&mut found, search);
        }
    }
    truncate(&mut found, search);
    let rows = found.into_iter().map(|(near, _, mut row)| {
        if let Some(target) = &search.distance {
            let mut fields = row.take();
            set(&mut row, &mut fields, target, Some(Value::Double(near)));
            row.put(fields)?;
        }
        Ok(row)
    });
    rows.collect()
}

fn truncate(found: &mut Vec<(f64, usize, Row)>, search: &Nearest) {
    found.sort_unstable_by(|left, right| compare(left, right, search));
    found.truncate(search.limit.unwrap_or(usize::MAX));
}

fn compare(left: &(f64, usize, Row), right: &(f64, usize, Row), search: &Nearest) -> Ordering {
    search.measure.compare(left.0, right.0).then(left.1.cmp(&right.1))
}

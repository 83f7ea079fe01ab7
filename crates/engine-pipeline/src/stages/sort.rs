//! The order of rows.

use std::borrow::Cow;
use std::cmp::Ordering;

use base_value::Value;
use base_value::order;

use super::{Key, Rows, Stage};
use crate::budget::weight;
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::Scope;
use crate::row::Row;

/// A row with the values it is ordered by.
struct Sorted {
    values: Vec<Value>,
    /// Rows that are equal stay in their order.
    place: usize,
    bytes: usize,
    row: Row,
}

/// How many of the first rows the stages behind need.
pub(super) fn kept(behind: &[Stage]) -> Option<usize> {
    let (offset, rest) = match behind {
        [Stage::Offset(offset), rest @ ..] => (*offset, rest),
        rest => (0, rest),
    };
    match rest {
        [Stage::Limit(limit), ..] => usize::try_from(offset.saturating_add(*limit)).ok(),
        _ => None,
    }
}

/// The rows in order, or the first so many of them. What is absent is ordered as null is.
pub(super) fn sort(
    rows: Rows<'_>,
    keys: &[Key],
    kept: Option<usize>,
    engine: &Engine<'_>,
) -> Result<Vec<Row>, PipelineError> {
    let mut sorted: Vec<Sorted> = Vec::new();
    // Rows beyond twice as many as are kept are dropped, which costs a comparison or two for each.
    let most = kept.map(|kept| kept.saturating_mul(2).max(64));
    for (place, row) in rows.enumerate() {
        let row = row?;
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let value = key.expression.evaluate(&Scope::new(engine, &row))?;
            values.push(value.map_or(Value::Null, Cow::into_owned));
        }
        let bytes = row.weight() + values.iter().map(weight).sum::<usize>();
        engine.budget.charge(bytes)?;
        sorted.push(Sorted { values, place, bytes, row });
        if let (Some(most), Some(kept)) = (most, kept)
            && sorted.len() > most
        {
            truncate(&mut sorted, keys, kept, engine);
        }
    }
    truncate(&mut sorted, keys, kept.unwrap_or(usize::MAX), engine);
    Ok(sorted.into_iter().map(|sorted| sorted.row).collect())
}

fn truncate(sorted: &mut Vec<Sorted>, keys: &[Key], kept: usize, engine: &Engine<'_>) {
    sorted.sort_unstable_by(|left, right| compare(left, right, keys));
    let dropped: usize = sorted.iter().skip(kept).map(|row| row.bytes).sum();
    engine.budget.release(dropped);
    sorted.truncate(kept);
}

fn compare(left: &Sorted, right: &Sorted, keys: &[Key]) -> Ordering {
    let by_keys = left.values.iter().zip(&right.values).zip(keys).map(|((left, right), key)| {
        let order = order::compare(left, right);
        if key.descending { order.reverse() } else { order }
    });
    let mut unequal = by_keys.filter(|order| order.is_ne());
    unequal.next().unwrap_or_else(|| left.place.cmp(&right.place))
}

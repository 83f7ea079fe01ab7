//! The order of rows.

use std::cmp::Ordering;

use base_value::Value;
use base_value::order;

use super::{Key, Rows, Stage};
use crate::budget::{Budget, Held};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::Scope;
use crate::row::Row;

/// A row with the values it is ordered by.
struct Sorted<'b> {
    values: Vec<Value>,
    /// Rows that are equal stay in their order.
    place: usize,
    row: Row,
    /// What the values take.
    _held: Held<&'b Budget>,
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
    let mut sorted: Vec<Sorted<'_>> = Vec::new();
    // Rows beyond twice as many as are kept are dropped, which costs a comparison or two for each.
    let most = kept.map(|kept| kept.saturating_mul(2).max(64));
    for (place, row) in rows.enumerate() {
        let row = row?;
        engine.tick()?;
        let mut held = Held::new(&*engine.budget);
        held.add(size_of::<Sorted<'_>>())?;
        let mut values = Vec::with_capacity(keys.len());
        for key in keys {
            let value = key.expression.evaluate(&Scope::new(engine, &row))?;
            values.push(held.own(value)?.unwrap_or(Value::Null));
        }
        sorted.push(Sorted { values, place, row, _held: held });
        if let (Some(most), Some(kept)) = (most, kept)
            && sorted.len() > most
        {
            truncate(&mut sorted, keys, kept);
        }
    }
    truncate(&mut sorted, keys, kept.unwrap_or(usize::MAX));
    Ok(sorted.into_iter().map(|sorted| sorted.row).collect())
}

fn truncate(sorted: &mut Vec<Sorted<'_>>, keys: &[Key], kept: usize) {
    sorted.sort_unstable_by(|left, right| compare(left, right, keys));
    sorted.truncate(kept);
}

fn compare(left: &Sorted<'_>, right: &Sorted<'_>, keys: &[Key]) -> Ordering {
    let by_keys = left.values.iter().zip(&right.values).zip(keys).map(|((left, right), key)| {
        let order = order::compare(left, right);
        if key.descending { order.reverse() } else { order }
    });
    let mut unequal = by_keys.filter(|order| order.is_ne());
    unequal.next().unwrap_or_else(|| left.place.cmp(&right.place))
}

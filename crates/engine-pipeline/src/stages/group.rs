//! Groups of rows, and what is computed of each.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::order;
use base_value::{Fields, Value};

use super::accumulate::{Accumulator, State};
use super::apply::set;
use super::{Rows, Targets};
use crate::budget::weight;
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Reference, Scope};
use crate::row::{Row, Variables};

/// The values that rows of a group have in common: `1` and `1.0` are the same group.
struct Group(Vec<Value>);

impl Ord for Group {
    fn cmp(&self, other: &Self) -> Ordering {
        let orders = self.0.iter().zip(&other.0).map(|(left, right)| order::compare(left, right));
        orders.into_iter().find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

impl PartialOrd for Group {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Group {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Group {}

/// One row a group, in the order of the groups' values. Without groups all rows are one group, also where
/// there is no row. What is absent is null here.
pub(super) fn group(
    rows: Rows<'_>,
    groups: &Targets,
    accumulators: &[(Reference, Accumulator)],
    engine: &Engine<'_>,
) -> Result<Vec<Row>, PipelineError> {
    let mut found: BTreeMap<Group, Vec<State>> = BTreeMap::new();
    let fresh = || accumulators.iter().map(|(_, it)| it.start()).collect::<Vec<State>>();
    if groups.is_empty() {
        found.insert(Group(Vec::new()), fresh());
    }
    let mut variables: Arc<Variables> = Arc::default();
    for row in rows {
        let row = row?;
        let scope = Scope::new(engine, &row);
        let mut values = Vec::with_capacity(groups.len());
        for (_, expression) in groups {
            values.push(expression.evaluate(&scope)?.map_or(Value::Null, Cow::into_owned));
        }
        let bytes: usize = values.iter().map(weight).sum();
        let states = match found.entry(Group(values)) {
            std::collections::btree_map::Entry::Occupied(entry) => entry.into_mut(),
            std::collections::btree_map::Entry::Vacant(entry) => {
                engine.budget.charge(bytes + accumulators.len() * size_of::<State>())?;
                entry.insert(fresh())
            }
        };
        for ((_, accumulator), state) in accumulators.iter().zip(states) {
            accumulator.take(state, &scope)?;
        }
        variables = Arc::clone(&row.variables);
    }
    let rows = found.into_iter().map(|(Group(values), states)| {
        let mut row = Row::of(Fields::new(), Arc::clone(&variables));
        let mut fields = Fields::new();
        for ((target, _), value) in groups.iter().zip(values) {
            set(&mut row, &mut fields, target, Some(value));
        }
        for ((target, _), state) in accumulators.iter().zip(states) {
            set(&mut row, &mut fields, target, Some(state.finish()));
        }
        row.put(fields);
        row
    });
    Ok(rows.collect())
}

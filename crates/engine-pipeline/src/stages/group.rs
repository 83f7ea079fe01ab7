//! Groups of rows, and what is computed of each.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;

use base_value::{Fields, Value};

use super::accumulate::{Accumulator, State};
use super::apply::set;
use super::{Rows, Targets};
use crate::budget::Held;
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Ordered, Reference, Scope};
use crate::row::{Row, Variables};

/// The values that rows of a group have in common: `1` and `1.0` are the same group.
type Group = Vec<Ordered<Value>>;

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
        found.insert(Group::new(), fresh());
    }
    // What the groups and their states take.
    let mut held = Held::new(&*engine.budget);
    let mut variables: Arc<Variables> = Arc::default();
    for row in rows {
        let row = row?;
        engine.work(1 + accumulators.len())?;
        let scope = Scope::new(engine, &row);
        let mut own = Held::new(&*engine.budget);
        let mut values = Vec::with_capacity(groups.len());
        for (_, expression) in groups {
            let value = own.own(expression.evaluate(&scope)?)?;
            values.push(Ordered(value.unwrap_or(Value::Null)));
        }
        let states = match found.entry(values) {
            Entry::Occupied(entry) => entry.into_mut(),
            Entry::Vacant(entry) => {
                own.add(
                    size_of::<(Group, Vec<State>)>() + accumulators.len() * size_of::<State>(),
                )?;
                held.absorb(own);
                entry.insert(fresh())
            }
        };
        for ((_, accumulator), state) in accumulators.iter().zip(states) {
            accumulator.take(state, &scope, &mut held)?;
        }
        variables = Arc::clone(&row.variables);
    }
    // From here on the rows hold what the groups have held.
    drop(held);
    let rows = found.into_iter().map(|(values, states)| {
        engine.work(1 + states.len())?;
        let mut row = Row::new(engine, Arc::clone(&variables));
        let mut fields = Fields::new();
        for ((target, _), Ordered(value)) in groups.iter().zip(values) {
            set(&mut row, &mut fields, target, Some(value));
        }
        for ((target, _), state) in accumulators.iter().zip(states) {
            set(&mut row, &mut fields, target, Some(state.finish()));
        }
        row.put(fields)?;
        Ok(row)
    });
    rows.collect()
}

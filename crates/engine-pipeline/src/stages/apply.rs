//! Runs stages.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::{Fields, Value};

use super::unnest::Unnest;
use super::{Replace, Rows, Sample, Stage, Targets, group, nearest, sort};
use crate::budget::Held;
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Expression, Reference, Scope, type_of};
use crate::row::{Row, Variables};

impl Stage {
    /// The rows behind this stage. `behind` are the stages after it. Whatever looks at a row counts it as work.
    pub(crate) fn apply<'r>(
        &'r self,
        rows: Rows<'r>,
        behind: &'r [Stage],
        engine: &'r Engine<'r>,
    ) -> Rows<'r> {
        match self {
            Stage::Where(condition) => Box::new(rows.filter_map(move |row| {
                let kept = row.and_then(|row| {
                    engine.tick()?;
                    Ok(keeps(condition, engine, &row)?.then_some(row))
                });
                kept.transpose()
            })),
            Stage::Select(named) => each(rows, engine, move |row| select(named, engine, &row)),
            Stage::AddFields(fields) => each(rows, engine, move |row| add(fields, engine, row)),
            Stage::RemoveFields(fields) => {
                each(rows, engine, move |row| remove(fields, engine, row))
            }
            Stage::Let(named) => each(rows, engine, move |row| bind(named, engine, row)),
            Stage::Sort(keys) => {
                let kept = sort::kept(behind);
                after(rows, move |rows| sort::sort(rows, keys, kept, engine))
            }
            Stage::Limit(count) => {
                Box::new(rows.take(usize::try_from(*count).unwrap_or(usize::MAX)))
            }
            Stage::Offset(count) => skip(rows, *count, engine),
            Stage::Distinct(groups) => {
                after(rows, move |rows| group::group(rows, groups, &[], engine))
            }
            Stage::Aggregate { accumulators, groups } => {
                after(rows, move |rows| group::group(rows, groups, accumulators, engine))
            }
            Stage::FindNearest(search) => {
                after(rows, move |rows| nearest::search(rows, search, engine))
            }
            Stage::ReplaceWith { map, mode } => {
                each(rows, engine, move |row| replace(map, *mode, engine, row))
            }
            Stage::Sample(sample) => match *sample {
                Sample::Documents(count) => after(rows, move |rows| draw(rows, count, engine)),
                Sample::Part(part) => Box::new(rows.filter_map(move |row| {
                    let drawn = row.and_then(|row| {
                        engine.tick()?;
                        Ok((engine.random_unit() < part).then_some(row))
                    });
                    drawn.transpose()
                })),
            },
            Stage::Unnest { array, alias, index } => {
                Box::new(rows.flat_map(move |row| -> Rows<'r> {
                    let rows =
                        row.and_then(|row| Unnest::rows(array, alias, index.as_ref(), engine, row));
                    rows.unwrap_or_else(|error| Box::new(std::iter::once(Err(error))))
                }))
            }
            // Where the rows of another pipeline come in, that one is opened: see `Pipeline::stream`.
            Stage::Union(_) => rows,
        }
    }
}

fn each<'r>(
    rows: Rows<'r>,
    engine: &'r Engine<'r>,
    work: impl Fn(Row) -> Result<Row, PipelineError> + 'r,
) -> Rows<'r> {
    Box::new(rows.map(move |row| {
        let row = work(row?)?;
        engine.work_on(row.weight())?;
        Ok(row)
    }))
}

/// Rows that are known once all rows before them are, computed when the first one is asked for.
fn after<'r>(
    rows: Rows<'r>,
    work: impl FnOnce(Rows<'r>) -> Result<Vec<Row>, PipelineError> + 'r,
) -> Rows<'r> {
    let mut state = Some((rows, work));
    let mut ready = Vec::new().into_iter();
    Box::new(std::iter::from_fn(move || {
        if let Some((rows, work)) = state.take() {
            match work(rows) {
                Ok(rows) => ready = rows.into_iter(),
                Err(error) => return Some(Err(error)),
            }
        }
        ready.next().map(Ok)
    }))
}

/// Passes over so many rows; an error is no row.
fn skip<'r>(mut rows: Rows<'r>, count: u64, engine: &'r Engine<'r>) -> Rows<'r> {
    let mut left = count;
    Box::new(std::iter::from_fn(move || {
        while left > 0 {
            match rows.next()?.and_then(|_| engine.tick()) {
                Ok(()) => left -= 1,
                Err(error) => return Some(Err(error)),
            }
        }
        rows.next()
    }))
}

fn keeps(condition: &Expression, engine: &Engine<'_>, row: &Row) -> Result<bool, PipelineError> {
    match condition.evaluate(&Scope::new(engine, row))?.as_deref() {
        Some(Value::Boolean(truth)) => Ok(*truth),
        None | Some(Value::Null) => Ok(false),
        Some(other) => Err(PipelineError::Invalid(format!(
            "the condition of stage 'where' must be a boolean, not {}",
            type_of(other)
        ))),
    }
}

fn select(targets: &Targets, engine: &Engine<'_>, row: &Row) -> Result<Row, PipelineError> {
    let mut selected = Row::new(engine, Arc::clone(&row.variables));
    let mut fields = Fields::new();
    let mut held = Held::new(&*engine.budget);
    for (target, expression) in targets {
        let value = held.own(expression.evaluate(&Scope::new(engine, row))?)?;
        if value.is_some() {
            set(&mut selected, &mut fields, target, value);
        }
    }
    // From here on the row holds them.
    drop(held);
    selected.put(fields)?;
    Ok(selected)
}

/// Puts a value at a path of a row; an absent one takes away what is there.
pub(super) fn set(row: &mut Row, fields: &mut Fields, target: &Reference, value: Option<Value>) {
    match (target, value) {
        (Reference::Path(path), Some(value)) => path.set(fields, value),
        (Reference::Path(path), None) => drop(path.remove(fields)),
        (Reference::Name, Some(Value::Reference(name))) => row.name = Some(name),
        (Reference::Created, Some(Value::Timestamp(time))) => row.created = Some(time),
        (Reference::Updated, Some(Value::Timestamp(time))) => row.updated = Some(time),
        (Reference::Name | Reference::Created | Reference::Updated | Reference::Nothing, _) => {}
    }
}

fn add(added: &Targets, engine: &Engine<'_>, mut row: Row) -> Result<Row, PipelineError> {
    let mut values = Vec::with_capacity(added.len());
    let mut held = Held::new(&*engine.budget);
    for (_, expression) in added {
        values.push(held.own(expression.evaluate(&Scope::new(engine, &row))?)?);
    }
    let mut fields = row.take();
    for ((target, _), value) in added.iter().zip(values) {
        set(&mut row, &mut fields, target, value);
    }
    drop(held);
    row.put(fields)?;
    Ok(row)
}

fn remove(removed: &[Reference], engine: &Engine<'_>, mut row: Row) -> Result<Row, PipelineError> {
    engine.work(removed.len())?;
    let mut fields = row.take();
    for field in removed {
        match field {
            Reference::Path(path) => drop(path.remove(&mut fields)),
            Reference::Name => row.name = None,
            Reference::Created => row.created = None,
            Reference::Updated => row.updated = None,
            Reference::Nothing => {}
        }
    }
    row.put(fields)?;
    Ok(row)
}

fn bind(
    named: &[(String, Expression)],
    engine: &Engine<'_>,
    mut row: Row,
) -> Result<Row, PipelineError> {
    let mut bound = BTreeMap::new();
    let mut held = engine.hold();
    for (name, expression) in named {
        let value = held.own(expression.evaluate(&Scope::new(engine, &row))?)?;
        bound.insert(name.clone(), value);
    }
    row.variables = Variables::inside(&row.variables, bound, held);
    Ok(row)
}

fn replace(
    map: &Expression,
    mode: Replace,
    engine: &Engine<'_>,
    mut row: Row,
) -> Result<Row, PipelineError> {
    let mut given = match map.evaluate(&Scope::new(engine, &row))?.map(Cow::into_owned) {
        Some(Value::Map(fields)) => fields,
        // As in production, a row without the field becomes an empty one.
        None | Some(Value::Null) => Fields::new(),
        Some(other) => {
            let text = format!("stage 'replace_with' needs a map, not {}", type_of(&other));
            return Err(PipelineError::Invalid(text));
        }
    };
    let fields = match mode {
        Replace::Full => given,
        Replace::Overwrite => {
            let mut fields = row.take();
            fields.append(&mut given);
            fields
        }
        Replace::Keep => {
            let mut fields = row.take();
            given.append(&mut fields);
            given
        }
    };
    row.put(fields)?;
    Ok(row)
}

/// So many of the rows, every choice of them equally likely.
fn draw(rows: Rows<'_>, count: usize, engine: &Engine<'_>) -> Result<Vec<Row>, PipelineError> {
    let mut drawn: Vec<Row> = Vec::new();
    let mut seen = 0_u64;
    for row in rows {
        let row = row?;
        engine.tick()?;
        seen += 1;
        if drawn.len() < count {
            drawn.push(row);
            continue;
        }
        let place = usize::try_from(engine.random() % seen).unwrap_or(usize::MAX);
        if let Some(old) = drawn.get_mut(place) {
            *old = row;
        }
    }
    Ok(drawn)
}

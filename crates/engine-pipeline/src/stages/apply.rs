//! Runs stages.

use std::borrow::Cow;
use std::sync::Arc;

use base_value::{Fields, Value};

use super::{Replace, Rows, Sample, Stage, Targets, group, nearest, sort};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::expression::{Expression, Reference, Scope, type_of};
use crate::row::{Row, Variables};

impl Stage {
    /// The rows behind this stage. `behind` are the stages after it.
    pub(crate) fn apply<'r>(
        &'r self,
        rows: Rows<'r>,
        behind: &'r [Stage],
        engine: &'r Engine<'r>,
    ) -> Rows<'r> {
        match self {
            Stage::Where(condition) => Box::new(rows.filter_map(move |row| match row {
                Ok(row) => match keeps(condition, engine, &row) {
                    Ok(true) => Some(Ok(row)),
                    Ok(false) => None,
                    Err(error) => Some(Err(error)),
                },
                Err(error) => Some(Err(error)),
            })),
            Stage::Select(named) => each(rows, move |row| select(named, engine, &row)),
            Stage::AddFields(fields) => each(rows, move |row| add(fields, engine, row)),
            Stage::RemoveFields(fields) => each(rows, move |row| Ok(remove(fields, row))),
            Stage::Let(named) => each(rows, move |row| bind(named, engine, row)),
            Stage::Sort(keys) => {
                let kept = sort::kept(behind);
                after(rows, move |rows| sort::sort(rows, keys, kept, engine))
            }
            Stage::Limit(count) => {
                Box::new(rows.take(usize::try_from(*count).unwrap_or(usize::MAX)))
            }
            Stage::Offset(count) => Box::new(skip(rows, *count)),
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
                each(rows, move |row| replace(map, *mode, engine, row))
            }
            Stage::Sample(sample) => match *sample {
                Sample::Documents(count) => after(rows, move |rows| draw(rows, count, engine)),
                Sample::Part(part) => {
                    Box::new(rows.filter(move |row| row.is_err() || engine.random_unit() < part))
                }
            },
            Stage::Unnest { array, alias, index } => Box::new(rows.flat_map(move |row| {
                let rows = row.and_then(|row| unnest(array, alias, index.as_ref(), engine, row));
                match rows {
                    Ok(rows) => rows.into_iter().map(Ok).collect::<Vec<_>>(),
                    Err(error) => vec![Err(error)],
                }
            })),
            // Where the rows of another pipeline come in, that one is opened: see `Pipeline::stream`.
            Stage::Union(_) => rows,
        }
    }
}

fn each<'r>(rows: Rows<'r>, work: impl Fn(Row) -> Result<Row, PipelineError> + 'r) -> Rows<'r> {
    Box::new(rows.map(move |row| row.and_then(&work)))
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
fn skip(mut rows: Rows<'_>, count: u64) -> Rows<'_> {
    let mut left = count;
    Box::new(std::iter::from_fn(move || {
        while left > 0 {
            match rows.next()? {
                Ok(_) => left -= 1,
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
    let mut selected = Row::of(Fields::new(), Arc::clone(&row.variables));
    let mut fields = Fields::new();
    for (target, expression) in targets {
        let value = expression.evaluate(&Scope::new(engine, row))?;
        if let Some(value) = value {
            set(&mut selected, &mut fields, target, Some(value.into_owned()));
        }
    }
    selected.put(fields);
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
    for (_, expression) in added {
        let value = expression.evaluate(&Scope::new(engine, &row))?;
        values.push(value.map(Cow::into_owned));
    }
    let mut fields = row.take();
    for ((target, _), value) in added.iter().zip(values) {
        set(&mut row, &mut fields, target, value);
    }
    row.put(fields);
    Ok(row)
}

fn remove(removed: &[Reference], mut row: Row) -> Row {
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
    row.put(fields);
    row
}

fn bind(
    named: &[(String, Expression)],
    engine: &Engine<'_>,
    mut row: Row,
) -> Result<Row, PipelineError> {
    let mut variables = Variables::clone(&row.variables);
    for (name, expression) in named {
        let value = expression.evaluate(&Scope::new(engine, &row))?;
        variables.insert(name.clone(), value.map(Cow::into_owned));
    }
    row.variables = Arc::new(variables);
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
    row.put(fields);
    Ok(row)
}

/// One row for each element. What is no array leaves its row as it is, with null for its index.
fn unnest(
    array: &Expression,
    alias: &Reference,
    index: Option<&Reference>,
    engine: &Engine<'_>,
    mut row: Row,
) -> Result<Vec<Row>, PipelineError> {
    let elements = match array.evaluate(&Scope::new(engine, &row))?.map(Cow::into_owned) {
        Some(Value::Array(elements)) => elements,
        other => {
            let mut fields = row.take();
            if let Some(value) = other {
                set(&mut row, &mut fields, alias, Some(value));
            }
            if let Some(index) = index {
                set(&mut row, &mut fields, index, Some(Value::Null));
            }
            row.put(fields);
            return Ok(vec![row]);
        }
    };
    let mut rows = Vec::with_capacity(elements.len());
    for (place, element) in elements.into_iter().enumerate() {
        let mut row = row.clone();
        let mut fields = row.take();
        set(&mut row, &mut fields, alias, Some(element));
        if let Some(index) = index {
            let place = i64::try_from(place).unwrap_or(i64::MAX);
            set(&mut row, &mut fields, index, Some(Value::Integer(place)));
        }
        row.put(fields);
        rows.push(row);
    }
    // All of them are there at one time.
    let bytes = rows.iter().map(Row::weight).sum();
    engine.budget.charge(bytes)?;
    engine.budget.release(bytes);
    Ok(rows)
}

/// So many of the rows, every choice of them equally likely.
fn draw(rows: Rows<'_>, count: usize, engine: &Engine<'_>) -> Result<Vec<Row>, PipelineError> {
    let mut drawn: Vec<Row> = Vec::new();
    let mut seen = 0_u64;
    for row in rows {
        let row = row?;
        seen += 1;
        if drawn.len() < count {
            engine.budget.charge(row.weight())?;
            drawn.push(row);
            continue;
        }
        let place = usize::try_from(engine.random() % seen).unwrap_or(usize::MAX);
        if let Some(old) = drawn.get_mut(place) {
            engine.budget.release(old.weight());
            engine.budget.charge(row.weight())?;
            *old = row;
        }
    }
    Ok(drawn)
}

//! Computes an expression for a row.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::{Fields, Value};

use super::function::{Function, elements};
use super::{Each, EachKind, Expression, Reference, Subquery};
use crate::budget::{CELL, Held, Parts, Size, weight};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::{BYTES_PER_UNIT, UNITS_PER_OPENING};
use crate::row::{Row, Variables};

/// What an expression answers; `None` is absent.
pub(crate) type Cell<'e> = Option<Cow<'e, Value>>;

/// What an expression sees.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'e> {
    pub(crate) engine: &'e Engine<'e>,
    pub(crate) row: &'e Row,
    locals: Option<&'e Local<'e>>,
}

/// A variable that an enclosing expression binds.
struct Local<'e> {
    name: &'e str,
    value: Cow<'e, Value>,
    outer: Option<&'e Local<'e>>,
}

impl<'e> Scope<'e> {
    pub(crate) fn new(engine: &'e Engine<'e>, row: &'e Row) -> Self {
        Scope { engine, row, locals: None }
    }

    fn variable(&self, name: &str) -> Cell<'e> {
        let mut local = self.locals;
        while let Some(found) = local {
            if found.name == name {
                return Some(found.value.clone());
            }
            local = found.outer;
        }
        let value = self.row.variables.get(name)?;
        value.as_ref().map(Cow::Borrowed)
    }

    /// The variables that a pipeline inside of the expression sees.
    fn variables(&self) -> Result<Arc<Variables>, PipelineError> {
        if self.locals.is_none() {
            return Ok(Arc::clone(&self.row.variables));
        }
        let mut held = self.engine.hold();
        let mut bound = BTreeMap::new();
        let mut local = self.locals;
        while let Some(found) = local {
            // From the inside out: the first of a name hides the others.
            if !bound.contains_key(found.name) {
                bound.insert(found.name.to_owned(), held.own(Some(found.value.clone()))?);
            }
            local = found.outer;
        }
        Ok(Variables::inside(&self.row.variables, bound, held))
    }
}

impl Expression {
    /// The expression's value.
    ///
    /// # Errors
    /// What its functions refuse, and the end of the pipeline's memory or time.
    pub(crate) fn evaluate<'e>(&'e self, scope: &Scope<'e>) -> Result<Cell<'e>, PipelineError> {
        let engine = scope.engine;
        engine.tick()?;
        match self {
            Expression::Constant(value) => Ok(Some(Cow::Borrowed(value))),
            Expression::Field(reference) => {
                engine.work_on(scope.row.stored_bytes())?;
                Ok(reference.of(scope.row))
            }
            Expression::Variable(name) => Ok(scope.variable(name)),
            Expression::Array(elements) => {
                let mut parts = Parts::new(&engine.budget);
                let mut values = Vec::with_capacity(elements.len());
                for element in elements {
                    let value = element.evaluate(scope)?;
                    values.push(parts.own(value.unwrap_or(Cow::Owned(Value::Null)))?);
                }
                engine.work_on(parts.end()?)?;
                Ok(Some(Cow::Owned(Value::Array(values))))
            }
            Expression::Map(entries) => {
                let mut parts = Parts::new(&engine.budget);
                let mut fields = Fields::new();
                for (name, part) in entries {
                    if let Some(value) = part.evaluate(scope)? {
                        parts.name(name)?;
                        fields.insert(name.clone(), parts.own(value)?);
                    }
                }
                engine.work_on(parts.end()?)?;
                Ok(Some(Cow::Owned(Value::Map(fields))))
            }
            Expression::Call(function, args) => call(function, args, scope),
            Expression::Lazy(lazy, args) => lazy.evaluate(args, scope),
            Expression::Each(each) => each.evaluate(scope),
            Expression::Subquery(subquery) => Ok(Some(Cow::Owned(subquery.evaluate(scope)?))),
        }
    }
}

/// What a function answers. All of its arguments are there at one time.
fn call<'e>(
    function: &Function,
    args: &'e [Expression],
    scope: &Scope<'e>,
) -> Result<Cell<'e>, PipelineError> {
    let engine = scope.engine;
    let mut held = Held::new(&*engine.budget);
    let mut cells: Vec<Cell<'_>> = Vec::with_capacity(args.len());
    let mut units = 0;
    for arg in args {
        let cell = arg.evaluate(scope)?;
        if let Some(value) = &cell {
            units += length(value) / BYTES_PER_UNIT;
        }
        if let Some(Cow::Owned(value)) = &cell {
            // What has no content of its own is bounded by the number of expressions.
            let bytes = weight(value);
            if bytes > CELL {
                held.add(bytes)?;
            }
        }
        cells.push(cell);
    }
    engine.work(units)?;
    let args: Vec<Option<&Value>> = cells.iter().map(Option::as_deref).collect();
    let answer = function.ask(engine, &args)?;
    if let Some(value) = &answer {
        let size = Size::of(value);
        size.check()?;
        engine.work_on(size.bytes)?;
    }
    Ok(answer.map(Cow::Owned))
}

/// How long a value is, without a look at what is inside of it.
fn length(value: &Value) -> usize {
    match value {
        Value::String(text) | Value::Reference(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::Array(values) => size_of_val(values.as_slice()),
        Value::Vector(numbers) => size_of_val(numbers.as_slice()),
        Value::Map(fields) => fields.len().saturating_mul(CELL),
        Value::Null
        | Value::Boolean(_)
        | Value::Integer(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::GeoPoint { .. } => 0,
    }
}

impl Reference {
    /// The value it has in a row.
    pub(crate) fn of<'e>(&self, row: &'e Row) -> Cell<'e> {
        let value = match self {
            Reference::Name => row.name.clone().map(Value::Reference),
            Reference::Created => row.created.map(Value::Timestamp),
            Reference::Updated => row.updated.map(Value::Timestamp),
            Reference::Nothing => None,
            Reference::Path(path) => return row.get(path),
        };
        value.map(Cow::Owned)
    }
}

impl Each {
    fn evaluate<'e>(&'e self, scope: &Scope<'e>) -> Result<Cell<'e>, PipelineError> {
        let engine = scope.engine;
        let array = self.array.evaluate(scope)?;
        let mut held = Held::new(&*engine.budget);
        if let Some(Cow::Owned(value)) = &array {
            held.add(weight(value))?;
        }
        let array = match array.as_deref() {
            None | Some(Value::Null) => return Ok(Some(Cow::Owned(Value::Null))),
            Some(value) => elements(value)?,
        };
        let mut parts = Parts::new(&engine.budget);
        let mut values = Vec::new();
        for (position, value) in array.iter().enumerate() {
            let index = self.index.as_ref().map(|name| {
                let number = i64::try_from(position).unwrap_or(i64::MAX);
                Local { name, value: Cow::Owned(Value::Integer(number)), outer: scope.locals }
            });
            let outer = index.as_ref().or(scope.locals);
            let local = Local { name: &self.element, value: Cow::Borrowed(value), outer };
            let inner = Scope { engine, row: scope.row, locals: Some(&local) };
            let found = self.body.evaluate(&inner)?;
            match self.kind {
                EachKind::Transform => {
                    values.push(parts.own(found.unwrap_or(Cow::Owned(Value::Null)))?);
                }
                EachKind::Filter => match found.as_deref() {
                    Some(Value::Boolean(true)) => values.push(parts.own(Cow::Borrowed(value))?),
                    None | Some(Value::Null | Value::Boolean(false)) => {}
                    Some(other) => return Err(super::function::wrong("boolean", other)),
                },
            }
        }
        engine.work_on(parts.end()?)?;
        Ok(Some(Cow::Owned(Value::Array(values))))
    }
}

impl Subquery {
    /// All rows, or the one row, a row of one field being that field's value.
    fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, PipelineError> {
        let engine = scope.engine;
        engine.work(UNITS_PER_OPENING)?;
        // That there are two is known from the second.
        let most = if self.is_array { usize::MAX } else { 2 };
        let rows = self.pipeline.collect(engine, scope.variables()?, Some(scope.row), most)?;
        let mut values = rows.into_iter().map(|mut row| {
            let mut fields = row.take();
            match (fields.len(), fields.pop_first()) {
                (1, Some((_, only))) => only,
                (_, Some((name, first))) => {
                    fields.insert(name, first);
                    Value::Map(fields)
                }
                (_, None) => Value::Map(fields),
            }
        });
        if self.is_array {
            let mut parts = Parts::new(&engine.budget);
            let mut array = Vec::new();
            for value in values {
                array.push(parts.own(Cow::Owned(value))?);
            }
            engine.work_on(parts.end()?)?;
            return Ok(Value::Array(array));
        }
        match (values.next(), values.next()) {
            (None, _) => Ok(Value::Null),
            (Some(only), None) => {
                Size::of(&only).check()?;
                Ok(only)
            }
            (Some(_), Some(_)) => {
                Err(PipelineError::invalid("Subpipeline returned multiple results"))
            }
        }
    }
}

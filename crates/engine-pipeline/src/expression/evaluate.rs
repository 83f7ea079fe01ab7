//! Computes an expression for a row.

use std::borrow::Cow;
use std::sync::Arc;

use base_value::{Fields, Value};

use super::function::elements;
use super::{Each, EachKind, Expression, Reference, Subquery};
use crate::budget::weight;
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;
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
    fn variables(&self) -> Arc<Variables> {
        if self.locals.is_none() {
            return Arc::clone(&self.row.variables);
        }
        let mut variables = Variables::clone(&self.row.variables);
        let mut bound = Vec::new();
        let mut local = self.locals;
        while let Some(found) = local {
            bound.push(found);
            local = found.outer;
        }
        for local in bound.into_iter().rev() {
            variables.insert(local.name.to_owned(), Some(local.value.clone().into_owned()));
        }
        Arc::new(variables)
    }
}

impl Expression {
    /// The expression's value.
    ///
    /// # Errors
    /// What its functions refuse.
    pub(crate) fn evaluate<'e>(&'e self, scope: &Scope<'e>) -> Result<Cell<'e>, PipelineError> {
        match self {
            Expression::Constant(value) => Ok(Some(Cow::Borrowed(value))),
            Expression::Field(reference) => Ok(reference.of(scope.row)),
            Expression::Variable(name) => Ok(scope.variable(name)),
            Expression::Array(parts) => {
                let values: Result<Vec<Value>, PipelineError> = parts
                    .iter()
                    .map(|part| Ok(part.evaluate(scope)?.map_or(Value::Null, Cow::into_owned)))
                    .collect();
                checked(Value::Array(values?))
            }
            Expression::Map(entries) => {
                let mut fields = Fields::new();
                for (name, part) in entries {
                    if let Some(value) = part.evaluate(scope)? {
                        fields.insert(name.clone(), value.into_owned());
                    }
                }
                checked(Value::Map(fields))
            }
            Expression::Call(function, args) => {
                let cells: Result<Vec<Cell<'_>>, _> =
                    args.iter().map(|arg| arg.evaluate(scope)).collect();
                let cells = cells?;
                let args: Vec<Option<&Value>> = cells.iter().map(Option::as_deref).collect();
                Ok(function.ask(scope.engine, &args)?.map(Cow::Owned))
            }
            Expression::Lazy(lazy, args) => lazy.evaluate(args, scope),
            Expression::Each(each) => each.evaluate(scope),
            Expression::Subquery(subquery) => Ok(Some(Cow::Owned(subquery.evaluate(scope)?))),
        }
    }
}

/// A computed container, if it is not too large.
fn checked<'e>(value: Value) -> Result<Cell<'e>, PipelineError> {
    if weight(&value) > VALUE_MAX_BYTES {
        return Err(too_large());
    }
    Ok(Some(Cow::Owned(value)))
}

/// The refusal of a value that is too large.
pub(crate) fn too_large() -> PipelineError {
    PipelineError::Exhausted(format!("a computed value has more than {VALUE_MAX_BYTES} bytes"))
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
        let array = match self.array.evaluate(scope)?.as_deref() {
            None | Some(Value::Null) => return Ok(Some(Cow::Owned(Value::Null))),
            Some(value) => elements(value)?.to_vec(),
        };
        let mut values = Vec::with_capacity(array.len());
        for (position, value) in array.into_iter().enumerate() {
            let index = self.index.as_ref().map(|name| {
                let number = i64::try_from(position).unwrap_or(i64::MAX);
                Local { name, value: Cow::Owned(Value::Integer(number)), outer: scope.locals }
            });
            let outer = index.as_ref().or(scope.locals);
            let local = Local { name: &self.element, value: Cow::Borrowed(&value), outer };
            let inner = Scope { engine: scope.engine, row: scope.row, locals: Some(&local) };
            let found = self.body.evaluate(&inner)?;
            match self.kind {
                EachKind::Transform => values.push(found.map_or(Value::Null, Cow::into_owned)),
                EachKind::Filter => match found.as_deref() {
                    Some(Value::Boolean(true)) => values.push(value.clone()),
                    None | Some(Value::Null | Value::Boolean(false)) => {}
                    Some(other) => return Err(super::function::wrong("boolean", other)),
                },
            }
        }
        checked(Value::Array(values))
    }
}

impl Subquery {
    /// All rows, or the one row, a row of one field being that field's value.
    fn evaluate(&self, scope: &Scope<'_>) -> Result<Value, PipelineError> {
        let used = scope.engine.budget.used();
        let rows = self.pipeline.collect(scope.engine, scope.variables(), Some(scope.row))?;
        scope.engine.budget.release(scope.engine.budget.used().saturating_sub(used));
        let mut values = rows.into_iter().map(|row| {
            let mut fields = row.fields().into_owned();
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
            let array = Value::Array(values.collect());
            return if weight(&array) > VALUE_MAX_BYTES { Err(too_large()) } else { Ok(array) };
        }
        match (values.next(), values.next()) {
            (None, _) => Ok(Value::Null),
            (Some(only), None) => Ok(only),
            (Some(_), Some(_)) => {
                Err(PipelineError::invalid("Subpipeline returned multiple results"))
            }
        }
    }
}

//! Functions that do not look at all of their arguments, or that look at errors.

use std::borrow::Cow;

use base_value::Value;

use super::Expression;
use super::evaluate::{Cell, Scope};
use super::function::wrong;
use crate::budget::Size;
use crate::error::PipelineError;

/// One of these functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lazy {
    And,
    Or,
    Nor,
    Conditional,
    SwitchOn,
    IsError,
    IfError,
    IfAbsent,
    IfNull,
    Coalesce,
    CurrentDocument,
}

/// Every one with its name and how few and how many arguments it takes.
const TABLE: [(Lazy, &str, (usize, usize)); 11] = [
    (Lazy::And, "and", (1, usize::MAX)),
    (Lazy::Or, "or", (1, usize::MAX)),
    (Lazy::Nor, "nor", (1, usize::MAX)),
    (Lazy::Conditional, "conditional", (3, 3)),
    (Lazy::SwitchOn, "switch_on", (2, usize::MAX)),
    (Lazy::IsError, "is_error", (1, 1)),
    (Lazy::IfError, "if_error", (2, 2)),
    (Lazy::IfAbsent, "if_absent", (2, 2)),
    (Lazy::IfNull, "if_null", (2, 2)),
    (Lazy::Coalesce, "coalesce", (1, usize::MAX)),
    (Lazy::CurrentDocument, "current_document", (0, 0)),
];

impl Lazy {
    /// The function of that name, and how few and how many arguments it takes.
    pub(crate) fn find(name: &str) -> Option<(Lazy, (usize, usize))> {
        TABLE.iter().find(|row| row.1 == name).map(|row| (row.0, row.2))
    }

    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.0 == self).map_or("", |row| row.1)
    }

    pub(crate) fn evaluate<'e>(
        self,
        args: &'e [Expression],
        scope: &Scope<'e>,
    ) -> Result<Cell<'e>, PipelineError> {
        match self {
            Lazy::And => Ok(truth(decide(args, scope, false)?)),
            Lazy::Or => Ok(truth(decide(args, scope, true)?)),
            Lazy::Nor => Ok(truth(decide(args, scope, true)?.map(|truth| !truth))),
            Lazy::Conditional | Lazy::SwitchOn => branch(self, args, scope),
            Lazy::IsError => match first(args, scope) {
                Err(error) if error.is_caught() => Ok(truth(Some(true))),
                Err(error) => Err(error),
                Ok(_) => Ok(truth(Some(false))),
            },
            Lazy::IfError => match first(args, scope) {
                Err(error) if error.is_caught() => last(args, scope),
                other => other,
            },
            Lazy::IfAbsent => match first(args, scope)? {
                None => last(args, scope),
                found => Ok(found),
            },
            Lazy::IfNull | Lazy::Coalesce => {
                for arg in args {
                    let found = arg.evaluate(scope)?;
                    if !matches!(found.as_deref(), None | Some(Value::Null)) {
                        return Ok(found);
                    }
                }
                Ok(Some(Cow::Owned(Value::Null)))
            }
            Lazy::CurrentDocument => {
                scope.engine.work_on(scope.row.weight())?;
                let mut fields = scope.row.fields().into_owned();
                if let Some(name) = &scope.row.name {
                    fields.insert("__name__".to_owned(), Value::Reference(name.clone()));
                }
                let document = Value::Map(fields);
                Size::of(&document).check()?;
                Ok(Some(Cow::Owned(document)))
            }
        }
    }
}

fn truth<'e>(truth: Option<bool>) -> Cell<'e> {
    Some(Cow::Owned(truth.map_or(Value::Null, Value::Boolean)))
}

fn first<'e>(args: &'e [Expression], scope: &Scope<'e>) -> Result<Cell<'e>, PipelineError> {
    args.first().map_or(Ok(None), |arg| arg.evaluate(scope))
}

fn last<'e>(args: &'e [Expression], scope: &Scope<'e>) -> Result<Cell<'e>, PipelineError> {
    args.last().map_or(Ok(None), |arg| arg.evaluate(scope))
}

/// A condition: `None` where it is neither true nor false.
fn condition<'e>(arg: &'e Expression, scope: &Scope<'e>) -> Result<Option<bool>, PipelineError> {
    match arg.evaluate(scope)?.as_deref() {
        Some(Value::Boolean(truth)) => Ok(Some(*truth)),
        None | Some(Value::Null) => Ok(None),
        Some(other) => Err(wrong("boolean", other)),
    }
}

/// `deciding` where one condition is that, whatever the others are, errors included; the contrary where all
/// are that; neither where one of them is neither.
fn decide<'e>(
    args: &'e [Expression],
    scope: &Scope<'e>,
    deciding: bool,
) -> Result<Option<bool>, PipelineError> {
    let mut unknown = false;
    let mut failed = None;
    for arg in args {
        match condition(arg, scope) {
            Ok(Some(truth)) if truth == deciding => return Ok(Some(deciding)),
            Ok(Some(_)) => {}
            Ok(None) => unknown = true,
            Err(error) if error.is_caught() => failed = failed.or(Some(error)),
            Err(error) => return Err(error),
        }
    }
    match failed {
        Some(error) => Err(error),
        None => Ok((!unknown).then_some(!deciding)),
    }
}

/// The expression behind the first condition that is true; else the odd one at the end.
fn branch<'e>(
    lazy: Lazy,
    args: &'e [Expression],
    scope: &Scope<'e>,
) -> Result<Cell<'e>, PipelineError> {
    let (pairs, rest) = args.as_chunks::<2>();
    for [when, then] in pairs {
        if condition(when, scope)? == Some(true) {
            return then.evaluate(scope);
        }
    }
    match rest.first() {
        Some(otherwise) => otherwise.evaluate(scope),
        None => {
            let text = format!("function '{}': all switch cases evaluate to false", lazy.name());
            Err(PipelineError::Invalid(text))
        }
    }
}

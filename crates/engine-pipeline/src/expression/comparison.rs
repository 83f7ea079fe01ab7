//! Comparisons, truth values, and what is there at all.

use std::cmp::Ordering;

use base_value::Value;
use base_value::order::{self, type_class};

use super::array::extreme;
use super::function::{Function, MANY, Outcome, answer, elements, wrong};
use crate::error::PipelineError;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::cells("equal", (2, 2), |args| boolean(same(first(args), second(args)))),
    Function::cells("not_equal", (2, 2), |args| boolean(!same(first(args), second(args)))),
    Function::cells("less_than", (2, 2), |args| compared(args, &[Ordering::Less])),
    Function::cells("less_than_or_equal", (2, 2), |args| {
        compared(args, &[Ordering::Less, Ordering::Equal])
    }),
    Function::cells("greater_than", (2, 2), |args| compared(args, &[Ordering::Greater])),
    Function::cells("greater_than_or_equal", (2, 2), |args| {
        compared(args, &[Ordering::Greater, Ordering::Equal])
    }),
    Function::cells("between", (3, 3), |args| {
        let [Some(value), Some(low), Some(high)] = args else { return boolean(false) };
        let above = ranked(value, low).is_some_and(Ordering::is_ge);
        boolean(above && ranked(value, high).is_some_and(Ordering::is_le))
    }),
    Function::values("cmp", (2, 2), |_, args| match args {
        [left, right] => answer(Value::Integer(order::compare(left, right) as i64)),
        _ => Ok(None),
    }),
    Function::cells("equal_any", (2, 2), |args| match any(args)? {
        Some(found) => boolean(found),
        None => answer(Value::Null),
    }),
    Function::cells("not_equal_any", (2, 2), |args| match any(args)? {
        Some(found) => boolean(!found),
        None => answer(Value::Null),
    }),
    Function::values("not", (1, 1), |_, args| match args {
        [Value::Boolean(truth)] => boolean(!truth),
        [other] => Err(wrong("boolean", other)),
        _ => Ok(None),
    }),
    Function::values("xor", (1, MANY), |_, args| {
        let mut odd = false;
        for arg in args {
            match arg {
                Value::Boolean(truth) => odd ^= truth,
                other => return Err(wrong("boolean", other)),
            }
        }
        boolean(odd)
    }),
    Function::cells("exists", (1, 1), |args| boolean(first(args).is_some())),
    Function::cells("is_absent", (1, 1), |args| boolean(first(args).is_none())),
    Function::cells("is_null", (1, 1), |args| boolean(matches!(first(args), Some(Value::Null)))),
    Function::cells("is_not_null", (1, 1), |args| {
        boolean(!matches!(first(args), None | Some(Value::Null)))
    }),
    Function::values("is_nan", (1, 1), |_, args| nan(args, true)),
    Function::values("is_not_nan", (1, 1), |_, args| nan(args, false)),
    Function::cells("maximum", (1, MANY), |args| greatest(args, Ordering::Greater)),
    Function::cells("minimum", (1, MANY), |args| greatest(args, Ordering::Less)),
    Function::cells("error", (1, 1), |args| match first(args) {
        Some(Value::String(text)) => Err(PipelineError::invalid(text.clone())),
        _ => Err(PipelineError::invalid("error")),
    }),
];

fn boolean(truth: bool) -> Outcome {
    answer(Value::Boolean(truth))
}

fn first<'v>(args: &[Option<&'v Value>]) -> Option<&'v Value> {
    args.first().copied().flatten()
}

fn second<'v>(args: &[Option<&'v Value>]) -> Option<&'v Value> {
    args.get(1).copied().flatten()
}

/// Whether both are equal; what is absent equals what is absent, and nothing else.
fn same(left: Option<&Value>, right: Option<&Value>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => order::equal(left, right),
        (left, right) => left.is_none() && right.is_none(),
    }
}

/// The order of two values that have one: those of one class, NaN having one only with itself.
fn ranked(left: &Value, right: &Value) -> Option<Ordering> {
    if type_class(left) != type_class(right) || left.is_nan() != right.is_nan() {
        return None;
    }
    Some(order::compare(left, right))
}

fn compared(args: &[Option<&Value>], wanted: &[Ordering]) -> Outcome {
    let found = match (first(args), second(args)) {
        (Some(left), Some(right)) => ranked(left, right),
        _ => None,
    };
    boolean(found.is_some_and(|found| wanted.contains(&found)))
}

/// Whether the value is one of the array's; `None` where there is no array.
fn any(args: &[Option<&Value>]) -> Result<Option<bool>, PipelineError> {
    let array = match second(args) {
        None | Some(Value::Null) => return Ok(None),
        Some(array) => elements(array)?,
    };
    Ok(Some(first(args).is_some_and(|value| array.iter().any(|it| order::equal(it, value)))))
}

fn nan(args: &[&Value], wanted: bool) -> Outcome {
    match args {
        [number @ (Value::Integer(_) | Value::Double(_))] => boolean(number.is_nan() == wanted),
        [other] => Err(wrong("number", other)),
        _ => Ok(None),
    }
}

/// The greatest, or the least, of several values, or of the elements of one array. Null and absent ones do
/// not count.
fn greatest(args: &[Option<&Value>], wanted: Ordering) -> Outcome {
    match args {
        [only] => match only {
            None | Some(Value::Null) => answer(Value::Null),
            Some(array) => answer(extreme(elements(array)?.iter(), wanted)),
        },
        _ => answer(extreme(args.iter().copied().flatten(), wanted)),
    }
}

//! Arrays.

use std::cmp::Ordering;

use base_value::Value;
use base_value::order;

use super::function::{
    Function, MANY, Outcome, answer, count, elements, integer, length, refuse, string, wrong,
};
use super::ordered::{self, Ordered};
use crate::budget::{too_large, weight};
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("array_concat", (1, MANY), |_, args| concat(args)),
    // As in a query's filters, what is no array contains nothing.
    Function::values("array_contains", (2, 2), |_, args| match args {
        [Value::Array(array), value] => answer(Value::Boolean(has(array, value))),
        _ => answer(Value::Boolean(false)),
    }),
    Function::values("array_contains_all", (2, 2), |_, args| match args {
        [Value::Array(array), wanted] => answer(Value::Boolean(has_all(array, elements(wanted)?))),
        _ => answer(Value::Boolean(false)),
    }),
    Function::values("array_contains_any", (2, 2), |_, args| match args {
        [Value::Array(array), wanted] => answer(Value::Boolean(has_any(array, elements(wanted)?))),
        _ => answer(Value::Boolean(false)),
    }),
    Function::values("array_first", (1, 1), |_, args| match args {
        [array] => Ok(elements(array)?.first().cloned()),
        _ => Ok(None),
    }),
    Function::values("array_last", (1, 1), |_, args| match args {
        [array] => Ok(elements(array)?.last().cloned()),
        _ => Ok(None),
    }),
    Function::values("array_first_n", (2, 2), |_, args| match args {
        [array, n] => {
            let n = count("n", n)?;
            answer(Value::Array(elements(array)?.iter().take(n).cloned().collect()))
        }
        _ => Ok(None),
    }),
    Function::values("array_last_n", (2, 2), |_, args| match args {
        [array, n] => {
            let array = elements(array)?;
            let passed = array.len().saturating_sub(count("n", n)?);
            answer(Value::Array(array.iter().skip(passed).cloned().collect()))
        }
        _ => Ok(None),
    }),
    Function::values("array_get", (2, 2), |_, args| match args {
        [array, index] => {
            let array = elements(array)?;
            let index = integer(index)?;
            let position = position(index, array.len());
            Ok(position.and_then(|position| array.get(position)).cloned())
        }
        _ => Ok(None),
    }),
    Function::cells("array_index_of", (2, 3), index_of),
    Function::cells("array_index_of_all", (2, 2), |args| match args {
        [None | Some(Value::Null), _] => answer(Value::Null),
        [Some(array), value] => {
            answer(Value::Array(places(elements(array)?, *value).map(length).collect()))
        }
        _ => Ok(None),
    }),
    Function::values("array_length", (1, 1), |_, args| match args {
        [array] => answer(length(elements(array)?.len())),
        _ => Ok(None),
    }),
    Function::values("array_reverse", (1, 1), |_, args| match args {
        [array] => answer(Value::Array(elements(array)?.iter().rev().cloned().collect())),
        _ => Ok(None),
    }),
    Function::values("array_slice", (2, 3), |_, args| slice(args)),
    Function::values("maximum_n", (2, 2), |_, args| top(args, Ordering::Greater)),
    Function::values("minimum_n", (2, 2), |_, args| top(args, Ordering::Less)),
    Function::values("join", (2, 3), |_, args| join(args)),
];

fn has(array: &[Value], value: &Value) -> bool {
    array.iter().any(|element| order::equal(element, value))
}

fn has_all(array: &[Value], wanted: &[Value]) -> bool {
    let mut missing = ordered::set(wanted);
    for element in array {
        if missing.is_empty() {
            break;
        }
        missing.remove(&Ordered(element));
    }
    missing.is_empty()
}

fn has_any(array: &[Value], wanted: &[Value]) -> bool {
    let wanted = ordered::set(wanted);
    array.iter().any(|element| wanted.contains(&Ordered(element)))
}

/// All elements of all arrays.
pub(crate) fn concat(args: &[&Value]) -> Outcome {
    let mut all = Vec::new();
    let mut bytes = 0_usize;
    for arg in args {
        let array = elements(arg)?;
        bytes = bytes.saturating_add(array.iter().map(weight).sum());
        if bytes > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        all.extend_from_slice(array);
    }
    answer(Value::Array(all))
}

/// The greatest or least of the values that are not null; null where there is none.
pub(crate) fn extreme<'v>(values: impl Iterator<Item = &'v Value>, wanted: Ordering) -> Value {
    let mut best: Option<&Value> = None;
    for value in values.filter(|value| !matches!(value, Value::Null)) {
        if best.is_none_or(|best| order::compare(value, best) == wanted) {
            best = Some(value);
        }
    }
    best.cloned().unwrap_or(Value::Null)
}

/// The greatest or least n of the elements that are not null, the outermost first.
fn top(args: &[&Value], wanted: Ordering) -> Outcome {
    let [array, n] = args else { return Ok(None) };
    let n = count("n", n)?;
    let mut values: Vec<&Value> =
        elements(array)?.iter().filter(|value| !matches!(value, Value::Null)).collect();
    values.sort_by(|left, right| {
        let order = order::compare(left, right);
        if wanted == Ordering::Greater { order.reverse() } else { order }
    });
    answer(Value::Array(values.into_iter().take(n).cloned().collect()))
}

/// A position counted from the end where it is negative; `None` before the first.
fn position(index: i64, length: usize) -> Option<usize> {
    match usize::try_from(index) {
        Ok(position) => Some(position),
        Err(_) => length.checked_sub(usize::try_from(index.unsigned_abs()).unwrap_or(usize::MAX)),
    }
}

fn places<'v>(
    array: &'v [Value],
    value: Option<&'v Value>,
) -> impl DoubleEndedIterator<Item = usize> {
    let is_it = move |element: &Value| value.is_some_and(|value| order::equal(element, value));
    array.iter().enumerate().filter(move |(_, element)| is_it(element)).map(|(place, _)| place)
}

fn index_of(args: &[Option<&Value>]) -> Outcome {
    let (array, value) = match args {
        [None | Some(Value::Null), ..] => return answer(Value::Null),
        [Some(array), value, ..] => (elements(array)?, *value),
        _ => return Ok(None),
    };
    let which = args.get(2).copied().flatten().map_or(Ok("first"), string)?;
    let found = match which {
        "first" => places(array, value).next(),
        "last" => places(array, value).next_back(),
        other => return refuse(format!("'first' or 'last' expected, found '{other}'")),
    };
    answer(found.map_or(Value::Integer(-1), length))
}

fn slice(args: &[&Value]) -> Outcome {
    let [array, offset, rest @ ..] = args else { return Ok(None) };
    let array = elements(array)?;
    let length = rest.first().map_or(Ok(usize::MAX), |length| count("length", length))?;
    let start = position(integer(offset)?, array.len()).unwrap_or(0);
    answer(Value::Array(array.iter().skip(start).take(length).cloned().collect()))
}

/// The strings, or the bytes, of an array, with a delimiter between them. Null elements are left out, or
/// replaced by the third argument.
fn join(args: &[&Value]) -> Outcome {
    let [array, delimiter, rest @ ..] = args else { return Ok(None) };
    if !matches!(delimiter, Value::String(_) | Value::Bytes(_)) {
        return Err(wrong("string or bytes", delimiter));
    }
    let parts = elements(array)?
        .iter()
        .filter_map(|element| match element {
            Value::Null => rest.first().copied(),
            other => Some(other),
        })
        .collect::<Vec<&Value>>();
    let mut joined: Vec<u8> = Vec::new();
    for (place, part) in parts.into_iter().enumerate() {
        let delimiting = if place > 0 { raw(delimiter, delimiter)? } else { &[] };
        let part = raw(part, delimiter)?;
        if joined.len() + delimiting.len() + part.len() > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        joined.extend_from_slice(delimiting);
        joined.extend_from_slice(part);
    }
    match delimiter {
        Value::Bytes(_) => answer(Value::Bytes(joined.into())),
        _ => match String::from_utf8(joined) {
            Ok(text) => answer(Value::String(text)),
            Err(_) => refuse("the strings are not UTF-8"),
        },
    }
}

/// The bytes of a part, which must be of the delimiter's type.
fn raw<'v>(part: &'v Value, delimiter: &Value) -> Result<&'v [u8], PipelineError> {
    match (part, delimiter) {
        (Value::String(text), Value::String(_)) => Ok(text.as_bytes()),
        (Value::Bytes(bytes), Value::Bytes(_)) => Ok(bytes),
        (other, Value::Bytes(_)) => Err(wrong("bytes", other)),
        (other, _) => Err(wrong("string", other)),
    }
}

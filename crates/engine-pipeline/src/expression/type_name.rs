//! What a value is, and how long.

use base_value::Value;

use super::array;
use super::function::{Function, MANY, Outcome, answer, length, refuse, string, type_of, wrong};
use super::text;
use crate::budget::too_large;
use crate::limits::VALUE_MAX_BYTES;

/// Names that `is_type` knows beside those of `type`.
const OTHERS: [&str; 9] = [
    "number",
    "int32",
    "decimal128",
    "object_id",
    "regex",
    "max_key",
    "min_key",
    "request_timestamp",
    "bson_timestamp",
];

const NAMES: [&str; 12] = [
    "null",
    "boolean",
    "int64",
    "float64",
    "timestamp",
    "string",
    "bytes",
    "reference",
    "geo_point",
    "array",
    "vector",
    "map",
];

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::cells("type", (1, 1), |args| match args {
        [Some(value)] => answer(Value::String(type_of(value).to_owned())),
        _ => answer(Value::Null),
    }),
    Function::cells("is_type", (2, 2), is_type),
    Function::values("length", (1, 1), |_, args| match args {
        [Value::String(text)] => answer(length(text.chars().count())),
        [Value::Bytes(bytes)] => answer(length(bytes.len())),
        [Value::Array(values)] => answer(length(values.len())),
        [Value::Vector(numbers)] => answer(length(numbers.len())),
        [Value::Map(fields)] => answer(length(fields.len())),
        [other] => Err(wrong("string, bytes, array, vector or map", other)),
        _ => Ok(None),
    }),
    Function::values("reverse", (1, 1), |_, args| match args {
        [Value::Array(values)] => answer(Value::Array(values.iter().rev().cloned().collect())),
        _ => text::reverse(args),
    }),
    Function::values("concat", (1, MANY), |_, args| match args.first() {
        Some(Value::Array(_)) => array::concat(args),
        Some(Value::Bytes(_)) => bytes(args),
        _ => text::concat(args),
    }),
];

fn is_type(args: &[Option<&Value>]) -> Outcome {
    let (value, name) = match args {
        [None, _] => return answer(Value::Null),
        [_, None | Some(Value::Null)] => return refuse("string expected, found nothing"),
        [Some(value), Some(name)] => (value, string(name)?),
        _ => return Ok(None),
    };
    if !NAMES.contains(&name) && !OTHERS.contains(&name) {
        return refuse(format!("there is no type '{name}'"));
    }
    let is_number = matches!(value, Value::Integer(_) | Value::Double(_));
    answer(Value::Boolean(type_of(value) == name || (name == "number" && is_number)))
}

fn bytes(args: &[&Value]) -> Outcome {
    let mut all: Vec<u8> = Vec::new();
    for arg in args {
        let Value::Bytes(bytes) = arg else { return Err(wrong("bytes", arg)) };
        if all.len() + bytes.len() > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        all.extend_from_slice(bytes);
    }
    answer(Value::Bytes(all.into()))
}

//! The table of functions, and what they have in common.

use base_value::Value;

use super::{
    arithmetic, array, comparison, map, reference, string, text, timestamp, type_name, vector,
};
use crate::engine::Engine;
use crate::error::PipelineError;

/// What a function answers; `None` is absent.
pub(crate) type Outcome = Result<Option<Value>, PipelineError>;

/// A function of the values of its arguments.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// How few arguments it takes, and how many.
    pub(crate) args: (usize, usize),
    pub(crate) call: Call,
}

/// How a function is called.
#[derive(Debug)]
pub(crate) enum Call {
    /// It answers null where an argument is absent or null, and is asked otherwise.
    Values(fn(&Engine<'_>, &[&Value]) -> Outcome),
    /// It sees what is absent or null.
    Cells(fn(&[Option<&Value>]) -> Outcome),
}

/// As many arguments as there are.
pub(crate) const MANY: usize = usize::MAX;

const FAMILIES: [&[Function]; 10] = [
    arithmetic::FUNCTIONS,
    array::FUNCTIONS,
    comparison::FUNCTIONS,
    map::FUNCTIONS,
    reference::FUNCTIONS,
    string::FUNCTIONS,
    text::FUNCTIONS,
    timestamp::FUNCTIONS,
    type_name::FUNCTIONS,
    vector::FUNCTIONS,
];

/// The function of that name.
pub(crate) fn find(name: &str) -> Option<&'static Function> {
    FAMILIES.iter().flat_map(|family| family.iter()).find(|function| function.name == name)
}

impl Function {
    pub(crate) const fn values(
        name: &'static str,
        args: (usize, usize),
        call: fn(&Engine<'_>, &[&Value]) -> Outcome,
    ) -> Function {
        Function { name, args, call: Call::Values(call) }
    }

    pub(crate) const fn cells(
        name: &'static str,
        args: (usize, usize),
        call: fn(&[Option<&Value>]) -> Outcome,
    ) -> Function {
        Function { name, args, call: Call::Cells(call) }
    }

    /// Asks the function.
    pub(crate) fn ask(&self, engine: &Engine<'_>, args: &[Option<&Value>]) -> Outcome {
        let answer = match self.call {
            Call::Cells(call) => call(args),
            Call::Values(call) => {
                let values: Option<Vec<&Value>> = args
                    .iter()
                    .map(|arg| arg.filter(|value| !matches!(value, Value::Null)))
                    .collect();
                match values {
                    Some(values) => call(engine, &values),
                    None => Ok(Some(Value::Null)),
                }
            }
        };
        answer.map_err(|error| match error {
            PipelineError::Invalid(text) => {
                PipelineError::Invalid(format!("function '{}': {text}", self.name))
            }
            other => other,
        })
    }
}

/// An answer that is a value.
#[expect(clippy::unnecessary_wraps, reason = "every function ends with it")]
pub(crate) fn answer(value: Value) -> Outcome {
    Ok(Some(value))
}

/// A refusal.
pub(crate) fn refuse(text: impl Into<String>) -> Outcome {
    Err(PipelineError::Invalid(text.into()))
}

/// The refusal of a value of a wrong type.
pub(crate) fn wrong(expected: &str, value: &Value) -> PipelineError {
    PipelineError::Invalid(format!("{expected} expected, found {}", type_of(value)))
}

/// The product's name of a value's type.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Boolean(_) => "boolean",
        Value::Integer(_) => "int64",
        Value::Double(_) => "float64",
        Value::Timestamp(_) => "timestamp",
        Value::String(_) => "string",
        Value::Bytes(_) => "bytes",
        Value::Reference(_) => "reference",
        Value::GeoPoint { .. } => "geo_point",
        Value::Array(_) => "array",
        Value::Vector(_) => "vector",
        Value::Map(_) => "map",
    }
}

pub(crate) fn string(value: &Value) -> Result<&str, PipelineError> {
    match value {
        Value::String(text) => Ok(text),
        other => Err(wrong("string", other)),
    }
}

pub(crate) fn integer(value: &Value) -> Result<i64, PipelineError> {
    match value {
        Value::Integer(number) => Ok(*number),
        other => Err(wrong("int64", other)),
    }
}

/// A count or a length: an integer that is not negative.
pub(crate) fn count(what: &str, value: &Value) -> Result<usize, PipelineError> {
    usize::try_from(integer(value)?)
        .map_err(|_| PipelineError::Invalid(format!("{what} must be non-negative")))
}

pub(crate) fn double(value: &Value) -> Result<f64, PipelineError> {
    match value {
        Value::Integer(number) => Ok(*number as f64),
        Value::Double(number) => Ok(*number),
        other => Err(wrong("number", other)),
    }
}

pub(crate) fn elements(value: &Value) -> Result<&[Value], PipelineError> {
    match value {
        Value::Array(values) => Ok(values),
        other => Err(wrong("array", other)),
    }
}

/// A length as clients see it.
pub(crate) fn length(count: usize) -> Value {
    Value::Integer(i64::try_from(count).unwrap_or(i64::MAX))
}

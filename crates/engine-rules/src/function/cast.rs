//! Functions without a package: conversions between types.

use super::{Args, Builtin, Given, builtin, mismatch};
use crate::error::{Failure, failure, unsupported};
use crate::value::{Path, Type, Value, java_double};

pub(super) const FUNCTIONS: &[Builtin] = &[
    builtin(
        "string",
        &[
            &[Type::Int],
            &[Type::Float],
            &[Type::Null],
            &[Type::String],
            &[Type::Bool],
            &[Type::Path],
        ],
        Type::String,
        string,
    ),
    builtin("int", &[&[Type::Int], &[Type::Float], &[Type::String]], Type::Int, int),
    builtin("float", &[&[Type::Int], &[Type::Float], &[Type::String]], Type::Float, float),
    builtin("path", &[&[Type::String]], Type::Path, path),
];

/// The text of a value that has one.
pub(crate) fn text_of(value: &Value<'_>) -> Result<String, Failure> {
    match value {
        Value::String(text) => Ok(text.to_string()),
        Value::Int(number) => Ok(number.to_string()),
        Value::Float(number) => Ok(java_double(*number)),
        Value::Bool(truth) => Ok(truth.to_string()),
        Value::Null => Ok("null".to_owned()),
        Value::Path(path) => Ok(path.to_string()),
        other => Err(unsupported(
            &format!("string({})", other.type_of().name()),
            "string(int), string(float), string(null), string(string), string(bool), string(path)",
        )),
    }
}

fn string<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    match args.arg(0) {
        Value::String(text) => Ok(Value::String(text.clone())),
        other => Ok(Value::text(text_of(other)?)),
    }
}

fn not_converted<'e>(text: &str, to: &str) -> Given<'e> {
    Err(failure(format!(
        "Type conversion error. Argument: [{text}], From type: [string], To type: [{to}]."
    )))
}

fn int<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    match args.arg(0) {
        Value::Int(number) => Ok(Value::Int(*number)),
        Value::Float(number) => Ok(Value::Int(*number as i64)),
        Value::String(text) => text
            .parse()
            .map_or_else(|_| not_converted(text, "int"), |number| Ok(Value::Int(number))),
        _ => mismatch(),
    }
}

fn float<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    match args.arg(0) {
        Value::Int(number) => Ok(Value::Float(*number as f64)),
        Value::Float(number) => Ok(Value::Float(*number)),
        Value::String(text) => parse_double(text)
            .map_or_else(|| not_converted(text, "float"), |number| Ok(Value::Float(number))),
        _ => mismatch(),
    }
}

/// A double as Java reads it: blanks around it, a type suffix, and its own words for what is no number.
fn parse_double(text: &str) -> Option<f64> {
    let trimmed = text.trim_matches(|character| character <= ' ');
    let unsigned = trimmed.strip_prefix(['+', '-']).unwrap_or(trimmed);
    let sign = if trimmed.starts_with('-') { -1.0 } else { 1.0 };
    match unsigned {
        "NaN" => return Some(f64::NAN),
        "Infinity" => return Some(sign * f64::INFINITY),
        _ => {}
    }
    if !unsigned.starts_with(|first: char| first.is_ascii_digit() || first == '.') {
        return None;
    }
    let number = unsigned.strip_suffix(['f', 'F', 'd', 'D']).unwrap_or(unsigned);
    number.parse::<f64>().ok().map(|number| sign * number)
}

fn path<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::String(text) = args.arg(0) else { return mismatch() };
    if text.is_empty() {
        return Err(failure("Empty Path Template is not allowed."));
    }
    let path = Path::parse(text).ok_or_else(|| {
        failure(format!("Invalid Path Template {}. Empty segment is not allowed.", &**text))
    })?;
    Ok(Value::Path(path))
}

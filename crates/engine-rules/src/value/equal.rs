//! When two values are equal.

use super::Value;

/// `==`: numbers by their value, everything else by type and content.
pub(crate) fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Int(int), Value::Float(float)) | (Value::Float(float), Value::Int(int)) => {
            *int as f64 == *float
        }
        _ => strictly_equal(left, right),
    }
}

/// Equality inside of lists, maps and sets, where an integer is no float.
pub(crate) fn strictly_equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(left), Value::Int(right)) => left == right,
        (Value::Float(left), Value::Float(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Bytes(left), Value::Bytes(right)) => **left == **right,
        (Value::Timestamp(left), Value::Timestamp(right)) => left == right,
        (Value::Duration(left), Value::Duration(right)) => left == right,
        (Value::LatLng(a, b), Value::LatLng(c, d)) => a == c && b == d,
        // A path with captures to be bound equals nothing.
        (Value::Path(left), Value::Path(right)) => match (left.texts(), right.texts()) {
            (Ok(left), Ok(right)) => left == right,
            _ => false,
        },
        (Value::List(left), Value::List(right)) => {
            left.len() == right.len()
                && left.iter().zip(right.iter()).all(|(a, b)| strictly_equal(&a, &b))
        }
        (Value::Set(left), Value::Set(right)) => {
            left.len() == right.len() && left.iter().all(|a| right.iter().any(|b| equal(a, b)))
        }
        (Value::Map(left), Value::Map(right)) => {
            left.len() == right.len()
                && left.entries().iter().all(|(key, value)| {
                    right.get(key).is_some_and(|other| strictly_equal(value, &other))
                })
        }
        (Value::Vector(left), Value::Vector(right)) => **left == **right,
        _ => false,
    }
}

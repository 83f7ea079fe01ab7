//! The total order of values, the one queries sort by, and the equality that goes with it.

use std::cmp::Ordering;

use crate::codec::{self, Scalar};
use crate::resource_path::compare_segments;
use crate::value::{Fields, Value};

/// Classes of values in ascending order; a value of one class sorts before all values of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TypeClass {
    /// Null.
    Null,
    /// Booleans.
    Boolean,
    /// Integers and doubles.
    Number,
    /// Timestamps.
    Timestamp,
    /// Strings.
    String,
    /// Bytes.
    Bytes,
    /// References.
    Reference,
    /// Geo points.
    GeoPoint,
    /// Arrays.
    Array,
    /// Vectors.
    Vector,
    /// Maps.
    Map,
}

/// The class a value belongs to.
pub fn type_class(value: &Value) -> TypeClass {
    match value {
        Value::Null => TypeClass::Null,
        Value::Boolean(_) => TypeClass::Boolean,
        Value::Integer(_) | Value::Double(_) => TypeClass::Number,
        Value::Timestamp(_) => TypeClass::Timestamp,
        Value::String(_) => TypeClass::String,
        Value::Bytes(_) => TypeClass::Bytes,
        Value::Reference(_) => TypeClass::Reference,
        Value::GeoPoint { .. } => TypeClass::GeoPoint,
        Value::Array(_) => TypeClass::Array,
        Value::Vector(_) => TypeClass::Vector,
        Value::Map(_) => TypeClass::Map,
    }
}

/// Compares two values of any types.
///
/// Numbers compare by exact mathematical value across integers and doubles, NaN first and equal to itself,
/// `-0.0` equal to `0`. References compare by database, then segment by segment.
pub fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Array(left), Value::Array(right)) => compare_arrays(left, right),
        (Value::Vector(left), Value::Vector(right)) => compare_vectors(left, right),
        (Value::Map(left), Value::Map(right)) => compare_maps(left, right),
        _ => match (Scalar::of(left), Scalar::of(right)) {
            (Some(left), Some(right)) => compare_scalars(left, right),
            _ => type_class(left).cmp(&type_class(right)),
        },
    }
}

/// Whether two values are equal as queries see it: `1` equals `1.0`, NaN equals NaN.
pub fn equal(left: &Value, right: &Value) -> bool {
    compare(left, right) == Ordering::Equal
}

/// Compares an encoded value (bytes of one `Value` message) with a decoded one, decoding only containers.
/// Bytes that are no value sort before everything.
pub fn compare_encoded(left: &[u8], right: &Value) -> Ordering {
    if let (Some(left), Some(right)) = (codec::scalar(left), Scalar::of(right)) {
        return compare_scalars(left, right);
    }
    match codec::decode_value(left) {
        Ok(left) => compare(&left, right),
        Err(_) => Ordering::Less,
    }
}

/// Compares two scalars of any types.
pub fn compare_scalars(left: Scalar<'_>, right: Scalar<'_>) -> Ordering {
    match (left, right) {
        (Scalar::Null, Scalar::Null) => Ordering::Equal,
        (Scalar::Boolean(left), Scalar::Boolean(right)) => left.cmp(&right),
        (Scalar::Integer(left), Scalar::Integer(right)) => left.cmp(&right),
        (Scalar::Double(left), Scalar::Double(right)) => compare_doubles(left, right),
        (Scalar::Integer(left), Scalar::Double(right)) => compare_integer_double(left, right),
        (Scalar::Double(left), Scalar::Integer(right)) => {
            compare_integer_double(right, left).reverse()
        }
        (Scalar::Timestamp(left), Scalar::Timestamp(right)) => left.cmp(&right),
        (Scalar::String(left), Scalar::String(right)) => left.cmp(right),
        (Scalar::Bytes(left), Scalar::Bytes(right)) => left.cmp(right),
        (Scalar::Reference(left), Scalar::Reference(right)) => compare_references(left, right),
        (
            Scalar::GeoPoint { latitude: left_latitude, longitude: left_longitude },
            Scalar::GeoPoint { latitude: right_latitude, longitude: right_longitude },
        ) => compare_doubles(left_latitude, right_latitude)
            .then_with(|| compare_doubles(left_longitude, right_longitude)),
        (left, right) => left.type_class().cmp(&right.type_class()),
    }
}

/// Compares two doubles: NaN first and equal to itself, `-0.0` equal to `0.0`.
pub fn compare_doubles(left: f64, right: f64) -> Ordering {
    match left.partial_cmp(&right) {
        Some(ordering) => ordering,
        // At least one is NaN, and `false < true` puts the other one behind.
        None => right.is_nan().cmp(&left.is_nan()),
    }
}

/// Compares an integer with a double by exact value, converting neither into the other's precision.
pub fn compare_integer_double(integer: i64, double: f64) -> Ordering {
    /// 2^63, the first double above every integer; its negative is the least integer itself.
    const ABOVE_INTEGERS: f64 = 9_223_372_036_854_775_808.0;
    if double.is_nan() || double < -ABOVE_INTEGERS {
        return Ordering::Greater;
    }
    if double >= ABOVE_INTEGERS {
        return Ordering::Less;
    }
    // Within the range the whole part converts exactly.
    let whole = double.trunc();
    integer.cmp(&(whole as i64)).then_with(|| compare_doubles(whole, double))
}

/// Compares two full resource names: project, database, then the path segment by segment.
pub fn compare_references(left: &str, right: &str) -> Ordering {
    /// `projects`, project, `databases`, database, `documents`: numeric ids only have a meaning after these.
    const FIXED_SEGMENTS: usize = 5;
    if left == right {
        return Ordering::Equal;
    }
    let mut left = left.split('/');
    let mut right = right.split('/');
    let mut index = 0;
    loop {
        let ordering = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(left), Some(right)) if index < FIXED_SEGMENTS => left.cmp(right),
            (Some(left), Some(right)) => compare_segments(left, right),
        };
        if ordering != Ordering::Equal {
            return ordering;
        }
        index += 1;
    }
}

fn compare_arrays(left: &[Value], right: &[Value]) -> Ordering {
    for (left, right) in left.iter().zip(right) {
        match compare(left, right) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    left.len().cmp(&right.len())
}

fn compare_vectors(left: &[f64], right: &[f64]) -> Ordering {
    left.len().cmp(&right.len()).then_with(|| {
        let pairs = left.iter().zip(right);
        pairs.fold(Ordering::Equal, |so_far, (left, right)| {
            so_far.then_with(|| compare_doubles(*left, *right))
        })
    })
}

fn compare_maps(left: &Fields, right: &Fields) -> Ordering {
    for ((left_name, left), (right_name, right)) in left.iter().zip(right) {
        match left_name.cmp(right_name).then_with(|| compare(left, right)) {
            Ordering::Equal => {}
            unequal => return unequal,
        }
    }
    left.len().cmp(&right.len())
}

#[cfg(test)]
mod tests;

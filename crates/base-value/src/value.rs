//! The value model: `Value`, `Fields` and `Timestamp`.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::limits::{TIMESTAMP_SECONDS_MAX, TIMESTAMP_SECONDS_MIN};

/// Named values of a document or a map, sorted by the UTF-8 bytes of the name, which is the canonical order.
pub type Fields = BTreeMap<String, Value>;

/// One Firestore value.
///
/// `==` means *the same stored value*: same type, same content, doubles bit for bit (any NaN is the same
/// NaN). Firestore's own equality, where `1 == 1.0`, is [`crate::order::equal`].
#[derive(Clone, Debug)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Boolean(bool),
    /// A 64-bit integer.
    Integer(i64),
    /// A double; any NaN is the same NaN.
    Double(f64),
    /// A point in time.
    Timestamp(Timestamp),
    /// Text.
    String(String),
    /// Raw bytes.
    Bytes(Bytes),
    /// Full resource name of a document, as it was sent.
    Reference(String),
    /// A point on the globe.
    GeoPoint {
        /// Degrees north, -90 to 90 once validated.
        latitude: f64,
        /// Degrees east, -180 to 180 once validated.
        longitude: f64,
    },
    /// An array.
    Array(Vec<Value>),
    /// A vector for nearest-neighbour search; on the wire a map with the reserved key `__type__`.
    Vector(Vec<f64>),
    /// A map.
    Map(Fields),
}

impl Value {
    /// Whether this is a number that is NaN.
    pub fn is_nan(&self) -> bool {
        matches!(self, Value::Double(number) if number.is_nan())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Boolean(a), Value::Boolean(b)) => a == b,
            (Value::Integer(a), Value::Integer(b)) => a == b,
            (Value::Double(a), Value::Double(b)) => same_double(*a, *b),
            (Value::Timestamp(a), Value::Timestamp(b)) => a == b,
            (Value::String(a), Value::String(b)) | (Value::Reference(a), Value::Reference(b)) => {
                a == b
            }
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (
                Value::GeoPoint { latitude: a_latitude, longitude: a_longitude },
                Value::GeoPoint { latitude: b_latitude, longitude: b_longitude },
            ) => same_double(*a_latitude, *b_latitude) && same_double(*a_longitude, *b_longitude),
            (Value::Array(a), Value::Array(b)) => a == b,
            (Value::Vector(a), Value::Vector(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_double(*a, *b))
            }
            (Value::Map(a), Value::Map(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

fn same_double(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan())
}

/// A point in time: seconds since the Unix epoch and nanoseconds after that second (0 to 999,999,999).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    /// Seconds since 1970-01-01T00:00:00Z, negative before.
    pub seconds: i64,
    /// Nanoseconds after `seconds`, always counted forward.
    pub nanos: i32,
}

impl Timestamp {
    /// The instant that many microseconds after the Unix epoch.
    pub fn from_micros(micros: i64) -> Self {
        let nanos = (micros.rem_euclid(1_000_000) * 1_000) as i32;
        Timestamp { seconds: micros.div_euclid(1_000_000), nanos }
    }

    /// Microseconds since the Unix epoch, rounded toward the past; saturates outside of what i64 holds.
    pub fn to_micros(self) -> i64 {
        self.seconds
            .saturating_mul(1_000_000)
            .saturating_add(i64::from(self.nanos.div_euclid(1_000)))
    }

    /// This instant with sub-microsecond digits dropped, as stored values are.
    pub fn truncated_to_micros(self) -> Self {
        Timestamp { seconds: self.seconds, nanos: self.nanos - self.nanos.rem_euclid(1_000) }
    }

    /// This instant with sub-millisecond digits dropped, as the request time transform is.
    pub fn truncated_to_millis(self) -> Self {
        Timestamp { seconds: self.seconds, nanos: self.nanos - self.nanos.rem_euclid(1_000_000) }
    }

    /// Whether this instant lies in the years 1 to 9999 and its nanoseconds in one second.
    pub fn is_valid(self) -> bool {
        (TIMESTAMP_SECONDS_MIN..=TIMESTAMP_SECONDS_MAX).contains(&self.seconds)
            && (0..1_000_000_000).contains(&self.nanos)
    }
}

#[cfg(test)]
mod tests;

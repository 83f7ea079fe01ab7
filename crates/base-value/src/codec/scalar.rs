//! A borrowed view of values that are no containers, to compare encoded values without allocating.

use super::decode::{geo_point, timestamp};
use super::wire::{Payload, Reader, VECTOR_MARK, number};
use crate::order::TypeClass;
use crate::value::{Timestamp, Value};

/// A value that is not an array, vector or map, borrowing its text or bytes.
#[derive(Clone, Copy, Debug)]
pub enum Scalar<'value> {
    /// Null.
    Null,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A double.
    Double(f64),
    /// A point in time.
    Timestamp(Timestamp),
    /// Text.
    String(&'value str),
    /// Raw bytes.
    Bytes(&'value [u8]),
    /// Full resource name.
    Reference(&'value str),
    /// A point on the globe.
    GeoPoint {
        /// Degrees north.
        latitude: f64,
        /// Degrees east.
        longitude: f64,
    },
}

impl<'value> Scalar<'value> {
    /// The scalar a value is; `None` for containers.
    pub fn of(value: &'value Value) -> Option<Self> {
        Some(match value {
            Value::Null => Scalar::Null,
            Value::Boolean(boolean) => Scalar::Boolean(*boolean),
            Value::Integer(integer) => Scalar::Integer(*integer),
            Value::Double(double) => Scalar::Double(*double),
            Value::Timestamp(timestamp) => Scalar::Timestamp(*timestamp),
            Value::String(text) => Scalar::String(text),
            Value::Bytes(bytes) => Scalar::Bytes(bytes),
            Value::Reference(name) => Scalar::Reference(name),
            Value::GeoPoint { latitude, longitude } => {
                Scalar::GeoPoint { latitude: *latitude, longitude: *longitude }
            }
            Value::Array(_) | Value::Vector(_) | Value::Map(_) => return None,
        })
    }

    /// The class the scalar belongs to.
    pub fn type_class(self) -> TypeClass {
        match self {
            Scalar::Null => TypeClass::Null,
            Scalar::Boolean(_) => TypeClass::Boolean,
            Scalar::Integer(_) | Scalar::Double(_) => TypeClass::Number,
            Scalar::Timestamp(_) => TypeClass::Timestamp,
            Scalar::String(_) => TypeClass::String,
            Scalar::Bytes(_) => TypeClass::Bytes,
            Scalar::Reference(_) => TypeClass::Reference,
            Scalar::GeoPoint { .. } => TypeClass::GeoPoint,
        }
    }
}

/// The scalar an encoded `Value` message holds; `None` for containers and for bytes that are no value or
/// set more than one type.
pub fn scalar(bytes: &[u8]) -> Option<Scalar<'_>> {
    let mut reader = Reader::new(bytes);
    let scalar = match reader.field().ok()?? {
        (number::NULL, Payload::Varint(_)) => Scalar::Null,
        (number::BOOLEAN, Payload::Varint(boolean)) => Scalar::Boolean(boolean != 0),
        (number::INTEGER, Payload::Varint(integer)) => Scalar::Integer(integer as i64),
        (number::DOUBLE, Payload::Fixed64(bits)) => Scalar::Double(f64::from_bits(bits)),
        (number::TIMESTAMP, Payload::Delimited(bytes)) => Scalar::Timestamp(timestamp(bytes).ok()?),
        (number::STRING, Payload::Delimited(bytes)) => Scalar::String(str::from_utf8(bytes).ok()?),
        (number::BYTES, Payload::Delimited(bytes)) => Scalar::Bytes(bytes),
        (number::REFERENCE, Payload::Delimited(bytes)) => {
            Scalar::Reference(str::from_utf8(bytes).ok()?)
        }
        (number::GEO_POINT, Payload::Delimited(bytes)) => {
            let (latitude, longitude) = geo_point(bytes).ok()?;
            Scalar::GeoPoint { latitude, longitude }
        }
        _ => return None,
    };
    matches!(reader.field(), Ok(None)).then_some(scalar)
}

/// The class of an encoded `Value` message in its canonical form; `None` for bytes that are no value.
pub fn type_class(bytes: &[u8]) -> Option<TypeClass> {
    Some(match Reader::new(bytes).field().ok()?? {
        (number::NULL, _) => TypeClass::Null,
        (number::BOOLEAN, _) => TypeClass::Boolean,
        (number::INTEGER | number::DOUBLE, _) => TypeClass::Number,
        (number::TIMESTAMP, _) => TypeClass::Timestamp,
        (number::STRING, _) => TypeClass::String,
        (number::BYTES, _) => TypeClass::Bytes,
        (number::REFERENCE, _) => TypeClass::Reference,
        (number::GEO_POINT, _) => TypeClass::GeoPoint,
        (number::ARRAY, _) => TypeClass::Array,
        (number::MAP, Payload::Delimited(body)) if body.starts_with(VECTOR_MARK) => {
            TypeClass::Vector
        }
        (number::MAP, _) => TypeClass::Map,
        _ => return None,
    })
}

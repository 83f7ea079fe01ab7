//! Bytes to values. Checks structure only; what a stored value may hold is `validate`'s matter.

use bytes::Bytes;
use thiserror::Error;

use super::wire::{
    Payload, Reader, VECTOR_ITEM, VECTOR_ITEM_BYTES, VECTOR_KEY, VECTOR_MARK, number, split_entry,
};
use crate::limits::DECODE_DEPTH_MAX;
use crate::value::{Fields, Timestamp, Value};

/// Why bytes are not a value. Displays the text clients see where one is known (INVALID_ARGUMENT).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// Not the encoding of the message.
    #[error("Payload isn't valid for request.")]
    Malformed,
    /// A text that is not UTF-8.
    #[error("string field contains invalid UTF-8")]
    Utf8,
    /// A value of no type.
    #[error("Cannot convert firestore.v1.Value with type unset.")]
    Unset,
    /// A value that cannot be stored; holds the type's name.
    #[error("Value type is not supported: {0}")]
    Unsupported(&'static str),
    /// A timestamp outside of the years 1 to 9999.
    #[error(
        "timestamp is out of range: seconds must lie in years 1 to 9999, nanos in 0 to 999999999"
    )]
    Timestamp,
    /// More levels of values than the decoder follows.
    #[error("value is nested more than {DECODE_DEPTH_MAX} levels deep")]
    TooDeep,
}

/// Decodes a run of `Document.fields` entries in any order; the last of equal names wins.
pub fn decode_fields(bytes: &[u8]) -> Result<Fields, DecodeError> {
    entries(bytes, number::DOCUMENT_FIELDS, DECODE_DEPTH_MAX)
}

/// Decodes one `Value` message; the last type set wins.
pub fn decode_value(bytes: &[u8]) -> Result<Value, DecodeError> {
    value(bytes, DECODE_DEPTH_MAX)
}

fn entries(bytes: &[u8], field: u64, depth: usize) -> Result<Fields, DecodeError> {
    let mut fields = Fields::new();
    let mut reader = Reader::new(bytes);
    while let Some((number, payload)) = reader.field()? {
        match payload {
            Payload::Delimited(entry) if number == field => {
                let (name, bytes) = split_entry(entry)?;
                let value = value(bytes.ok_or(DecodeError::Unset)?, depth)?;
                fields.insert(text(name)?, value);
            }
            _ if number == field => return Err(DecodeError::Malformed),
            _ => {}
        }
    }
    Ok(fields)
}

fn value(bytes: &[u8], depth: usize) -> Result<Value, DecodeError> {
    let depth = depth.checked_sub(1).ok_or(DecodeError::TooDeep)?;
    let mut reader = Reader::new(bytes);
    let mut last = None;
    while let Some(field) = reader.field()? {
        last = match field {
            (number::NULL, Payload::Varint(_)) => Some(Value::Null),
            (number::BOOLEAN, Payload::Varint(boolean)) => Some(Value::Boolean(boolean != 0)),
            (number::INTEGER, Payload::Varint(integer)) => Some(Value::Integer(integer as i64)),
            (number::DOUBLE, Payload::Fixed64(bits)) => Some(Value::Double(f64::from_bits(bits))),
            (number::TIMESTAMP, Payload::Delimited(bytes)) => {
                Some(Value::Timestamp(timestamp(bytes)?))
            }
            (number::STRING, Payload::Delimited(bytes)) => Some(Value::String(text(bytes)?)),
            (number::BYTES, Payload::Delimited(bytes)) => {
                Some(Value::Bytes(Bytes::copy_from_slice(bytes)))
            }
            (number::REFERENCE, Payload::Delimited(bytes)) => Some(Value::Reference(text(bytes)?)),
            (number::GEO_POINT, Payload::Delimited(bytes)) => {
                let (latitude, longitude) = geo_point(bytes)?;
                Some(Value::GeoPoint { latitude, longitude })
            }
            (number::ARRAY, Payload::Delimited(bytes)) => Some(Value::Array(array(bytes, depth)?)),
            (number::MAP, Payload::Delimited(bytes)) => Some(map(bytes, depth)?),
            (number::FIELD_REFERENCE, _) => {
                return Err(DecodeError::Unsupported("FIELD_REFERENCE_VALUE"));
            }
            (number::FUNCTION, _) => return Err(DecodeError::Unsupported("FUNCTION_VALUE")),
            (number::PIPELINE, _) => return Err(DecodeError::Unsupported("PIPELINE_VALUE")),
            (number::VARIABLE_REFERENCE, _) => {
                return Err(DecodeError::Unsupported("VARIABLE_REFERENCE_VALUE"));
            }
            (number, _) if is_typed(number) => return Err(DecodeError::Malformed),
            _ => last,
        };
    }
    last.ok_or(DecodeError::Unset)
}

/// Whether a field of `Value` has a type that the wire type must agree with.
fn is_typed(number: u64) -> bool {
    matches!(
        number,
        number::NULL
            | number::BOOLEAN
            | number::INTEGER
            | number::DOUBLE
            | number::TIMESTAMP
            | number::STRING
            | number::BYTES
            | number::REFERENCE
            | number::GEO_POINT
            | number::ARRAY
            | number::MAP
    )
}

fn text(bytes: &[u8]) -> Result<String, DecodeError> {
    str::from_utf8(bytes).map(str::to_owned).map_err(|_| DecodeError::Utf8)
}

pub(super) fn timestamp(bytes: &[u8]) -> Result<Timestamp, DecodeError> {
    let mut reader = Reader::new(bytes);
    let mut timestamp = Timestamp::default();
    while let Some(field) = reader.field()? {
        match field {
            (number::FIRST, Payload::Varint(seconds)) => timestamp.seconds = seconds as i64,
            // Protobuf keeps the low half of an int32 that is encoded longer.
            (number::SECOND, Payload::Varint(nanos)) => timestamp.nanos = nanos as i32,
            (number::FIRST | number::SECOND, _) => return Err(DecodeError::Malformed),
            _ => {}
        }
    }
    if timestamp.is_valid() { Ok(timestamp) } else { Err(DecodeError::Timestamp) }
}

pub(super) fn geo_point(bytes: &[u8]) -> Result<(f64, f64), DecodeError> {
    let mut reader = Reader::new(bytes);
    let (mut latitude, mut longitude) = (0.0, 0.0);
    while let Some(field) = reader.field()? {
        match field {
            (number::FIRST, Payload::Fixed64(bits)) => latitude = f64::from_bits(bits),
            (number::SECOND, Payload::Fixed64(bits)) => longitude = f64::from_bits(bits),
            (number::FIRST | number::SECOND, _) => return Err(DecodeError::Malformed),
            _ => {}
        }
    }
    Ok((latitude, longitude))
}

fn array(bytes: &[u8], depth: usize) -> Result<Vec<Value>, DecodeError> {
    let mut values = Vec::new();
    let mut reader = Reader::new(bytes);
    while let Some(field) = reader.field()? {
        match field {
            (number::ITEMS, Payload::Delimited(bytes)) => values.push(value(bytes, depth)?),
            (number::ITEMS, _) => return Err(DecodeError::Malformed),
            _ => {}
        }
    }
    Ok(values)
}

/// A map, or the vector that is spelled as one.
fn map(bytes: &[u8], depth: usize) -> Result<Value, DecodeError> {
    if let Some(components) = canonical_vector(bytes) {
        return Ok(Value::Vector(components));
    }
    let fields = entries(bytes, number::ITEMS, depth)?;
    if fields.len() == 2
        && let Some(Value::String(mark)) = fields.get("__type__")
        && mark == "__vector__"
        && let Some(Value::Array(values)) = fields.get("value")
        && let Some(components) = values.iter().map(as_double).collect()
    {
        return Ok(Value::Vector(components));
    }
    Ok(Value::Map(fields))
}

fn as_double(value: &Value) -> Option<f64> {
    if let Value::Double(double) = value { Some(*double) } else { None }
}

/// Reads the one spelling that `encode` writes, without a map or values in between.
fn canonical_vector(bytes: &[u8]) -> Option<Vec<f64>> {
    let mut reader = Reader::new(bytes.strip_prefix(VECTOR_MARK)?);
    let Ok(Some((number::ITEMS, Payload::Delimited(entry)))) = reader.field() else { return None };
    if !matches!(reader.field(), Ok(None)) {
        return None;
    }
    let mut reader = Reader::new(entry.strip_prefix(VECTOR_KEY)?);
    let Ok(Some((number::ENTRY_VALUE, Payload::Delimited(value)))) = reader.field() else {
        return None;
    };
    if !matches!(reader.field(), Ok(None)) {
        return None;
    }
    let mut reader = Reader::new(value);
    let Ok(Some((number::ARRAY, Payload::Delimited(items)))) = reader.field() else { return None };
    if !matches!(reader.field(), Ok(None)) {
        return None;
    }
    let (items, rest) = items.as_chunks::<VECTOR_ITEM_BYTES>();
    if !rest.is_empty() {
        return None;
    }
    items
        .iter()
        .map(|item| item.strip_prefix(VECTOR_ITEM)?.try_into().ok().map(f64::from_le_bytes))
        .collect()
}

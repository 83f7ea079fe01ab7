//! Values to bytes: one pass measures, one pass writes into a buffer of exactly that size.

use bytes::Bytes;

use super::wire::{VECTOR_ITEM, VECTOR_ITEM_BYTES, VECTOR_KEY, VECTOR_MARK, number};
use crate::value::{Fields, Timestamp, Value};

/// The canonical encoding of a document's fields.
pub fn encode_fields(fields: &Fields) -> Bytes {
    let mut sizes = Sizes::default();
    let length = measure_entries(fields, &mut sizes);
    let mut writer = Writer { out: Vec::with_capacity(length), sizes, next: 0 };
    writer.entries(number::DOCUMENT_FIELDS, fields);
    debug_assert_eq!(writer.out.len(), length, "measured and written lengths differ");
    Bytes::from(writer.out)
}

/// The canonical encoding of one `Value` message.
pub fn encode_value(value: &Value) -> Bytes {
    let mut sizes = Sizes::default();
    let length = measure_value(value, &mut sizes);
    let mut writer = Writer { out: Vec::with_capacity(length), sizes, next: 0 };
    writer.value(value);
    debug_assert_eq!(writer.out.len(), length, "measured and written lengths differ");
    Bytes::from(writer.out)
}

/// Body lengths of arrays and maps in the order the writer meets them, so that none is measured twice.
type Sizes = Vec<usize>;

fn varint_length(value: u64) -> usize {
    let bits = 64 - (value | 1).leading_zeros() as usize;
    bits.div_ceil(7)
}

/// Length of a payload with its length in front.
fn delimited_length(length: usize) -> usize {
    varint_length(length as u64) + length
}

fn measure_entries(fields: &Fields, sizes: &mut Sizes) -> usize {
    let mut total = 0;
    for (name, value) in fields {
        let value = measure_value(value, sizes);
        total += 1 + delimited_length(entry_length(name, value));
    }
    total
}

fn entry_length(name: &str, value: usize) -> usize {
    1 + delimited_length(name.len()) + 1 + delimited_length(value)
}

/// Length of a `Value` message; notes the body lengths of the containers in it.
fn measure_value(value: &Value, sizes: &mut Sizes) -> usize {
    match value {
        Value::Array(values) => {
            let slot = reserve(sizes);
            let mut body = 0;
            for value in values {
                body += 1 + delimited_length(measure_value(value, sizes));
            }
            fill(sizes, slot, body);
            1 + delimited_length(body)
        }
        Value::Map(fields) => {
            let slot = reserve(sizes);
            let body = measure_entries(fields, sizes);
            fill(sizes, slot, body);
            1 + delimited_length(body)
        }
        _ => leaf_length(value, 0),
    }
}

fn reserve(sizes: &mut Sizes) -> usize {
    sizes.push(0);
    sizes.len() - 1
}

fn fill(sizes: &mut Sizes, slot: usize, body: usize) {
    if let Some(size) = sizes.get_mut(slot) {
        *size = body;
    }
}

/// Length of a `Value` message whose container body, if it is a container, has that length.
fn leaf_length(value: &Value, body: usize) -> usize {
    match value {
        Value::Null | Value::Boolean(_) => 2,
        Value::Integer(integer) => 1 + varint_length(*integer as u64),
        Value::Double(_) => 9,
        Value::Timestamp(timestamp) => 1 + delimited_length(timestamp_length(*timestamp)),
        Value::String(text) => 2 + delimited_length(text.len()),
        Value::Bytes(bytes) => 2 + delimited_length(bytes.len()),
        Value::Reference(name) => 1 + delimited_length(name.len()),
        Value::GeoPoint { latitude, longitude } => {
            1 + delimited_length(coordinate_length(*latitude) + coordinate_length(*longitude))
        }
        Value::Vector(components) => 1 + delimited_length(vector_length(components.len())),
        Value::Array(_) | Value::Map(_) => 1 + delimited_length(body),
    }
}

fn timestamp_length(timestamp: Timestamp) -> usize {
    let seconds =
        if timestamp.seconds == 0 { 0 } else { 1 + varint_length(timestamp.seconds as u64) };
    let nanos =
        if timestamp.nanos == 0 { 0 } else { 1 + varint_length(i64::from(timestamp.nanos) as u64) };
    seconds + nanos
}

/// Zero is left out as protobuf does; `-0.0` is not zero here, so that it survives.
fn coordinate_length(degrees: f64) -> usize {
    if degrees.to_bits() == 0 { 0 } else { 9 }
}

/// Lengths inside of a vector's map: the array's body, the array value, the entry.
fn vector_lengths(dimensions: usize) -> (usize, usize, usize) {
    let array = dimensions * VECTOR_ITEM_BYTES;
    let value = 1 + delimited_length(array);
    let entry = VECTOR_KEY.len() + 1 + delimited_length(value);
    (array, value, entry)
}

fn vector_length(dimensions: usize) -> usize {
    let (_, _, entry) = vector_lengths(dimensions);
    VECTOR_MARK.len() + 1 + delimited_length(entry)
}

struct Writer {
    out: Vec<u8>,
    sizes: Sizes,
    next: usize,
}

impl Writer {
    fn entries(&mut self, field: u64, fields: &Fields) {
        for (name, value) in fields {
            let value_length = leaf_length(value, self.peek());
            self.tag(field, 2);
            self.varint(entry_length(name, value_length) as u64);
            self.tag(number::ENTRY_KEY, 2);
            self.delimited(name.as_bytes());
            self.tag(number::ENTRY_VALUE, 2);
            self.varint(value_length as u64);
            self.value(value);
        }
    }

    /// Body length of the container that is written next, if one is.
    fn peek(&self) -> usize {
        self.sizes.get(self.next).copied().unwrap_or(0)
    }

    fn take(&mut self) -> usize {
        let size = self.peek();
        self.next += 1;
        size
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Null => {
                self.tag(number::NULL, 0);
                self.out.push(0);
            }
            Value::Boolean(boolean) => {
                self.tag(number::BOOLEAN, 0);
                self.out.push(u8::from(*boolean));
            }
            Value::Integer(integer) => {
                self.tag(number::INTEGER, 0);
                self.varint(*integer as u64);
            }
            Value::Double(double) => {
                self.tag(number::DOUBLE, 1);
                self.double(*double);
            }
            Value::Timestamp(timestamp) => self.timestamp(*timestamp),
            Value::String(text) => {
                self.tag(number::STRING, 2);
                self.delimited(text.as_bytes());
            }
            Value::Bytes(bytes) => {
                self.tag(number::BYTES, 2);
                self.delimited(bytes);
            }
            Value::Reference(name) => {
                self.tag(number::REFERENCE, 2);
                self.delimited(name.as_bytes());
            }
            Value::GeoPoint { latitude, longitude } => self.geo_point(*latitude, *longitude),
            Value::Array(values) => {
                self.tag(number::ARRAY, 2);
                let body = self.take();
                self.varint(body as u64);
                for value in values {
                    self.tag(number::ITEMS, 2);
                    self.varint(leaf_length(value, self.peek()) as u64);
                    self.value(value);
                }
            }
            Value::Vector(components) => self.vector(components),
            Value::Map(fields) => {
                self.tag(number::MAP, 2);
                let body = self.take();
                self.varint(body as u64);
                self.entries(number::ITEMS, fields);
            }
        }
    }

    fn timestamp(&mut self, timestamp: Timestamp) {
        self.tag(number::TIMESTAMP, 2);
        self.varint(timestamp_length(timestamp) as u64);
        if timestamp.seconds != 0 {
            self.tag(number::FIRST, 0);
            self.varint(timestamp.seconds as u64);
        }
        if timestamp.nanos != 0 {
            self.tag(number::SECOND, 0);
            self.varint(i64::from(timestamp.nanos) as u64);
        }
    }

    fn geo_point(&mut self, latitude: f64, longitude: f64) {
        self.tag(number::GEO_POINT, 2);
        self.varint((coordinate_length(latitude) + coordinate_length(longitude)) as u64);
        for (field, degrees) in [(number::FIRST, latitude), (number::SECOND, longitude)] {
            if coordinate_length(degrees) > 0 {
                self.tag(field, 1);
                self.double(degrees);
            }
        }
    }

    fn vector(&mut self, components: &[f64]) {
        let (array, value, entry) = vector_lengths(components.len());
        self.tag(number::MAP, 2);
        self.varint(vector_length(components.len()) as u64);
        self.out.extend_from_slice(VECTOR_MARK);
        self.tag(number::ITEMS, 2);
        self.varint(entry as u64);
        self.out.extend_from_slice(VECTOR_KEY);
        self.tag(number::ENTRY_VALUE, 2);
        self.varint(value as u64);
        self.tag(number::ARRAY, 2);
        self.varint(array as u64);
        for component in components {
            self.out.extend_from_slice(VECTOR_ITEM);
            self.double(*component);
        }
    }

    fn tag(&mut self, field: u64, wire_type: u64) {
        self.varint(field << 3 | wire_type);
    }

    fn delimited(&mut self, bytes: &[u8]) {
        self.varint(bytes.len() as u64);
        self.out.extend_from_slice(bytes);
    }

    /// Any NaN is written as the same NaN, so that equal values are equal bytes.
    fn double(&mut self, double: f64) {
        let double = if double.is_nan() { f64::NAN } else { double };
        self.out.extend_from_slice(&double.to_bits().to_le_bytes());
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.out.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.out.push(value as u8);
    }
}

//! Index keys of values: bytes whose order is the order of values.
//!
//! The encoding is total (every value has one), equal values are equal bytes (`1` and `1.0`, `0` and `-0.0`),
//! and no encoding is the beginning of another one, so that more can follow it in a key.
//!
//! | value | bytes |
//! |---|---|
//! | null, false, true, NaN | one tag |
//! | number | tag, double rounded down (8), where that is 2^53 or more in size the rest as an integer (2) |
//! | timestamp | tag, seconds (8), nanoseconds (4) |
//! | string, bytes | tag, text |
//! | reference | tag, segments, `0x00` |
//! | geo point | tag, latitude (8), longitude (8) |
//! | array | tag, elements, `0x00` |
//! | vector | tag, dimension (4), components (8 each) |
//! | map | tag, for each entry `0x01`, name as text and value, `0x00` |
//!
//! Numbers are big-endian with the sign flipped (doubles: all bits flipped where negative). Text is bytes with
//! `0x00` written as `0x00 0xFF`, ended by `0x00 0x01`.
//!
//! **Truncation.** An encoding longer than [`INDEX_VALUE_MAX_BYTES`] is cut there. A cut encoding still
//! sorts rightly among all that are not cut, and ties with every other value that begins alike; whoever meets one
//! ([`Encoded::Cut`]) must look at the values themselves.

use crate::codec::{self, Scalar};
pub use crate::limits::INDEX_VALUE_MAX_BYTES;
use crate::order::TypeClass;
use crate::resource_path::numeric_id;
use crate::value::{Timestamp, Value};

/// Whether an encoding says everything about its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Encoded {
    /// All of it: equal bytes are equal values.
    Whole,
    /// The beginning of it: equal bytes are values that begin alike.
    Cut,
}

const NULL: u8 = 0x10;
const FALSE: u8 = 0x18;
const TRUE: u8 = 0x19;
const NAN: u8 = 0x20;
const NUMBER: u8 = 0x21;
const TIMESTAMP: u8 = 0x28;
const STRING: u8 = 0x30;
const BYTES: u8 = 0x38;
const REFERENCE: u8 = 0x40;
const GEO_POINT: u8 = 0x48;
const ARRAY: u8 = 0x50;
const VECTOR: u8 = 0x58;
const MAP: u8 = 0x60;
/// Above every tag.
const AFTER_ALL: u8 = 0x68;

/// Ends arrays, references and maps: below everything that can go on instead.
const CLOSE: u8 = 0x00;
/// Opens an entry of a map.
const ENTRY: u8 = 0x01;
/// Opens a numeric segment of a reference.
const NUMERIC: u8 = 0x01;
/// Opens any other segment of a reference.
const TEXT: u8 = 0x02;
const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xFF;
const END: u8 = 0x01;

/// 2^53: doubles from here on do not tell neighbouring integers apart.
const DENSE_MAX: f64 = 9_007_199_254_740_992.0;

/// Appends the encoding of a value.
pub fn push_value(out: &mut Vec<u8>, value: &Value) -> Encoded {
    let mut writer = Writer::new(out);
    writer.value(value);
    writer.finish()
}

/// Same as [`push_value`] for a value that is no container.
pub fn push_scalar(out: &mut Vec<u8>, scalar: Scalar<'_>) -> Encoded {
    let mut writer = Writer::new(out);
    writer.scalar(scalar);
    writer.finish()
}

/// Same as [`push_value`] for the bytes of one `Value` message, decoding only containers. Appends nothing
/// and answers `None` for bytes that are no value.
pub fn push_encoded(out: &mut Vec<u8>, encoded: &[u8]) -> Option<Encoded> {
    if let Some(scalar) = codec::scalar(encoded) {
        return Some(push_scalar(out, scalar));
    }
    Some(push_value(out, &codec::decode_value(encoded).ok()?))
}

/// The length of the encoding that `bytes` start with, and whether it is whole; `None` where they start with
/// none.
pub fn split(bytes: &[u8]) -> Option<(usize, Encoded)> {
    let window = bytes.get(..INDEX_VALUE_MAX_BYTES).unwrap_or(bytes);
    let mut rest = window;
    match skip_value(&mut rest) {
        Ok(()) => Some((window.len() - rest.len(), Encoded::Whole)),
        Err(Stop::Short) if window.len() == INDEX_VALUE_MAX_BYTES => {
            Some((INDEX_VALUE_MAX_BYTES, Encoded::Cut))
        }
        Err(Stop::Short | Stop::Malformed) => None,
    }
}

/// The number that an encoding is of, which is the same for `1` and `1.0`: `is_double` tells them apart. `None` where it is
/// of something else, or no encoding.
pub fn number(encoding: &[u8], is_double: bool) -> Option<Scalar<'static>> {
    let mut rest = encoding;
    match take(&mut rest).ok()? {
        NAN => Some(Scalar::Double(f64::NAN)),
        NUMBER => {
            let floor = double(take_array(&mut rest).ok()?);
            if is_double {
                return Some(Scalar::Double(floor));
            }
            let rest = match floor.abs() >= DENSE_MAX {
                true => u16::from_be_bytes(take_array(&mut rest).ok()?),
                false => 0,
            };
            let integer = i64::try_from(floor as i128 + i128::from(rest)).ok()?;
            Some(Scalar::Integer(integer))
        }
        _ => None,
    }
}

/// First bytes of the encodings of a class: from the first, inclusive, to the second, exclusive. That of
/// numbers leaves NaN out, which no comparison but that of [`crate::order`] finds.
pub fn class_bounds(class: TypeClass) -> (u8, u8) {
    match class {
        TypeClass::Null => (NULL, FALSE),
        TypeClass::Boolean => (FALSE, NAN),
        TypeClass::Number => (NUMBER, TIMESTAMP),
        TypeClass::Timestamp => (TIMESTAMP, STRING),
        TypeClass::String => (STRING, BYTES),
        TypeClass::Bytes => (BYTES, REFERENCE),
        TypeClass::Reference => (REFERENCE, GEO_POINT),
        TypeClass::GeoPoint => (GEO_POINT, ARRAY),
        TypeClass::Array => (ARRAY, VECTOR),
        TypeClass::Vector => (VECTOR, MAP),
        TypeClass::Map => (MAP, AFTER_ALL),
    }
}

/// Appends bytes as self-delimiting text whose order is that of the bytes.
pub fn push_text(out: &mut Vec<u8>, text: &[u8]) {
    for (index, run) in text.split(|byte| *byte == ESCAPE).enumerate() {
        if index > 0 {
            out.extend_from_slice(&[ESCAPE, ESCAPED_ZERO]);
        }
        out.extend_from_slice(run);
    }
    out.extend_from_slice(&[ESCAPE, END]);
}

/// Appends one encoding, giving up on the rest once it is too long.
struct Writer<'out> {
    out: &'out mut Vec<u8>,
    start: usize,
}

impl<'out> Writer<'out> {
    fn new(out: &'out mut Vec<u8>) -> Self {
        let start = out.len();
        Writer { out, start }
    }

    fn is_full(&self) -> bool {
        self.out.len() - self.start > INDEX_VALUE_MAX_BYTES
    }

    fn finish(self) -> Encoded {
        if self.is_full() {
            self.out.truncate(self.start + INDEX_VALUE_MAX_BYTES);
            return Encoded::Cut;
        }
        Encoded::Whole
    }

    fn value(&mut self, value: &Value) {
        match value {
            Value::Array(values) => {
                self.out.push(ARRAY);
                for value in values {
                    if self.is_full() {
                        return;
                    }
                    self.value(value);
                }
                self.out.push(CLOSE);
            }
            Value::Vector(components) => {
                self.out.push(VECTOR);
                let dimension = u32::try_from(components.len()).unwrap_or(u32::MAX);
                self.out.extend_from_slice(&dimension.to_be_bytes());
                for component in components.iter().take(INDEX_VALUE_MAX_BYTES) {
                    self.double(*component);
                }
            }
            Value::Map(fields) => {
                self.out.push(MAP);
                for (name, value) in fields {
                    if self.is_full() {
                        return;
                    }
                    self.out.push(ENTRY);
                    self.text(name.as_bytes());
                    self.value(value);
                }
                self.out.push(CLOSE);
            }
            _ => {
                if let Some(scalar) = Scalar::of(value) {
                    self.scalar(scalar);
                }
            }
        }
    }

    fn scalar(&mut self, scalar: Scalar<'_>) {
        match scalar {
            Scalar::Null => self.out.push(NULL),
            Scalar::Boolean(false) => self.out.push(FALSE),
            Scalar::Boolean(true) => self.out.push(TRUE),
            Scalar::Integer(integer) => self.integer(integer),
            Scalar::Double(double) if double.is_nan() => self.out.push(NAN),
            Scalar::Double(double) => self.number(double, 0),
            Scalar::Timestamp(Timestamp { seconds, nanos }) => {
                self.out.push(TIMESTAMP);
                self.out.extend_from_slice(&(seconds as u64 ^ 1 << 63).to_be_bytes());
                self.out.extend_from_slice(&(nanos as u32 ^ 1 << 31).to_be_bytes());
            }
            Scalar::String(text) => {
                self.out.push(STRING);
                self.text(text.as_bytes());
            }
            Scalar::Bytes(bytes) => {
                self.out.push(BYTES);
                self.text(bytes);
            }
            Scalar::Reference(name) => self.reference(name),
            Scalar::GeoPoint { latitude, longitude } => {
                self.out.push(GEO_POINT);
                self.double(latitude);
                self.double(longitude);
            }
        }
    }

    fn integer(&mut self, integer: i64) {
        // Rounds to nearest, which may be above the integer; the double below it is what is wanted.
        let mut floor = integer as f64;
        if floor as i128 > i128::from(integer) {
            floor = floor.next_down();
        }
        // Neighbouring doubles of this size are at most 2^10 apart.
        let rest = i128::from(integer) - floor as i128;
        self.number(floor, u16::try_from(rest).unwrap_or(u16::MAX));
    }

    fn number(&mut self, floor: f64, rest: u16) {
        self.out.push(NUMBER);
        self.double(floor);
        if floor.abs() >= DENSE_MAX {
            self.out.extend_from_slice(&rest.to_be_bytes());
        }
    }

    fn double(&mut self, double: f64) {
        // Adding zero turns the negative zero into the other one.
        let bits = (double + 0.0).to_bits();
        let ordered = match (double.is_nan(), bits >> 63) {
            (true, _) => 0,
            (false, 0) => bits ^ 1 << 63,
            (false, _) => !bits,
        };
        self.out.extend_from_slice(&ordered.to_be_bytes());
    }

    fn reference(&mut self, name: &str) {
        /// `projects`, project, `databases`, database, `documents`: only behind these are numbers ids.
        const FIXED_SEGMENTS: usize = 5;
        self.out.push(REFERENCE);
        for (index, segment) in name.split('/').enumerate() {
            if self.is_full() {
                return;
            }
            match numeric_id(segment) {
                Some(number) if index >= FIXED_SEGMENTS => {
                    self.out.push(NUMERIC);
                    self.out.extend_from_slice(&(number as u64 ^ 1 << 63).to_be_bytes());
                }
                _ => {
                    self.out.push(TEXT);
                    self.text(segment.as_bytes());
                }
            }
        }
        self.out.push(CLOSE);
    }

    fn text(&mut self, text: &[u8]) {
        // Whatever is behind this many bytes is cut off anyway, its end included.
        push_text(self.out, text.get(..INDEX_VALUE_MAX_BYTES).unwrap_or(text));
    }
}

/// Why an encoding was not skipped.
enum Stop {
    /// The bytes ended before it.
    Short,
    /// The bytes are none.
    Malformed,
}

/// The double that a number's encoding begins with.
fn double(encoded: [u8; 8]) -> f64 {
    let bits = u64::from_be_bytes(encoded);
    f64::from_bits(if bits >> 63 == 1 { bits ^ 1 << 63 } else { !bits })
}

fn skip_value(rest: &mut &[u8]) -> Result<(), Stop> {
    match take(rest)? {
        NULL | FALSE | TRUE | NAN => Ok(()),
        NUMBER => {
            if double(take_array(rest)?).abs() >= DENSE_MAX {
                skip(rest, 2)
            } else {
                Ok(())
            }
        }
        TIMESTAMP => skip(rest, 12),
        STRING | BYTES => skip_text(rest),
        REFERENCE => loop {
            match take(rest)? {
                CLOSE => return Ok(()),
                NUMERIC => skip(rest, 8)?,
                TEXT => skip_text(rest)?,
                _ => return Err(Stop::Malformed),
            }
        },
        GEO_POINT => skip(rest, 16),
        ARRAY => {
            while *rest.first().ok_or(Stop::Short)? != CLOSE {
                skip_value(rest)?;
            }
            skip(rest, 1)
        }
        VECTOR => {
            let dimension = u32::from_be_bytes(take_array(rest)?);
            skip(rest, usize::try_from(dimension).unwrap_or(usize::MAX).saturating_mul(8))
        }
        MAP => loop {
            match take(rest)? {
                CLOSE => return Ok(()),
                ENTRY => {
                    skip_text(rest)?;
                    skip_value(rest)?;
                }
                _ => return Err(Stop::Malformed),
            }
        },
        _ => Err(Stop::Malformed),
    }
}

fn skip_text(rest: &mut &[u8]) -> Result<(), Stop> {
    loop {
        let zero = rest.iter().position(|byte| *byte == ESCAPE).ok_or(Stop::Short)?;
        skip(rest, zero + 1)?;
        match take(rest)? {
            END => return Ok(()),
            ESCAPED_ZERO => {}
            _ => return Err(Stop::Malformed),
        }
    }
}

fn skip(rest: &mut &[u8], length: usize) -> Result<(), Stop> {
    *rest = rest.get(length..).ok_or(Stop::Short)?;
    Ok(())
}

fn take(rest: &mut &[u8]) -> Result<u8, Stop> {
    let (first, after) = rest.split_first().ok_or(Stop::Short)?;
    *rest = after;
    Ok(*first)
}

fn take_array<const LENGTH: usize>(rest: &mut &[u8]) -> Result<[u8; LENGTH], Stop> {
    let (bytes, after) = rest.split_first_chunk().ok_or(Stop::Short)?;
    *rest = after;
    Ok(*bytes)
}

#[cfg(test)]
mod tests;

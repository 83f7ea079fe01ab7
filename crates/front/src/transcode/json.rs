//! Writes an encoded message as proto3 JSON, straight from its bytes.
//!
//! prost-reflect would do it from a decoded message, in several times the time and with map entries in random order;
//! it writes the well-known types here, and is the oracle in the tests. Map entries keep the order of the bytes.

use std::io::Write as _;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde_json::Value as Json;

use super::wire::{Fields, Malformed, Raw, fixed32, fixed64, varint};
use crate::limits;

/// How JSON is laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// As the official emulator lays it out: two spaces, and lists on the line of their first element.
    Pretty,
    /// No space at all.
    Compact,
}

/// The JSON of a message, without a newline at the end.
///
/// # Errors
///
/// The bytes are not an encoding of the message, or nest deeper than our bound.
pub(crate) fn write(
    message: &MessageDescriptor,
    bytes: &[u8],
    style: Style,
) -> Result<Vec<u8>, Malformed> {
    let mut writer = Writer { out: Vec::with_capacity(bytes.len() * 2 + 16), style, depth: 0 };
    writer.message(message, bytes)?;
    Ok(writer.out)
}

struct Writer {
    out: Vec<u8>,
    style: Style,
    depth: usize,
}

impl Writer {
    fn message(&mut self, message: &MessageDescriptor, bytes: &[u8]) -> Result<(), Malformed> {
        if message.package_name() == "google.protobuf" && message.full_name() != EMPTY {
            return self.well_known(message, bytes);
        }
        let mut fields = Fields(bytes).collect::<Result<Vec<_>, _>>()?;
        fields.sort_by_key(|(number, _)| *number);
        self.open()?;
        let mut first = true;
        for group in fields.chunk_by(|a, b| a.0 == b.0) {
            let known = group.first().and_then(|(number, _)| message.get_field(*number));
            let Some(field) = known else {
                continue;
            };
            self.name(field.json_name(), &mut first)?;
            if field.is_map() {
                self.map(&field, group)?;
            } else if field.is_list() {
                self.list(&field, group)?;
            } else {
                self.single(&field, group)?;
            }
        }
        self.close();
        Ok(())
    }

    /// A field that is not repeated: the last one counts, messages are merged (which concatenation does).
    fn single(
        &mut self,
        field: &FieldDescriptor,
        group: &[(u32, Raw<'_>)],
    ) -> Result<(), Malformed> {
        let kind = field.kind();
        match (&kind, group) {
            (Kind::Message(message), [_, _, ..]) => {
                let mut merged = Vec::new();
                for (_, raw) in group {
                    merged.extend_from_slice(content(*raw)?);
                }
                self.message(message, &merged)
            }
            (_, [.., (_, raw)]) => self.value(&kind, *raw),
            (_, []) => Ok(()),
        }
    }

    fn list(&mut self, field: &FieldDescriptor, group: &[(u32, Raw<'_>)]) -> Result<(), Malformed> {
        let kind = field.kind();
        let mut first = true;
        self.out.push(b'[');
        for (_, raw) in group {
            match (raw, wire_type(&kind)) {
                (Raw::Bytes(packed), Some(wire_type)) => {
                    let mut rest = *packed;
                    while !rest.is_empty() {
                        self.separate(&mut first);
                        let raw = match wire_type {
                            Numeric::Varint => Raw::Varint(varint(&mut rest)?),
                            Numeric::Fixed64 => Raw::Fixed64(fixed64(&mut rest)?),
                            Numeric::Fixed32 => Raw::Fixed32(fixed32(&mut rest)?),
                        };
                        self.value(&kind, raw)?;
                    }
                }
                _ => {
                    self.separate(&mut first);
                    self.value(&kind, *raw)?;
                }
            }
        }
        self.out.push(b']');
        Ok(())
    }

    fn map(&mut self, field: &FieldDescriptor, group: &[(u32, Raw<'_>)]) -> Result<(), Malformed> {
        let Kind::Message(entry) = field.kind() else {
            return Err(Malformed("map"));
        };
        let key_kind = entry.map_entry_key_field().kind();
        let value_kind = entry.map_entry_value_field().kind();
        self.open()?;
        let mut first = true;
        for (_, raw) in group {
            let (mut key, mut value) = (None, None);
            for part in Fields(content(*raw)?) {
                match part? {
                    (1, raw) => key = Some(raw),
                    (2, raw) => value = Some(raw),
                    _ => {}
                }
            }
            let key = key.unwrap_or_else(|| absent(&key_kind));
            self.name(&key_text(&key_kind, key)?, &mut first)?;
            self.value(&value_kind, value.unwrap_or_else(|| absent(&value_kind)))?;
        }
        self.close();
        Ok(())
    }

    fn value(&mut self, kind: &Kind, raw: Raw<'_>) -> Result<(), Malformed> {
        match (kind, raw) {
            (Kind::Message(message), Raw::Bytes(bytes)) => self.message(message, bytes),
            (Kind::String, Raw::Bytes(bytes)) => self.string(text(bytes)?),
            (Kind::Bytes, Raw::Bytes(bytes)) => self.string(&STANDARD.encode(bytes)),
            (Kind::Bool, Raw::Varint(number)) => self.plain(number != 0),
            (Kind::Int32, Raw::Varint(number)) => self.plain(number as i32),
            (Kind::Uint32, Raw::Varint(number)) => self.plain(number as u32),
            (Kind::Sint32, Raw::Varint(number)) => self.plain(zigzag(number) as i32),
            (Kind::Sfixed32, Raw::Fixed32(number)) => self.plain(number as i32),
            (Kind::Fixed32, Raw::Fixed32(number)) => self.plain(number),
            (Kind::Int64, Raw::Varint(number)) => self.quoted(number as i64),
            (Kind::Uint64, Raw::Varint(number)) => self.quoted(number),
            (Kind::Sint64, Raw::Varint(number)) => self.quoted(zigzag(number)),
            (Kind::Sfixed64, Raw::Fixed64(number)) => self.quoted(number as i64),
            (Kind::Fixed64, Raw::Fixed64(number)) => self.quoted(number),
            (Kind::Double, Raw::Fixed64(bits)) => {
                let number = f64::from_bits(bits);
                self.float(number, number)
            }
            (Kind::Float, Raw::Fixed32(bits)) => {
                let number = f32::from_bits(bits);
                self.float(number, f64::from(number))
            }
            (Kind::Enum(of), Raw::Varint(number)) => {
                let number = number as i32;
                match of.get_value(number) {
                    _ if of.full_name() == "google.protobuf.NullValue" => self.plain("null"),
                    Some(value) => self.string(value.name()),
                    None => self.plain(number),
                }
            }
            _ => Err(Malformed("wire type of a field")),
        }
    }

    /// Timestamps, durations, masks, wrappers, structs and `Any` have JSON of their own.
    fn well_known(&mut self, message: &MessageDescriptor, bytes: &[u8]) -> Result<(), Malformed> {
        let message = DynamicMessage::decode(message.clone(), bytes)
            .map_err(|_| Malformed("a well-known type"))?;
        let json = serde_json::to_value(message).map_err(|_| Malformed("a well-known type"))?;
        self.json(&json)
    }

    fn json(&mut self, json: &Json) -> Result<(), Malformed> {
        let mut first = true;
        match json {
            Json::Object(members) => {
                self.open()?;
                for (name, value) in members {
                    self.name(name, &mut first)?;
                    self.json(value)?;
                }
                self.close();
                Ok(())
            }
            Json::Array(items) => {
                self.out.push(b'[');
                for item in items {
                    self.separate(&mut first);
                    self.json(item)?;
                }
                self.out.push(b']');
                Ok(())
            }
            scalar => self.plain(scalar),
        }
    }

    fn float(&mut self, number: impl serde::Serialize, value: f64) -> Result<(), Malformed> {
        match value {
            value if value.is_nan() => self.string("NaN"),
            f64::INFINITY => self.string("Infinity"),
            f64::NEG_INFINITY => self.string("-Infinity"),
            _ => serde_json::to_writer(&mut self.out, &number).map_err(|_| Malformed("number")),
        }
    }

    fn string(&mut self, text: &str) -> Result<(), Malformed> {
        serde_json::to_writer(&mut self.out, text).map_err(|_| Malformed("string"))
    }

    fn plain(&mut self, value: impl std::fmt::Display) -> Result<(), Malformed> {
        write!(self.out, "{value}").map_err(|_| Malformed("value"))
    }

    fn quoted(&mut self, value: impl std::fmt::Display) -> Result<(), Malformed> {
        write!(self.out, "\"{value}\"").map_err(|_| Malformed("value"))
    }

    fn name(&mut self, name: &str, first: &mut bool) -> Result<(), Malformed> {
        if !std::mem::take(first) {
            self.out.push(b',');
        }
        self.new_line();
        self.string(name)?;
        self.out.extend_from_slice(match self.style {
            Style::Pretty => b": ",
            Style::Compact => b":",
        });
        Ok(())
    }

    fn separate(&mut self, first: &mut bool) {
        if !std::mem::take(first) {
            self.out.extend_from_slice(match self.style {
                Style::Pretty => b", ",
                Style::Compact => b",",
            });
        }
    }

    fn open(&mut self) -> Result<(), Malformed> {
        if self.depth == limits::JSON_DEPTH_MAX {
            return Err(Malformed("nested too deeply"));
        }
        self.depth += 1;
        self.out.push(b'{');
        Ok(())
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.new_line();
        self.out.push(b'}');
    }

    fn new_line(&mut self) {
        if self.style == Style::Pretty {
            self.out.push(b'\n');
            self.out.resize(self.out.len() + 2 * self.depth, b' ');
        }
    }
}

/// The one well-known type without JSON of its own.
const EMPTY: &str = "google.protobuf.Empty";

enum Numeric {
    Varint,
    Fixed64,
    Fixed32,
}

/// How a packed element is encoded; `None` for kinds that cannot be packed.
fn wire_type(kind: &Kind) -> Option<Numeric> {
    match kind {
        Kind::Message(_) | Kind::String | Kind::Bytes => None,
        Kind::Double | Kind::Fixed64 | Kind::Sfixed64 => Some(Numeric::Fixed64),
        Kind::Float | Kind::Fixed32 | Kind::Sfixed32 => Some(Numeric::Fixed32),
        Kind::Int32
        | Kind::Int64
        | Kind::Uint32
        | Kind::Uint64
        | Kind::Sint32
        | Kind::Sint64
        | Kind::Bool
        | Kind::Enum(_) => Some(Numeric::Varint),
    }
}

/// What a map entry means that lacks its key or value.
fn absent(kind: &Kind) -> Raw<'static> {
    match wire_type(kind) {
        None => Raw::Bytes(&[]),
        Some(Numeric::Varint) => Raw::Varint(0),
        Some(Numeric::Fixed64) => Raw::Fixed64(0),
        Some(Numeric::Fixed32) => Raw::Fixed32(0),
    }
}

fn key_text(kind: &Kind, raw: Raw<'_>) -> Result<String, Malformed> {
    if let (Kind::String, Raw::Bytes(bytes)) = (kind, raw) {
        return Ok(text(bytes)?.to_owned());
    }
    let mut writer = Writer { out: Vec::new(), style: Style::Compact, depth: 0 };
    writer.value(kind, raw)?;
    Ok(text(&writer.out)?.trim_matches('"').to_owned())
}

fn content(raw: Raw<'_>) -> Result<&[u8], Malformed> {
    match raw {
        Raw::Bytes(bytes) => Ok(bytes),
        _ => Err(Malformed("wire type of a field")),
    }
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed("text"))
}

fn zigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[cfg(test)]
mod tests;

//! Reads proto3 JSON and writes the encoded message, in one pass and as strictly as Google's transcoder.
//!
//! prost-reflect would do it by way of a decoded message, in several times the time; it also takes numbers and times
//! that no message can hold, and does not say which member is at fault. It still reads the well-known types that no
//! request of ours carries.

mod leaf;
mod place;
mod scalar;
mod timestamp;

use std::fmt;

use prost::Message;
use prost::encoding::{WireType, encode_key, encode_varint};
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

use leaf::Leaf;
use place::{Place, Step};

/// The encoding of the message that a JSON text says. `at` is where the message lies in the request.
///
/// # Errors
///
/// What does not fit, in Google's words.
pub(crate) fn decode(
    message: &MessageDescriptor,
    json: &[u8],
    at: &str,
) -> Result<Vec<u8>, String> {
    read(message, json, &Place::new(at, false))
}

fn read(message: &MessageDescriptor, json: &[u8], place: &Place) -> Result<Vec<u8>, String> {
    let mut out = Vec::with_capacity(json.len());
    let mut reader = serde_json::Deserializer::from_slice(json);
    let root = Members { place, message, out: &mut out, is_root: true };
    let read = root.deserialize(&mut reader).and_then(|_| reader.end());
    read.map(|()| out).map_err(|error| place.refusal(&error, json))
}

/// The encoding of a message with one field that a text from a query string or path says.
///
/// # Errors
///
/// As [`decode`].
pub(super) fn decode_text(
    field: &FieldDescriptor,
    text: &str,
    at: &str,
) -> Result<Vec<u8>, String> {
    let leaf = match field.kind() {
        Kind::Bool => scalar::loose_bool(text).map_or_else(|| text.into(), Json::Bool),
        Kind::Message(wrapper) if wrapper.full_name() == "google.protobuf.BoolValue" => {
            scalar::loose_bool(text).map_or_else(|| text.into(), Json::Bool)
        }
        // Google's own clients send the names as the protocol spells them.
        Kind::Message(mask) if mask.full_name() == "google.protobuf.FieldMask" => {
            camel_case(text).into()
        }
        Kind::Enum(_) => text.parse::<i32>().map_or_else(|_| text.into(), Json::from),
        _ => Json::from(text),
    };
    let leaf = if field.is_list() { Json::Array(vec![leaf]) } else { leaf };
    // By the name that messages use, which is also the one that Google's texts about queries use.
    let json = serde_json::json!({ field.name(): leaf }).to_string();
    read(field.parent_message(), json.as_bytes(), &Place::new(at, true))
}

/// Names of fields as JSON spells them: `update_time` is `updateTime`.
fn camel_case(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        match char {
            '_' => spelled.extend(rest.next().map(|next| next.to_ascii_uppercase())),
            char => spelled.push(char),
        }
    }
    spelled
}

/// The error that carries nothing: the text lies in the [`Place`].
fn refuse<E: serde::de::Error>(place: &Place, text: String) -> E {
    place.refuse(text);
    E::custom("refused")
}

/// The refusal of a null among the elements of a list or a map.
fn refuse_null<E: serde::de::Error>(place: &Place, kind: &Kind) -> E {
    refuse(place, place.invalid(&place::kind_type(kind), "null"))
}

/// What a value turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Is {
    Present,
    /// JSON's null, which means that the member is not there.
    Null,
}

/// The members of a message.
struct Members<'a> {
    place: &'a Place,
    message: &'a MessageDescriptor,
    out: &'a mut Vec<u8>,
    is_root: bool,
}

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = Is;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Is, D::Error> {
        reader.deserialize_any(self)
    }
}

impl Members<'_> {
    fn not_a_message<E: serde::de::Error>(&self, shown: String) -> E {
        let text = match self.is_root {
            true => place::ROOT.to_owned(),
            false => self.place.invalid(&place::message_type(self.message), &shown),
        };
        refuse(self.place, text)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Is, A::Error> {
        let mut oneofs: Vec<String> = Vec::new();
        while let Some(name) = members.next_key::<String>()? {
            let field = self
                .message
                .get_field_by_json_name(&name)
                .or_else(|| self.message.get_field_by_name(&name));
            let Some(field) = field else {
                return Err(refuse(self.place, self.place.unknown(&name)));
            };
            self.place.enter(Step::Field(field.clone()));
            let before = self.out.len();
            let is = members.next_value_seed(Member {
                place: self.place,
                field: &field,
                out: self.out,
            })?;
            self.place.leave();
            if is == Is::Null {
                self.out.truncate(before);
                continue;
            }
            if let Some(oneof) = field.containing_oneof() {
                if oneofs.iter().any(|taken| taken == oneof.name()) {
                    return Err(refuse(self.place, self.place.taken(oneof.name(), &name)));
                }
                oneofs.push(oneof.name().to_owned());
            }
        }
        Ok(Is::Present)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        let text = if self.is_root { place::ROOT.to_owned() } else { self.place.not_repeating() };
        Err(refuse(self.place, text))
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Is, E> {
        if self.is_root { Err(self.not_a_message("null".to_owned())) } else { Ok(Is::Null) }
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Is, E> {
        Err(self.not_a_message(value.to_string()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Is, E> {
        Err(self.not_a_message(value.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Is, E> {
        Err(self.not_a_message(value.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Is, E> {
        Err(self.not_a_message(place::shown(value)))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Is, E> {
        Err(self.not_a_message(place::quoted(value)))
    }
}

/// The value of one member, written with its key.
struct Member<'a> {
    place: &'a Place,
    field: &'a FieldDescriptor,
    out: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for Member<'_> {
    type Value = Is;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Is, D::Error> {
        let Member { place, field, out } = self;
        let kind = field.kind();
        let number = field.number();
        if field.is_map() {
            let Kind::Message(entry) = kind else {
                return Err(D::Error::custom("a map without entries"));
            };
            return reader.deserialize_any(Entries { place, number, entry: &entry, out });
        }
        if field.is_list() {
            return reader.deserialize_any(Elements { place, number, kind: &kind, out });
        }
        One { place, number, kind: &kind, out }.deserialize(reader)
    }
}

/// One value with its key.
struct One<'a> {
    place: &'a Place,
    number: u32,
    kind: &'a Kind,
    out: &'a mut Vec<u8>,
}

impl<'de> DeserializeSeed<'de> for One<'_> {
    type Value = Is;

    fn deserialize<D: serde::Deserializer<'de>>(self, reader: D) -> Result<Is, D::Error> {
        let One { place, number, kind, out } = self;
        let Kind::Message(message) = kind else {
            return reader.deserialize_any(Leaf { place, number, kind, out });
        };
        encode_key(number, WireType::LengthDelimited, out);
        let start = out.len();
        let is = match well_known(message) {
            WellKnown::No => {
                Members { place, message, out: &mut *out, is_root: false }.deserialize(reader)?
            }
            WellKnown::Timestamp => {
                reader.deserialize_any(timestamp::Time { place, out: &mut *out })?
            }
            WellKnown::Wrapper(kind) => {
                reader.deserialize_any(leaf::Wrapped { place, kind: &kind, out: &mut *out })?
            }
            WellKnown::Other => {
                let json = <Json as serde::Deserialize>::deserialize(reader)?;
                if json.is_null() && message.name() != "Value" {
                    return Ok(Is::Null);
                }
                let shown = json.to_string();
                let decoded = DynamicMessage::deserialize(message.clone(), json);
                let decoded = decoded.map_err(|_| {
                    refuse(place, place.invalid(&place::message_type(message), &shown))
                })?;
                out.extend_from_slice(&decoded.encode_to_vec());
                Is::Present
            }
        };
        insert_length(out, start);
        Ok(is)
    }
}

/// Puts the length of what stands behind `start` before it.
fn insert_length(out: &mut Vec<u8>, start: usize) {
    let end = out.len();
    encode_varint((end - start) as u64, out);
    let added = out.len() - end;
    if let Some(content) = out.get_mut(start..) {
        content.rotate_right(added);
    }
}

enum WellKnown {
    /// An ordinary message.
    No,
    Timestamp,
    /// A scalar in a message of its own.
    Wrapper(Kind),
    /// Another type that has JSON of its own.
    Other,
}

fn well_known(message: &MessageDescriptor) -> WellKnown {
    if message.package_name() != "google.protobuf" {
        return WellKnown::No;
    }
    match message.name() {
        "Empty" => WellKnown::No,
        "Timestamp" => WellKnown::Timestamp,
        "DoubleValue" | "FloatValue" | "Int64Value" | "UInt64Value" | "Int32Value"
        | "UInt32Value" | "BoolValue" | "StringValue" | "BytesValue" => {
            message.get_field(1).map_or(WellKnown::Other, |value| WellKnown::Wrapper(value.kind()))
        }
        _ => WellKnown::Other,
    }
}

/// The elements of a list, each with its key.
struct Elements<'a> {
    place: &'a Place,
    number: u32,
    kind: &'a Kind,
    out: &'a mut Vec<u8>,
}

impl Elements<'_> {
    fn not_a_list<E: serde::de::Error>(&self, shown: &str) -> E {
        refuse(self.place, self.place.invalid(&place::kind_type(self.kind), shown))
    }
}

impl<'de> Visitor<'de> for Elements<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Is, A::Error> {
        let Elements { place, number, kind, out } = self;
        for index in 0.. {
            place.enter(Step::Index(index));
            let next = elements.next_element_seed(One { place, number, kind, out: &mut *out })?;
            match next {
                Some(Is::Present) => {}
                Some(Is::Null) => return Err(refuse_null(place, kind)),
                None => {
                    place.leave();
                    break;
                }
            }
            place.leave();
        }
        Ok(Is::Present)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Is, E> {
        Ok(Is::Null)
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(self.not_a_list("{...}"))
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Is, E> {
        Err(self.not_a_list(&value.to_string()))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Is, E> {
        Err(self.not_a_list(&value.to_string()))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Is, E> {
        Err(self.not_a_list(&value.to_string()))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Is, E> {
        Err(self.not_a_list(&place::shown(value)))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Is, E> {
        Err(self.not_a_list(&place::quoted(value)))
    }
}

/// The entries of a map, each with its key.
struct Entries<'a> {
    place: &'a Place,
    number: u32,
    entry: &'a MessageDescriptor,
    out: &'a mut Vec<u8>,
}

impl<'de> Visitor<'de> for Entries<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Is, A::Error> {
        let Entries { place, number, entry, out } = self;
        let key_kind = entry.map_entry_key_field().kind();
        let value_kind = entry.map_entry_value_field().kind();
        let mut index = 0;
        while let Some(key) = entries.next_key::<String>()? {
            encode_key(number, WireType::LengthDelimited, out);
            let start = out.len();
            place.enter(Step::Index(index));
            index += 1;
            if scalar::write_text(&key_kind, 1, &key, out).is_none() {
                let text = place.invalid(&place::kind_type(&key_kind), &place::quoted(&key));
                return Err(refuse(place, text));
            }
            place.enter(Step::Field(entry.map_entry_value_field()));
            let value = One { place, number: 2, kind: &value_kind, out: &mut *out };
            if entries.next_value_seed(value)? == Is::Null {
                return Err(refuse_null(place, &value_kind));
            }
            place.leave();
            place.leave();
            insert_length(out, start);
        }
        Ok(Is::Present)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Is, E> {
        Ok(Is::Null)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Is, E> {
        let value_type = place::kind_type(&self.entry.map_entry_value_field().kind());
        Err(refuse(self.place, self.place.invalid(&value_type, &place::quoted(value))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(refuse(self.place, self.place.not_repeating()))
    }
}

#[cfg(test)]
mod tests;

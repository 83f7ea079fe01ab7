//! A document to an entity message, as the official emulator writes it, with the properties sorted by name.

use base_value::{DatabaseName, DocumentName, DocumentPath, Fields, Value, numeric_id};

use super::{
    DEFAULT_DATABASE, ElementNumbers, KEY_ELEMENT, PATH_ELEMENT, REFERENCE_ELEMENT, meaning, number,
};
use crate::error::Unwritable;
use crate::limits::{DEPTH_MAX, RECORD_MAX_BYTES};
use crate::wire::{
    WireType, push_bytes, push_double, push_number, push_tag, push_varint, varint_length,
};

/// The key and the path of an entity inside of a value: both empty.
const NESTED_KEY: &[u8] = &[0x6A, 0x00, 0x72, 0x00];

/// What stands before the project's id.
const APP_MARK: &str = "dev~";

/// Encodes documents of one database.
#[derive(Clone, Debug)]
pub(crate) struct Encoder {
    database: DatabaseName,
}

impl Encoder {
    pub(crate) fn new(database: &DatabaseName) -> Self {
        Encoder { database: database.clone() }
    }

    /// Appends the record of a document.
    pub(crate) fn encode(
        &self,
        path: &DocumentPath,
        fields: &Fields,
        record: &mut Vec<u8>,
    ) -> Result<(), Unwritable> {
        let mut elements = Vec::new();
        push_elements(path, PATH_ELEMENT, KEY_ELEMENT, &mut elements);
        let mut key = Vec::with_capacity(elements.len() + 32);
        push_app(&self.database, &mut key);
        push_bytes(&mut key, number::name::PATH, &elements);
        push_database(&self.database, &mut key);
        let mut root = Vec::new();
        push_first_element(path, &mut root);
        entity(record, &key, fields, &root, DEPTH_MAX)
    }
}

/// Appends an entity: its key, its empty arrays, its other properties, the path of its group.
fn entity(
    out: &mut Vec<u8>,
    key: &[u8],
    fields: &Fields,
    group: &[u8],
    depth: usize,
) -> Result<(), Unwritable> {
    push_bytes(out, number::entity::KEY, key);
    let mut property = Property { out, value: Vec::new() };
    for (name, value) in fields {
        if matches!(value, Value::Array(values) if values.is_empty()) {
            let meaning = Some(meaning::EMPTY_ARRAY);
            property.push(number::entity::PROPERTY, name, meaning, Multiple::No)?;
        }
    }
    for (name, value) in fields {
        property.field(name, value, depth)?;
    }
    push_bytes(out, number::entity::GROUP, group);
    Ok(())
}

/// Whether a property is one of several that make up an array or a vector.
#[derive(Clone, Copy)]
enum Multiple {
    No = 0,
    Yes = 1,
}

/// Appends properties.
struct Property<'out> {
    out: &'out mut Vec<u8>,
    /// The value of the property that is written next.
    value: Vec<u8>,
}

impl Property<'_> {
    /// The properties of one field other than an empty array.
    fn field(&mut self, name: &str, value: &Value, depth: usize) -> Result<(), Unwritable> {
        match value {
            Value::Array(values) => {
                let depth = depth.checked_sub(1).ok_or(Unwritable::TooDeep)?;
                for value in values {
                    if matches!(value, Value::Array(_) | Value::Vector(_)) {
                        return Err(Unwritable::ArrayInArray(name.to_owned()));
                    }
                    self.single(name, value, Multiple::Yes, depth)?;
                }
                Ok(())
            }
            Value::Vector(components) => {
                if components.is_empty() {
                    return Err(Unwritable::VectorEmpty(name.to_owned()));
                }
                for component in components {
                    self.value.clear();
                    push_double(&mut self.value, number::value::DOUBLE, *component);
                    self.raw(name, Some(meaning::VECTOR), Multiple::Yes)?;
                }
                Ok(())
            }
            _ => self.single(name, value, Multiple::No, depth),
        }
    }

    /// The property of a value that has just one.
    fn single(
        &mut self,
        name: &str,
        value: &Value,
        multiple: Multiple,
        depth: usize,
    ) -> Result<(), Unwritable> {
        self.value.clear();
        let out = &mut self.value;
        let meaning = match value {
            Value::Null => None,
            Value::Boolean(boolean) => {
                push_number(out, number::value::BOOLEAN, u64::from(*boolean));
                None
            }
            Value::Integer(integer) => {
                push_number(out, number::value::INTEGER, *integer as u64);
                None
            }
            Value::Double(double) => {
                push_double(out, number::value::DOUBLE, *double);
                None
            }
            Value::Timestamp(timestamp) => {
                push_number(out, number::value::INTEGER, timestamp.to_micros() as u64);
                Some(meaning::TIMESTAMP)
            }
            Value::String(text) => {
                push_bytes(out, number::value::STRING, text.as_bytes());
                None
            }
            Value::Bytes(bytes) => {
                push_bytes(out, number::value::STRING, bytes);
                Some(meaning::BYTES)
            }
            Value::Reference(reference) => {
                let parsed = DocumentName::parse_reference(reference);
                let target = parsed.map_err(|reason| {
                    let (field, reason) = (name.to_owned(), Box::new(reason));
                    Unwritable::Reference { field, reason }
                })?;
                push_reference(&target, out);
                None
            }
            Value::GeoPoint { latitude, longitude } => {
                push_tag(out, number::value::POINT, WireType::GroupStart);
                push_double(out, number::point::X, *latitude);
                push_double(out, number::point::Y, *longitude);
                push_tag(out, number::value::POINT, WireType::GroupEnd);
                Some(meaning::GEO_POINT)
            }
            Value::Map(fields) => {
                let depth = depth.checked_sub(1).ok_or(Unwritable::TooDeep)?;
                let mut nested = Vec::new();
                entity(&mut nested, NESTED_KEY, fields, &[], depth)?;
                push_bytes(out, number::value::STRING, &nested);
                Some(meaning::ENTITY)
            }
            Value::Array(_) | Value::Vector(_) => return self.field(name, value, depth),
        };
        self.raw(name, meaning, multiple)
    }

    fn raw(
        &mut self,
        name: &str,
        meaning: Option<u64>,
        multiple: Multiple,
    ) -> Result<(), Unwritable> {
        self.push(number::entity::RAW_PROPERTY, name, meaning, multiple)
    }

    /// Appends a property with the value that was made.
    fn push(
        &mut self,
        field: u32,
        name: &str,
        meaning: Option<u64>,
        multiple: Multiple,
    ) -> Result<(), Unwritable> {
        let delimited = |length: usize| 1 + varint_length(length as u64) + length;
        let meaning_length = meaning.map_or(0, |meaning| 1 + varint_length(meaning));
        let length = meaning_length + delimited(name.len()) + 2 + delimited(self.value.len());
        if self.out.len() + length > RECORD_MAX_BYTES {
            return Err(Unwritable::TooLong);
        }
        push_tag(self.out, field, WireType::Delimited);
        push_varint(self.out, length as u64);
        if let Some(meaning) = meaning {
            push_number(self.out, number::property::MEANING, meaning);
        }
        push_bytes(self.out, number::property::NAME, name.as_bytes());
        push_number(self.out, number::property::MULTIPLE, multiple as u64);
        push_bytes(self.out, number::property::VALUE, &self.value);
        Ok(())
    }
}

fn push_app(database: &DatabaseName, out: &mut Vec<u8>) {
    let app = [APP_MARK, &database.project].concat();
    push_bytes(out, number::name::APP, app.as_bytes());
}

fn push_database(database: &DatabaseName, out: &mut Vec<u8>) {
    if *database.database != *DEFAULT_DATABASE {
        push_bytes(out, number::name::DATABASE, database.database.as_bytes());
    }
}

fn push_reference(target: &DocumentName, out: &mut Vec<u8>) {
    push_tag(out, number::value::REFERENCE, WireType::GroupStart);
    push_app(&target.database, out);
    push_elements(&target.path, number::name::PATH, REFERENCE_ELEMENT, out);
    push_database(&target.database, out);
    push_tag(out, number::value::REFERENCE, WireType::GroupEnd);
}

/// Appends the groups of a path, each of which has that number.
fn push_elements(path: &DocumentPath, group: u32, numbers: ElementNumbers, out: &mut Vec<u8>) {
    let mut segments = path.segments();
    while let (Some(collection), Some(document)) = (segments.next(), segments.next()) {
        push_element(collection, document, group, numbers, out);
    }
}

fn push_first_element(path: &DocumentPath, out: &mut Vec<u8>) {
    let mut segments = path.segments();
    if let (Some(collection), Some(document)) = (segments.next(), segments.next()) {
        push_element(collection, document, PATH_ELEMENT, KEY_ELEMENT, out);
    }
}

fn push_element(
    collection: &str,
    document: &str,
    group: u32,
    numbers: ElementNumbers,
    out: &mut Vec<u8>,
) {
    push_tag(out, group, WireType::GroupStart);
    push_bytes(out, numbers.collection, collection.as_bytes());
    match numeric_id(document) {
        Some(number) => push_number(out, numbers.id, number as u64),
        None => push_bytes(out, numbers.name, document.as_bytes()),
    }
    push_tag(out, group, WireType::GroupEnd);
}

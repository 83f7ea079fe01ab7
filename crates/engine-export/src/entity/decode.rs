//! An entity message to a document.

use base_value::{
    DatabaseName, DocumentPath, Fields, Timestamp, Value, check_collection_id, check_document_id,
};
use bytes::Bytes;

use super::{
    DEFAULT_DATABASE, ElementNumbers, KEY_ELEMENT, PATH_ELEMENT, REFERENCE_ELEMENT, VECTOR_MARK,
    meaning, number,
};
use crate::documents::Document;
use crate::error::FormatError;
use crate::limits::DEPTH_MAX;
use crate::wire::{Fault, Field, Payload, Span};

/// Why a record is no document.
#[derive(Debug)]
pub(crate) struct EntityError {
    /// The document's path, where it was read before the fault.
    pub(crate) document: Option<String>,
    /// What is wrong and where.
    pub(crate) fault: Fault,
}

/// The database of the document before, which is mostly that of the next.
#[derive(Debug, Default)]
pub(crate) struct Databases {
    last: Option<DatabaseName>,
}

impl Databases {
    fn get(&mut self, project: &str, database: &str) -> DatabaseName {
        match &self.last {
            Some(last) if *last.project == *project && *last.database == *database => last.clone(),
            _ => self.last.insert(DatabaseName::new(project, database)).clone(),
        }
    }
}

/// Decodes one record.
pub(crate) fn decode(record: &[u8], databases: &mut Databases) -> Result<Document, EntityError> {
    let record = Span::whole(record);
    let mut name = None;
    let mut read = || -> Result<Fields, Fault> {
        let mut contents = Fields::new();
        let mut fields = record.fields();
        while let Some(field) = fields.next()? {
            match (field.number, field.payload) {
                (number::entity::KEY, Payload::Delimited(key)) => {
                    let key = full_name(key, Spelling::Key)?;
                    let database = databases.get(key.project, key.database);
                    name = Some(database.document(key.path));
                }
                (number::entity::KEY, _) => return Err(field.wrong_type()),
                _ => property_field(field, &mut contents, DEPTH_MAX)?,
            }
        }
        Ok(contents)
    };
    let read = read();
    match (read, name) {
        (Ok(fields), Some(name)) => Ok(Document { name, fields }),
        (Ok(_), None) => {
            Err(EntityError { document: None, fault: record.fault(FormatError::NoKey) })
        }
        (Err(fault), name) => {
            Err(EntityError { document: name.map(|name| name.path.to_string()), fault })
        }
    }
}

/// The content of an entity inside of a value, whose key means nothing.
fn nested(entity: Span<'_>, depth: usize) -> Result<Value, Fault> {
    let mut contents = Fields::new();
    let mut fields = entity.fields();
    while let Some(field) = fields.next()? {
        property_field(field, &mut contents, depth)?;
    }
    Ok(as_vector(&contents).map_or_else(|| Value::Map(contents), Value::Vector))
}

/// The components, if a map is one of the spellings of a vector: a list under a reserved key, or the map that
/// the protocol has.
fn as_vector(map: &Fields) -> Option<Vec<f64>> {
    let components = match map.len() {
        1 => map.get(VECTOR_MARK)?,
        2 => match map.get("__type__")? {
            Value::String(mark) if mark == VECTOR_MARK => map.get("value")?,
            _ => return None,
        },
        _ => return None,
    };
    let as_double = |value: &Value| match value {
        Value::Double(double) => Some(*double),
        _ => None,
    };
    match components {
        Value::Array(values) => values.iter().map(as_double).collect(),
        single => as_double(single).map(|double| vec![double]),
    }
}

/// Takes a field of an entity that may be a property; anything else is nothing we know.
fn property_field(field: Field<'_>, contents: &mut Fields, depth: usize) -> Result<(), Fault> {
    match (field.number, field.payload) {
        (number::entity::PROPERTY | number::entity::RAW_PROPERTY, Payload::Delimited(property)) => {
            take_property(property, contents, depth)
        }
        (number::entity::PROPERTY | number::entity::RAW_PROPERTY, _) => Err(field.wrong_type()),
        _ => Ok(()),
    }
}

/// Reads a property into a document's or a map's fields. One of an array's elements is appended to those that
/// came before.
fn take_property(property: Span<'_>, contents: &mut Fields, depth: usize) -> Result<(), Fault> {
    let (mut name, mut value, mut meaning, mut is_multiple) = (None, None, None, false);
    let mut fields = property.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (number::property::MEANING, Payload::Varint(number)) => meaning = Some(number),
            (number::property::NAME, Payload::Delimited(text)) => name = Some(text.text()?),
            (number::property::MULTIPLE, Payload::Varint(number)) => is_multiple = number != 0,
            (number::property::VALUE, Payload::Delimited(bytes)) => value = Some(bytes),
            (
                number::property::MEANING
                | number::property::NAME
                | number::property::MULTIPLE
                | number::property::VALUE,
                _,
            ) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    let (Some(name), Some(value)) = (name, value) else {
        return Err(property.fault(FormatError::Malformed("a property without name or value")));
    };
    let place = Place { name, depth, meaning };
    if meaning == Some(meaning::VECTOR) {
        return take_component(place.decode(value)?, property, name, contents);
    }
    let is_element = is_multiple && meaning != Some(meaning::EMPTY_ARRAY);
    let place = if is_element { place.inside(value)? } else { place };
    let decoded = place.decode(value)?;
    match contents.get_mut(name) {
        None => {
            let value = if is_element { Value::Array(vec![decoded]) } else { decoded };
            contents.insert(name.to_owned(), value);
        }
        Some(Value::Array(elements)) if is_element => elements.push(decoded),
        Some(_) => return Err(property.fault(FormatError::Duplicate(name.to_owned()))),
    }
    Ok(())
}

/// Appends one component of a vector.
fn take_component(
    decoded: Value,
    property: Span<'_>,
    name: &str,
    contents: &mut Fields,
) -> Result<(), Fault> {
    let Value::Double(component) = decoded else {
        return Err(property.fault(FormatError::VectorComponent(name.to_owned())));
    };
    match contents.get_mut(name) {
        None => drop(contents.insert(name.to_owned(), Value::Vector(vec![component]))),
        Some(Value::Vector(components)) => components.push(component),
        Some(_) => return Err(property.fault(FormatError::Duplicate(name.to_owned()))),
    }
    Ok(())
}

/// What is known of a value before it is read.
#[derive(Clone, Copy)]
struct Place<'record> {
    name: &'record str,
    meaning: Option<u64>,
    /// How many more levels may follow.
    depth: usize,
}

impl Place<'_> {
    /// The place of what this value holds.
    fn inside(self, value: Span<'_>) -> Result<Self, Fault> {
        let depth = self.depth.checked_sub(1).ok_or_else(|| value.fault(FormatError::TooDeep))?;
        Ok(Place { depth, ..self })
    }

    fn decode(self, value: Span<'_>) -> Result<Value, Fault> {
        let mut last = None;
        let mut unknown = None;
        let mut fields = value.fields();
        while let Some(field) = fields.next()? {
            last = Some(match (field.number, field.payload) {
                (number::value::INTEGER, Payload::Varint(integer)) => {
                    self.integer(integer as i64, value)?
                }
                (number::value::BOOLEAN, Payload::Varint(boolean)) => Value::Boolean(boolean != 0),
                (number::value::DOUBLE, Payload::Fixed64(bits)) => {
                    Value::Double(f64::from_bits(bits))
                }
                (number::value::STRING, Payload::Delimited(bytes)) => self.string(bytes)?,
                (number::value::POINT, Payload::Group(group)) => point(group)?,
                (number::value::REFERENCE, Payload::Group(group)) => reference(group)?,
                (
                    number::value::INTEGER
                    | number::value::BOOLEAN
                    | number::value::DOUBLE
                    | number::value::STRING
                    | number::value::POINT
                    | number::value::REFERENCE,
                    _,
                ) => return Err(field.wrong_type()),
                (number, _) => {
                    unknown = Some(number);
                    continue;
                }
            });
        }
        match (last, unknown) {
            (Some(decoded), _) => Ok(decoded),
            (None, Some(number)) => {
                let field = self.name.to_owned();
                Err(value.fault(FormatError::UnknownValue { field, number }))
            }
            (None, None) if self.meaning == Some(meaning::EMPTY_ARRAY) => Ok(Value::Array(vec![])),
            (None, None) => Ok(Value::Null),
        }
    }

    fn integer(self, integer: i64, value: Span<'_>) -> Result<Value, Fault> {
        if self.meaning != Some(meaning::TIMESTAMP) {
            return Ok(Value::Integer(integer));
        }
        let timestamp = Timestamp::from_micros(integer);
        if timestamp.is_valid() {
            Ok(Value::Timestamp(timestamp))
        } else {
            Err(value.fault(FormatError::Timestamp(self.name.to_owned())))
        }
    }

    /// What stands in the field that texts, bytes and maps share.
    fn string(self, bytes: Span<'_>) -> Result<Value, Fault> {
        match self.meaning {
            Some(meaning::ENTITY) => nested(bytes, self.inside(bytes)?.depth),
            Some(meaning::BYTES | meaning::BYTE_STRING) => {
                Ok(Value::Bytes(Bytes::copy_from_slice(bytes.bytes)))
            }
            None | Some(meaning::TEXT) => Ok(Value::String(bytes.text()?.to_owned())),
            // Datastore has more kinds of text, and may have more kinds of bytes.
            Some(_) => Ok(bytes.text().map_or_else(
                |_| Value::Bytes(Bytes::copy_from_slice(bytes.bytes)),
                |text| Value::String(text.to_owned()),
            )),
        }
    }
}

fn point(group: Span<'_>) -> Result<Value, Fault> {
    let (mut x, mut y) = (None, None);
    let mut fields = group.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (number::point::X, Payload::Fixed64(bits)) => x = Some(f64::from_bits(bits)),
            (number::point::Y, Payload::Fixed64(bits)) => y = Some(f64::from_bits(bits)),
            (number::point::X | number::point::Y, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    match (x, y) {
        (Some(latitude), Some(longitude)) => Ok(Value::GeoPoint { latitude, longitude }),
        _ => Err(group.fault(FormatError::Malformed("a point without one of its coordinates"))),
    }
}

fn reference(group: Span<'_>) -> Result<Value, Fault> {
    let FullName { project, database, path } = full_name(group, Spelling::Reference)?;
    Ok(Value::Reference(format!("projects/{project}/databases/{database}/documents/{path}")))
}

/// Where a name stands, which decides how its path is spelled.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spelling {
    /// In a key: the path is a message of groups.
    Key,
    /// In a reference value: the path's groups are among the other fields.
    Reference,
}

struct FullName<'record> {
    project: &'record str,
    database: &'record str,
    path: DocumentPath,
}

/// Reads a document's name.
fn full_name(name: Span<'_>, spelling: Spelling) -> Result<FullName<'_>, Fault> {
    let (mut app, mut database) = ("", "");
    let mut path = String::new();
    let mut fields = name.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (number::name::APP, Payload::Delimited(text)) => app = text.text()?,
            (number::name::DATABASE, Payload::Delimited(text)) => database = text.text()?,
            (number::name::NAMESPACE, Payload::Delimited(text)) => {
                let namespace = text.text()?;
                if !namespace.is_empty() {
                    return Err(text.fault(FormatError::Namespace(namespace.to_owned())));
                }
            }
            (number::name::PATH, Payload::Delimited(bytes)) if spelling == Spelling::Key => {
                path_elements(bytes, &mut path)?;
            }
            (number::name::PATH, Payload::Group(group)) if spelling == Spelling::Reference => {
                push_element(group, REFERENCE_ELEMENT, &mut path)?;
            }
            (
                number::name::APP
                | number::name::DATABASE
                | number::name::NAMESPACE
                | number::name::PATH,
                _,
            ) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    // The mark in front of the project says which kind of datacentre it is in: `e~`, `s~`, or `dev~` here.
    let project = app.split_once('~').map_or(app, |(_, project)| project);
    if project.is_empty() {
        return Err(name.fault(FormatError::NoProject));
    }
    if path.is_empty() {
        return Err(name.fault(FormatError::IncompleteKey));
    }
    let path = DocumentPath::parse(&path).map_err(|reason| name.fault(reason.into()))?;
    let database = if database.is_empty() { DEFAULT_DATABASE } else { database };
    Ok(FullName { project, database, path })
}

fn path_elements(elements: Span<'_>, path: &mut String) -> Result<(), Fault> {
    let mut fields = elements.fields();
    while let Some(field) = fields.next()? {
        match (field.number, field.payload) {
            (PATH_ELEMENT, Payload::Group(group)) => push_element(group, KEY_ELEMENT, path)?,
            (PATH_ELEMENT, _) => return Err(field.wrong_type()),
            _ => {}
        }
    }
    Ok(())
}

/// Appends a collection's id and a document's.
fn push_element(
    element: Span<'_>,
    numbers: ElementNumbers,
    path: &mut String,
) -> Result<(), Fault> {
    let (mut collection, mut id, mut name) = (None, None, None);
    let mut fields = element.fields();
    while let Some(field) = fields.next()? {
        match field.payload {
            Payload::Delimited(text) if field.number == numbers.collection => {
                collection = Some(text.text()?);
            }
            Payload::Varint(number) if field.number == numbers.id => id = Some(number as i64),
            Payload::Delimited(text) if field.number == numbers.name => name = Some(text.text()?),
            _ if [numbers.collection, numbers.id, numbers.name].contains(&field.number) => {
                return Err(field.wrong_type());
            }
            _ => {}
        }
    }
    let numeric;
    let document = match (name, id) {
        (Some(name), _) => name,
        // No document has the number zero: it stands for a number that is not given yet.
        (None, Some(id)) if id != 0 => {
            numeric = format!("__id{id}__");
            &numeric
        }
        _ => return Err(element.fault(FormatError::IncompleteKey)),
    };
    let collection = collection.ok_or_else(|| element.fault(FormatError::IncompleteKey))?;
    check_collection_id(collection).map_err(|reason| element.fault(reason.into()))?;
    check_document_id(document).map_err(|reason| element.fault(reason.into()))?;
    for segment in [collection, document] {
        if !path.is_empty() {
            path.push('/');
        }
        path.push_str(segment);
    }
    Ok(())
}

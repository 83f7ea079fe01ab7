//! What a stored document may hold: names, nesting, sizes, geo points, references and vectors.

use thiserror::Error;

use crate::limits::{
    DOCUMENT_SIZE_MAX_BYTES, FIELD_NAME_MAX_BYTES, LimitPolicy, NESTED_PATH_MAX_BYTES, NESTING_MAX,
    VALUE_SIZE_MAX_BYTES, VECTOR_DIMENSIONS_MAX,
};
use crate::name::{DocumentName, NameParts};
use crate::name_error::{NameError, NameSubject, is_reserved};
use crate::resource_path::{DocumentPath, numeric_id, segments};
use crate::value::{Fields, Value};

/// The key by which a map says that it stands for something else.
const TYPE_MARK: &str = "__type__";

/// Why a value cannot be stored. Displays the text clients see (INVALID_ARGUMENT).
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ValueError {
    /// A top-level field without a name.
    #[error("The property.name is the empty string.")]
    EmptyName,
    /// A top-level field's name is too long.
    #[error("The property.name is longer than {FIELD_NAME_MAX_BYTES} bytes.")]
    NameTooLong,
    /// A top-level field's name matches `__.*__`.
    #[error("field name {0} is reserved")]
    ReservedName(String),
    /// The name of a field inside of a map matches `__.*__`.
    #[error("field name '{0}' is reserved.")]
    ReservedNestedName(String),
    /// Something inside of that top-level field: nested too deep, or a name or value that is too long.
    #[error("Property {0} contains an invalid nested entity.")]
    InvalidNested(String),
    /// A top-level string or bytes value is too long; holds the field's name.
    #[error("The value of property \"{0}\" is longer than {VALUE_SIZE_MAX_BYTES} bytes.")]
    ValueTooLong(String),
    /// An array directly inside of an array.
    #[error("Cannot convert an array value in an array value.")]
    ArrayInArray,
    /// A vector directly inside of an array.
    #[error("Cannot convert a vector value in an array value.")]
    VectorInArray,
    /// A latitude or longitude off the globe.
    #[error("Geo point {axis} '{degrees}' outside permitted range {range}.")]
    GeoPoint {
        /// `latitude` or `longitude`.
        axis: &'static str,
        /// The number as Java prints it.
        degrees: String,
        /// The permitted range.
        range: &'static str,
    },
    /// A name, of the document or in a reference, that is not a document's or too long.
    #[error(transparent)]
    Name(#[from] NameError),
    /// A vector with something else than doubles in it.
    #[error("Vector must only contain values of type 'double'")]
    VectorComponent,
    /// A vector of no dimension.
    #[error("Cannot have a zero length vector.")]
    VectorEmpty,
    /// A vector with NaN in it.
    #[error("Vector cannot contain NaN values.")]
    VectorNan,
    /// A vector whose components are no array.
    #[error("Vector Value type must be an array.")]
    VectorNotArray,
    /// A map's mark `__type__` that is not a string.
    #[error("Field __type__ is not a string.")]
    MarkNotString,
    /// A vector's map with more than its two keys.
    #[error("Vector Value map has extraneous entries.")]
    VectorExtraneous,
    /// A vector's map without its components.
    #[error("Vector map is missing key 'value'.")]
    VectorMissing,
    /// A vector of too many dimensions.
    #[error("Vectors must be at most {VECTOR_DIMENSIONS_MAX} dimensions.")]
    VectorTooLong,
    /// The document as a whole is too large.
    #[error(
        "Document '{name}' cannot be written because its size ({} bytes) exceeds the maximum \
         allowed size of {} bytes.",
        thousands(*size),
        thousands(DOCUMENT_SIZE_MAX_BYTES)
    )]
    DocumentTooLarge {
        /// The document.
        name: String,
        /// Its size in bytes.
        size: usize,
    },
    /// The operand of a numeric transform is something else.
    #[error("Input must be int64 or double.")]
    OperandNotNumber,
}

/// Checks all of a document: its fields, the lengths in its name, and its size, which is the answer, in bytes.
pub fn check_fields(
    fields: &Fields,
    name: &DocumentName,
    limits: LimitPolicy,
) -> Result<usize, ValueError> {
    check_contents(fields, limits)?;
    name.check_limits()?;
    check_size(fields, name, limits)
}

/// Checks all fields, but not the size of the whole.
///
/// Two passes, as the product has them: what is wrong with any value itself is told before anything that
/// is only too long or too deep.
pub fn check_contents(fields: &Fields, limits: LimitPolicy) -> Result<(), ValueError> {
    check_shapes(fields, limits)?;
    check_all_bounds(fields, limits)
}

/// The first pass: what no request may hold, whatever of it is stored.
pub fn check_shapes(fields: &Fields, limits: LimitPolicy) -> Result<(), ValueError> {
    for (name, value) in fields {
        if is_reserved(name) {
            return Err(ValueError::ReservedName(name.clone()));
        }
        check_shape(value, limits)?;
    }
    Ok(())
}

/// The second pass: what is only wrong with a document that is stored.
pub fn check_all_bounds(fields: &Fields, limits: LimitPolicy) -> Result<(), ValueError> {
    fields.iter().try_for_each(|(name, value)| check_bounds(name, value, limits))
}

/// Checks one value as if it were the top-level field `name`.
pub fn check_value(name: &str, value: &Value, limits: LimitPolicy) -> Result<(), ValueError> {
    check_shape(value, limits)?;
    check_bounds(name, value, limits)
}

/// Checks a value that something is compared with, or that an array may get: only what it is, whatever its
/// length and depth. Arrays in arrays merely cannot be stored, which is no reason to refuse them here.
pub fn check_operand(value: &Value, limits: LimitPolicy) -> Result<(), ValueError> {
    match value {
        Value::Array(values) => values.iter().try_for_each(|value| check_operand(value, limits)),
        Value::Map(fields) => {
            fields.values().try_for_each(|value| check_operand(value, limits))?;
            match check_shape(value, limits) {
                Err(ValueError::ArrayInArray | ValueError::VectorInArray) => Ok(()),
                checked => checked,
            }
        }
        _ => check_shape(value, limits),
    }
}

/// Checks the size of a document; answers it in bytes.
pub fn check_size(
    fields: &Fields,
    name: &DocumentName,
    limits: LimitPolicy,
) -> Result<usize, ValueError> {
    let size = document_size(fields, name);
    if limits.is_above(size, DOCUMENT_SIZE_MAX_BYTES) {
        return Err(ValueError::DocumentTooLarge { name: name.to_string(), size });
    }
    Ok(size)
}

/// Size of a document in bytes as the limit counts it.
pub fn document_size(fields: &Fields, name: &DocumentName) -> usize {
    name_size(&name.path) + fields_size(fields) + 32
}

/// Size of a document's name in bytes as the limits count it.
pub fn name_size(path: &DocumentPath) -> usize {
    path_size(path.segments())
}

/// Drops what is not stored: timestamps lose what is finer than microseconds, rounded toward the past.
pub fn normalize(fields: &mut Fields) {
    fields.values_mut().for_each(normalize_value);
}

/// The same for one value.
pub fn normalize_value(value: &mut Value) {
    match value {
        Value::Timestamp(timestamp) => *timestamp = timestamp.truncated_to_micros(),
        Value::Array(values) => values.iter_mut().for_each(normalize_value),
        Value::Map(fields) => normalize(fields),
        _ => {}
    }
}

/// First pass: what a value is, whatever its length and depth.
fn check_shape(value: &Value, limits: LimitPolicy) -> Result<(), ValueError> {
    match value {
        Value::Null
        | Value::Boolean(_)
        | Value::Integer(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::String(_)
        | Value::Bytes(_) => Ok(()),
        Value::Reference(name) => {
            NameParts::scan(NameSubject::Parent, name)?;
            Ok(())
        }
        Value::GeoPoint { latitude, longitude } => check_geo_point(*latitude, *longitude),
        Value::Vector(components) => match check_vector(components, limits) {
            // Not a number is a number where nothing is stored.
            Err(ValueError::VectorNan) => Ok(()),
            checked => checked,
        },
        Value::Array(values) => values.iter().try_for_each(|value| match value {
            Value::Array(_) => Err(ValueError::ArrayInArray),
            Value::Vector(_) => Err(ValueError::VectorInArray),
            _ => check_shape(value, limits),
        }),
        Value::Map(fields) => {
            check_mark(fields, limits)?;
            fields.iter().try_for_each(|(name, value)| {
                // `check_mark` has left none but marks that the second pass refuses.
                if is_reserved(name) && !fields.contains_key(TYPE_MARK) {
                    return Err(ValueError::ReservedNestedName(name.clone()));
                }
                check_shape(value, limits)
            })
        }
    }
}

/// A map that calls itself a vector is none: the decoder would have read it as one. Any other mark passes
/// here and is refused in the second pass.
fn check_mark(fields: &Fields, limits: LimitPolicy) -> Result<(), ValueError> {
    match fields.get(TYPE_MARK) {
        None => Ok(()),
        Some(Value::String(mark)) if mark != "__vector__" => Ok(()),
        Some(Value::String(_)) => Err(match fields.get("value") {
            None => ValueError::VectorMissing,
            Some(Value::Array(_)) if fields.len() > 2 => ValueError::VectorExtraneous,
            Some(Value::Array(values)) if limits.is_above(values.len(), VECTOR_DIMENSIONS_MAX) => {
                ValueError::VectorTooLong
            }
            Some(Value::Array(_)) => ValueError::VectorComponent,
            Some(_) => ValueError::VectorNotArray,
        }),
        Some(_) => Err(ValueError::MarkNotString),
    }
}

/// Second pass: names, lengths and depth of the top-level field `name`.
fn check_bounds(name: &str, value: &Value, limits: LimitPolicy) -> Result<(), ValueError> {
    if name.is_empty() {
        return Err(ValueError::EmptyName);
    }
    if name.len() > FIELD_NAME_MAX_BYTES {
        return Err(ValueError::NameTooLong);
    }
    // Elements of a top-level array count as values of the field itself, with its own texts.
    if let Value::Array(values) = value {
        return values.iter().try_for_each(|value| check_top_value(name, value, 1, limits));
    }
    check_top_value(name, value, 0, limits)
}

/// One value of a top-level field, in no map.
fn check_top_value(
    name: &str,
    value: &Value,
    enclosing: usize,
    limits: LimitPolicy,
) -> Result<(), ValueError> {
    match value {
        Value::String(_) | Value::Bytes(_)
            if limits.is_above(payload_length(value), VALUE_SIZE_MAX_BYTES) =>
        {
            Err(ValueError::ValueTooLong(name.to_owned()))
        }
        Value::Reference(reference) => {
            NameParts::scan(NameSubject::Parent, reference)?.check_limits()?;
            Ok(())
        }
        Value::Vector(_) if has_nan(value) => Err(ValueError::VectorNan),
        _ if has_nan(value) => Err(ValueError::InvalidNested(name.to_owned())),
        _ if is_bounded(value, enclosing, name.len(), limits) => Ok(()),
        _ => Err(ValueError::InvalidNested(name.to_owned())),
    }
}

/// Whether a vector in a value has a component that is not a number. Depth is bounded by that of decoding.
fn has_nan(value: &Value) -> bool {
    match value {
        Value::Vector(components) => components.iter().any(|component| component.is_nan()),
        Value::Array(values) => values.iter().any(has_nan),
        Value::Map(fields) => fields.values().any(has_nan),
        _ => false,
    }
}

/// Whether everything in a value that has so many containers around it is short and shallow enough. `path` is the
/// length of the path to it.
fn is_bounded(value: &Value, enclosing: usize, path: usize, limits: LimitPolicy) -> bool {
    if limits.is_above(enclosing, NESTING_MAX) {
        return false;
    }
    match value {
        Value::Null
        | Value::Boolean(_)
        | Value::Integer(_)
        | Value::Double(_)
        | Value::Timestamp(_)
        | Value::GeoPoint { .. }
        | Value::Vector(_) => true,
        Value::String(_) | Value::Bytes(_) => {
            !limits.is_above(payload_length(value), VALUE_SIZE_MAX_BYTES)
        }
        Value::Reference(name) => NameParts::scan(NameSubject::Parent, name)
            .and_then(|parts| parts.check_limits())
            .is_ok(),
        Value::Array(values) => {
            values.iter().all(|value| is_bounded(value, enclosing + 1, path, limits))
        }
        // Even an empty map counts as a level, an empty array does not.
        Value::Map(fields) => {
            !limits.is_above(enclosing + 1, NESTING_MAX)
                && fields.iter().all(|(name, value)| {
                    !name.is_empty()
                        && !is_reserved(name)
                        && path + 1 + name.len() <= NESTED_PATH_MAX_BYTES
                        && is_bounded(value, enclosing + 1, path + 1 + name.len(), limits)
                })
        }
    }
}

/// Checks the components of a vector.
pub fn check_vector(components: &[f64], limits: LimitPolicy) -> Result<(), ValueError> {
    if components.is_empty() {
        return Err(ValueError::VectorEmpty);
    }
    if limits.is_above(components.len(), VECTOR_DIMENSIONS_MAX) {
        return Err(ValueError::VectorTooLong);
    }
    if components.iter().any(|component| component.is_nan()) {
        return Err(ValueError::VectorNan);
    }
    Ok(())
}

fn check_geo_point(latitude: f64, longitude: f64) -> Result<(), ValueError> {
    let refuse = |axis, degrees, range| {
        Err(ValueError::GeoPoint { axis, degrees: java_double(degrees), range })
    };
    if !(-90.0..=90.0).contains(&latitude) {
        return refuse("latitude", latitude, "-90.0 to 90.0");
    }
    if !(-180.0..=180.0).contains(&longitude) {
        return refuse("longitude", longitude, "-180.0 to 180.0");
    }
    Ok(())
}

fn payload_length(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        _ => 0,
    }
}

fn fields_size(fields: &Fields) -> usize {
    fields.iter().map(|(name, value)| name.len() + 1 + value_size(value)).sum()
}

/// Size of a value in bytes as the limits count it.
pub fn value_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Boolean(_) => 1,
        Value::Integer(_) | Value::Double(_) | Value::Timestamp(_) => 8,
        Value::GeoPoint { .. } => 16,
        Value::String(text) => text.len() + 1,
        Value::Bytes(bytes) => bytes.len(),
        Value::Reference(name) => {
            let path = name.split_once("/documents/").map_or("", |(_, path)| path);
            path_size(segments(path))
        }
        // Empty containers take the place of a null.
        Value::Array(values) => values.iter().map(value_size).sum::<usize>().max(1),
        Value::Vector(components) => 8 * components.len(),
        Value::Map(fields) => fields_size(fields).max(1),
    }
}

fn path_size<'path>(segments: impl Iterator<Item = &'path str>) -> usize {
    let segment_size =
        |segment: &str| if numeric_id(segment).is_some() { 8 } else { segment.len() + 1 };
    segments.map(segment_size).sum::<usize>() + 16
}

/// A number with a comma between every three digits.
fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A double as Java prints it: always with a fraction, and with an exponent outside of 0.001 to 10,000,000.
fn java_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let magnitude = number.abs();
    if magnitude == 0.0 || (1e-3..1e7).contains(&magnitude) {
        return format!("{number:?}");
    }
    let scientific = format!("{number:E}");
    match scientific.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => scientific,
    }
}

#[cfg(test)]
mod tests;

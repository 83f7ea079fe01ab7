//! Writes as they arrive: decoded, validated, and checked to belong to the request's database.

use std::collections::HashMap;

use base_env::UnixMicros;
use base_value::{
    DatabaseName, DocumentName, FieldPath, Fields, LimitPolicy, Value, codec, validate,
};
use base_wire::google::firestore::v1 as wire;
use base_wire::{WireDocument, WireValue};
use wire::document_transform::FieldTransform;
use wire::document_transform::field_transform::{ServerValue, TransformType};
use wire::precondition::ConditionType;
use wire::write::Operation;

use super::times;
use crate::error::Error;
use crate::limits::TRANSFORMS_PER_DOCUMENT_MAX;
use crate::ops::writes::{Action, Precondition, Transform, TransformOp, Write};

/// Decodes the writes of one request.
///
/// # Errors
/// The first fault, with the text clients of production see.
pub(crate) fn writes(
    database: &DatabaseName,
    writes: Vec<wire::Write>,
    limits: LimitPolicy,
) -> Result<Vec<Write>, Error> {
    let writes = writes.into_iter().map(|one| write(database, one, limits));
    let writes: Vec<Write> = writes.collect::<Result<_, _>>()?;
    check_transforms(&writes, limits)?;
    Ok(writes)
}

/// Counts the transforms of each document, over all writes of the request.
fn check_transforms(writes: &[Write], limits: LimitPolicy) -> Result<(), Error> {
    let all: usize = writes.iter().map(|write| write.transforms.len()).sum();
    if !limits.is_above(all, TRANSFORMS_PER_DOCUMENT_MAX) {
        return Ok(());
    }
    let mut counts: HashMap<&DocumentName, usize> = HashMap::new();
    for write in writes {
        let count = counts.entry(&write.name).or_default();
        *count += write.transforms.len();
        if *count > TRANSFORMS_PER_DOCUMENT_MAX {
            return Err(Error::invalid(format!(
                "cannot have more than {TRANSFORMS_PER_DOCUMENT_MAX} field transforms on a single document"
            )));
        }
    }
    Ok(())
}

fn write(database: &DatabaseName, write: wire::Write, limits: LimitPolicy) -> Result<Write, Error> {
    let precondition = precondition(write.current_document)?;
    let transforms = transforms(write.update_transforms, limits)?;
    match write.operation {
        None => Err(Error::invalid("empty write operation")),
        Some(Operation::Update(document)) => {
            let name = name_in(database, &document.name)?;
            let fields = fields(&document, &name, limits)?;
            let mask = write.update_mask.map(|mask| field_paths(&mask.field_paths)).transpose()?;
            check_stored(&fields, mask.as_deref(), limits)?;
            let action = match mask {
                None => Action::Set(fields),
                Some(mask) => Action::Patch { mask, fields },
            };
            Ok(Write { name, action, precondition, transforms })
        }
        Some(Operation::Delete(name)) => {
            bare("delete", &write.update_mask, &transforms)?;
            let name = name_in(database, &name)?;
            Ok(Write { name, action: Action::Delete, precondition, transforms })
        }
        Some(Operation::Verify(name)) => {
            bare("verify", &write.update_mask, &transforms)?;
            if precondition == Precondition::None {
                return Err(Error::invalid("a verify must contain a precondition"));
            }
            let name = name_in(database, &name)?;
            Ok(Write { name, action: Action::Verify, precondition, transforms })
        }
        Some(Operation::Transform(transform)) => {
            bare("transform", &write.update_mask, &transforms)?;
            if transform.field_transforms.is_empty() {
                return Err(Error::invalid("The list of FieldTransform must not be empty."));
            }
            let name = name_in(database, &transform.document)?;
            name.check_limits()?;
            let transforms = self::transforms(transform.field_transforms, limits)?;
            let action = Action::Patch { mask: Vec::new(), fields: Fields::new() };
            Ok(Write { name, action, precondition, transforms })
        }
    }
}

/// Deletes, verifies and the old form of a transform carry no mask and no transforms beside them.
fn bare(
    kind: &str,
    mask: &Option<wire::DocumentMask>,
    transforms: &[Transform],
) -> Result<(), Error> {
    if mask.is_some() {
        return Err(Error::invalid(format!("a {kind} must not specify a document mask.")));
    }
    if !transforms.is_empty() {
        return Err(Error::invalid(format!("a {kind} must not specify a update transform.")));
    }
    Ok(())
}

/// Parses a document name that has to lie in the request's database.
pub(crate) fn name_in(database: &DatabaseName, name: &str) -> Result<DocumentName, Error> {
    let name = DocumentName::parse(name)?;
    check_database(database, &name.database)?;
    Ok(name)
}

/// Refuses a name of another database than the request's.
pub(crate) fn check_database(requested: &DatabaseName, other: &DatabaseName) -> Result<(), Error> {
    if requested == other {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "The request was for database '{requested}' but was attempting to access database '{other}'"
    )))
}

/// The fields of a document that is to be written. What of them is stored, and whether that is too long or
/// too deep, is a matter of each write.
pub(crate) fn fields(
    document: &WireDocument,
    name: &DocumentName,
    limits: LimitPolicy,
) -> Result<Fields, Error> {
    let mut fields = codec::decode_fields(&document.fields)?;
    validate::normalize(&mut fields);
    validate::check_shapes(&fields, limits)?;
    name.check_limits()?;
    Ok(fields)
}

/// Checks what of a document's fields is stored: all of them, or those that a mask names.
pub(crate) fn check_stored(
    fields: &Fields,
    mask: Option<&[FieldPath]>,
    limits: LimitPolicy,
) -> Result<(), Error> {
    let all = validate::check_all_bounds(fields, limits);
    let (Err(_), Some(mask)) = (&all, mask) else { return Ok(all?) };
    let mut stored = Fields::new();
    for path in mask {
        if let Some(value) = path.get(fields) {
            path.set(&mut stored, value.clone());
        }
    }
    Ok(validate::check_all_bounds(&stored, limits)?)
}

/// Parses the paths of a mask.
pub(crate) fn field_paths(paths: &[String]) -> Result<Vec<FieldPath>, Error> {
    paths.iter().map(|path| FieldPath::parse(path).map_err(Error::from)).collect()
}

/// Decodes a precondition; one without a condition is none.
pub(crate) fn precondition(
    precondition: Option<wire::Precondition>,
) -> Result<Precondition, Error> {
    match precondition.and_then(|precondition| precondition.condition_type) {
        None => Ok(Precondition::None),
        Some(ConditionType::Exists(exists)) => Ok(Precondition::Exists(exists)),
        Some(ConditionType::UpdateTime(time)) => {
            let UnixMicros(micros) = times::whole_micros(time)?;
            Ok(Precondition::UpdateTime(UnixMicros(micros)))
        }
    }
}

fn transforms(
    transforms: Vec<FieldTransform>,
    limits: LimitPolicy,
) -> Result<Vec<Transform>, Error> {
    let transforms = transforms.into_iter().map(|one| transform(one, limits));
    let transforms: Vec<_> = transforms.collect::<Result<_, _>>()?;
    // In this order a path stands right before the first of those that it is a prefix of.
    let mut fields: Vec<_> = transforms.iter().map(|transform| &transform.field).collect();
    fields.sort_unstable_by_key(|field| field.segments());
    fields.dedup();
    let mut pairs = fields.iter().zip(fields.iter().skip(1));
    if let Some((outer, _)) = pairs.find(|(outer, inner)| outer.is_prefix_of(inner)) {
        return Err(Error::invalid(format!(
            "Cannot transform property {outer} and its nested property at the same time."
        )));
    }
    Ok(transforms)
}

fn transform(transform: FieldTransform, limits: LimitPolicy) -> Result<Transform, Error> {
    let field = FieldPath::parse(&transform.field_path)?;
    let op = match transform.transform_type {
        None => {
            return Err(Error::invalid(
                "Operation type must be specified for field transformation.",
            ));
        }
        Some(TransformType::SetToServerValue(value)) => match ServerValue::try_from(value) {
            Ok(ServerValue::RequestTime) => TransformOp::RequestTime,
            Ok(ServerValue::Unspecified) | Err(_) => {
                return Err(Error::invalid(
                    "ServerValue type must be specified for set_to_server_value transformation.",
                ));
            }
        },
        Some(TransformType::Increment(by)) => TransformOp::Increment(number(&by)?),
        Some(TransformType::Maximum(other)) => TransformOp::Maximum(number(&other)?),
        Some(TransformType::Minimum(other)) => TransformOp::Minimum(number(&other)?),
        Some(TransformType::AppendMissingElements(array)) => {
            TransformOp::Append(elements(&array.values, limits)?)
        }
        Some(TransformType::RemoveAllFromArray(array)) => {
            TransformOp::Remove(elements(&array.values, limits)?)
        }
    };
    Ok(Transform { field, op })
}

fn number(value: &WireValue) -> Result<Value, Error> {
    match codec::decode_value(&value.raw) {
        Ok(value @ (Value::Integer(_) | Value::Double(_))) => Ok(value),
        Ok(_) | Err(_) => Err(Error::invalid("Input must be int64 or double.")),
    }
}

/// The elements of an array transform. What is too long or too deep is told of the document that comes of
/// them (observed on the official emulator).
fn elements(values: &[WireValue], limits: LimitPolicy) -> Result<Vec<Value>, Error> {
    let element = |value: &WireValue| {
        let mut value = codec::decode_value(&value.raw)?;
        validate::normalize_value(&mut value);
        validate::check_operand(&value, limits)?;
        Ok(value)
    };
    values.iter().map(element).collect()
}

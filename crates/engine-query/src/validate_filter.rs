//! Refuses single filters: operators that do not fit their field or their operand.

use base_value::{DatabaseName, FieldPath, LimitPolicy, Value, validate};

use crate::error::QueryError;
use crate::filter::elements;
use crate::limits::{FILTER_DEPTH_MAX, FILTER_VALUE_MAX_BYTES, IN_VALUES_MAX, NOT_IN_VALUES_MAX};
use crate::model::{CompositeOp, FieldOp, Filter};
use crate::name_key;

/// Checks a filter and all its parts.
pub(crate) fn check_filter(
    filter: &Filter,
    database: &DatabaseName,
    limits: LimitPolicy,
) -> Result<(), QueryError> {
    check_part(filter, database, limits, FILTER_DEPTH_MAX)
}

fn check_part(
    filter: &Filter,
    database: &DatabaseName,
    limits: LimitPolicy,
    depth: usize,
) -> Result<(), QueryError> {
    let depth = depth.checked_sub(1).ok_or(QueryError::FilterDepth)?;
    match filter {
        Filter::Composite { op: CompositeOp::Or, filters } if filters.is_empty() => {
            Err(QueryError::EmptyOr)
        }
        Filter::Composite { filters, .. } => {
            filters.iter().try_for_each(|part| check_part(part, database, limits, depth))
        }
        Filter::Unary { field, .. } if field.is_name() => Err(QueryError::NameNotReference),
        Filter::Unary { .. } => Ok(()),
        Filter::Field { field, op, value } => {
            check_list(*op, value, limits)?;
            if field.is_name() {
                check_name(*op, value, database)
            } else {
                check_operand(field, *op, value, limits)
            }
        }
    }
}

fn check_list(op: FieldOp, value: &Value, limits: LimitPolicy) -> Result<(), QueryError> {
    let limit = match op {
        FieldOp::In | FieldOp::ArrayContainsAny => IN_VALUES_MAX,
        FieldOp::NotIn => NOT_IN_VALUES_MAX,
        FieldOp::LessThan
        | FieldOp::LessThanOrEqual
        | FieldOp::GreaterThan
        | FieldOp::GreaterThanOrEqual
        | FieldOp::Equal
        | FieldOp::NotEqual
        | FieldOp::ArrayContains => return Ok(()),
    };
    let Value::Array(values) = value else { return Err(QueryError::ListRequired(op.name())) };
    if values.is_empty() {
        return Err(QueryError::ListEmpty(op.name()));
    }
    if limits.is_above(values.len(), limit) {
        return Err(QueryError::ListLong(op.name(), limit));
    }
    Ok(())
}

fn check_name(op: FieldOp, value: &Value, database: &DatabaseName) -> Result<(), QueryError> {
    match op {
        FieldOp::ArrayContains | FieldOp::ArrayContainsAny => Err(QueryError::NameReserved),
        FieldOp::In | FieldOp::NotIn => elements(value)
            .iter()
            .try_for_each(|value| name_key::operand_path(value, database).map(|_| ())),
        FieldOp::LessThan
        | FieldOp::LessThanOrEqual
        | FieldOp::GreaterThan
        | FieldOp::GreaterThanOrEqual
        | FieldOp::Equal
        | FieldOp::NotEqual => name_key::operand_path(value, database).map(|_| ()),
    }
}

fn check_operand(
    field: &FieldPath,
    op: FieldOp,
    value: &Value,
    limits: LimitPolicy,
) -> Result<(), QueryError> {
    let is_member = matches!(op, FieldOp::ArrayContains | FieldOp::ArrayContainsAny);
    let values = match op {
        FieldOp::In | FieldOp::NotIn | FieldOp::ArrayContainsAny => elements(value),
        FieldOp::LessThan
        | FieldOp::LessThanOrEqual
        | FieldOp::GreaterThan
        | FieldOp::GreaterThanOrEqual
        | FieldOp::Equal
        | FieldOp::NotEqual
        | FieldOp::ArrayContains => std::slice::from_ref(value),
    };
    for value in values {
        if limits.is_above(validate::value_size(value), FILTER_VALUE_MAX_BYTES) {
            let suffix = if is_member { "[*]" } else { "" };
            return Err(QueryError::FilterValueLong(plain(field) + suffix));
        }
        check_value(value, limits)?;
    }
    Ok(())
}

/// Checks a value that is compared with a field. Shapes that merely cannot be stored match nothing, which
/// is no reason to refuse them.
pub(crate) fn check_value(value: &Value, limits: LimitPolicy) -> Result<(), QueryError> {
    Ok(validate::check_operand(value, limits)?)
}

/// A field path as messages about queries print it: nothing quoted, and the name by its internal word.
pub(crate) fn plain(field: &FieldPath) -> String {
    if field.is_name() { "__key__".to_owned() } else { field.segments().join(".") }
}

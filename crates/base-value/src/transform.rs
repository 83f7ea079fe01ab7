//! What the field transforms make of a value.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::order;
use crate::validate::ValueError;
use crate::value::Value;

/// The sum of the current value and a number. Not a number, or nothing: the operand itself. Integers saturate.
pub fn increment(current: Option<&Value>, operand: &Value) -> Result<Value, ValueError> {
    let operand = Number::operand(operand)?;
    Ok(match (current.and_then(Number::of), operand) {
        (None, operand) => operand.into_value(),
        (Some(Number::Integer(current)), Number::Integer(operand)) => {
            Value::Integer(current.saturating_add(operand))
        }
        (Some(current), operand) => Value::Double(current.as_double() + operand.as_double()),
    })
}

/// The larger of the current value and a number; the current one if they are equal, NaN if either is.
pub fn maximum(current: Option<&Value>, operand: &Value) -> Result<Value, ValueError> {
    choose(current, operand, Ordering::Greater)
}

/// The smaller of the current value and a number; the current one if they are equal, NaN if either is.
pub fn minimum(current: Option<&Value>, operand: &Value) -> Result<Value, ValueError> {
    choose(current, operand, Ordering::Less)
}

/// The current array with those elements appended that it lacks, each once. Not an array: an empty one first.
pub fn append_missing_elements(current: Option<&Value>, elements: &[Value]) -> Value {
    let mut array = current_array(current);
    let mut missing: BTreeSet<Ordered<'_>> = elements.iter().map(Ordered).collect();
    for present in &array {
        missing.remove(&Ordered(present));
    }
    let appended: Vec<Value> =
        elements.iter().filter(|element| missing.remove(&Ordered(element))).cloned().collect();
    array.extend(appended);
    Value::Array(array)
}

/// The current array without any element that equals one of those given. Not an array: an empty one.
pub fn remove_all_from_array(current: Option<&Value>, elements: &[Value]) -> Value {
    let mut array = current_array(current);
    let removed: BTreeSet<Ordered<'_>> = elements.iter().map(Ordered).collect();
    array.retain(|element| !removed.contains(&Ordered(element)));
    Value::Array(array)
}

fn choose(current: Option<&Value>, operand: &Value, wanted: Ordering) -> Result<Value, ValueError> {
    Number::operand(operand)?;
    let Some(current) = current.filter(|current| Number::of(current).is_some()) else {
        return Ok(operand.clone());
    };
    if current.is_nan() || operand.is_nan() {
        return Ok(Value::Double(f64::NAN));
    }
    let replaces = order::compare(operand, current) == wanted;
    Ok(if replaces { operand.clone() } else { current.clone() })
}

fn current_array(current: Option<&Value>) -> Vec<Value> {
    match current {
        Some(Value::Array(array)) => array.clone(),
        _ => Vec::new(),
    }
}

#[derive(Clone, Copy)]
enum Number {
    Integer(i64),
    Double(f64),
}

impl Number {
    fn of(value: &Value) -> Option<Self> {
        match value {
            Value::Integer(integer) => Some(Number::Integer(*integer)),
            Value::Double(double) => Some(Number::Double(*double)),
            _ => None,
        }
    }

    fn operand(value: &Value) -> Result<Self, ValueError> {
        Number::of(value).ok_or(ValueError::OperandNotNumber)
    }

    fn as_double(self) -> f64 {
        match self {
            Number::Integer(integer) => integer as f64,
            Number::Double(double) => double,
        }
    }

    fn into_value(self) -> Value {
        match self {
            Number::Integer(integer) => Value::Integer(integer),
            Number::Double(double) => Value::Double(double),
        }
    }
}

/// Sorts values as queries do, so that elements are found in a set.
struct Ordered<'value>(&'value Value);

impl Ord for Ordered<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        order::compare(self.0, other.0)
    }
}

impl PartialOrd for Ordered<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ordered<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Ordered<'_> {}

#[cfg(test)]
mod tests;

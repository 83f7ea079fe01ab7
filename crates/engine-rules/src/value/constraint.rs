//! What a query says of a field whose value it leaves open, and what follows from that.

use std::cmp::Ordering;
use std::sync::Arc;

use super::{Map, Value, equal, strictly_equal};

/// How a query compares a field with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// `==`
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// The field is a list with that element.
    Contains,
}

/// All that a query says of one field. Each part holds for every document the query can answer.
#[derive(Clone, Debug)]
pub struct Constraint<'e> {
    parts: Arc<[(Comparison, &'e base_value::Value)]>,
}

impl<'e> Constraint<'e> {
    /// A constraint of these parts.
    pub fn new(parts: Vec<(Comparison, &'e base_value::Value)>) -> Self {
        Constraint { parts: parts.into() }
    }

    /// Its parts.
    pub fn parts(&self) -> &[(Comparison, &'e base_value::Value)] {
        &self.parts
    }

    /// Whether every value that meets the constraint compares so with `other`. One part has to prove it
    /// alone, as in the product: `>= 5` and `<= 5` together do not prove `== 5`.
    pub(crate) fn proves(&self, wanted: Comparison, other: &Value<'_>) -> bool {
        self.parts
            .iter()
            .any(|(given, value)| implies(*given, &Value::stored(value), wanted, other))
    }
}

/// Whether `field <given> value` makes `field <wanted> other` true.
fn implies(given: Comparison, value: &Value<'_>, wanted: Comparison, other: &Value<'_>) -> bool {
    use Comparison::{Contains, Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
    let order = order(value, other);
    let is = |wanted: &[Ordering]| order.is_some_and(|order| wanted.contains(&order));
    match (wanted, given) {
        (Equal, Equal) => equal(value, other),
        // Filters other than `==` find no null.
        (NotEqual, _) if matches!(other, Value::Null) && given != Equal => true,
        (Contains, Contains) | (NotEqual, NotEqual) => strictly_equal(value, other),
        (NotEqual, Equal) => !equal(value, other),
        (NotEqual, Greater) => is(&[Ordering::Equal, Ordering::Greater]),
        (NotEqual, GreaterOrEqual) => is(&[Ordering::Greater]),
        (NotEqual, Less) => is(&[Ordering::Equal, Ordering::Less]),
        (NotEqual, LessOrEqual) => is(&[Ordering::Less]),
        (Greater, Greater) | (GreaterOrEqual, Equal | Greater | GreaterOrEqual) => {
            is(&[Ordering::Equal, Ordering::Greater])
        }
        (Greater, Equal | GreaterOrEqual) => is(&[Ordering::Greater]),
        (Less, Less) | (LessOrEqual, Equal | Less | LessOrEqual) => {
            is(&[Ordering::Equal, Ordering::Less])
        }
        (Less, Equal | LessOrEqual) => is(&[Ordering::Less]),
        _ => false,
    }
}

/// Values in order, that of the filter first. The product compares the integer of a filter with a double of a
/// rule, and proves nothing else across types.
fn order(left: &Value<'_>, right: &Value<'_>) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => (*left as f64).partial_cmp(right),
        (Value::String(left), Value::String(right)) => Some((**left).cmp(&**right)),
        (Value::Bytes(left), Value::Bytes(right)) => Some((**left).cmp(&**right)),
        (Value::Timestamp(left), Value::Timestamp(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

/// Whether a query leaves a value or a part of it open, so that no comparison may look past it.
pub(crate) fn is_open(value: &Value<'_>) -> bool {
    match value {
        Value::Constraint(_) => true,
        Value::Map(Map::Made(entries)) => entries.values().any(is_open),
        Value::Path(path) => path.is_open(),
        _ => false,
    }
}

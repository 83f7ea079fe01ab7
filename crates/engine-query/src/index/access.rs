//! What one conjunction of filters says to indexes: postings, ranges of fields, and bounds of the name.

use base_value::codec::Scalar;
use base_value::index_key::{Encoded, class_bounds, push_scalar, push_value};
use base_value::order::{TypeClass, type_class};
use base_value::{DatabaseName, FieldPath, Value};
use bytes::Bytes;

use super::layout;
use crate::error::QueryError;
use crate::filter::elements;
use crate::model::{FieldOp, Filter, UnaryOp};
use crate::name_key;
use crate::scope::NameBounds;

/// One conjunction, as indexes see it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conjunct {
    pub(crate) postings: Vec<Posting>,
    /// At most one for each field.
    pub(crate) ranges: Vec<FieldRange>,
    pub(crate) names: NameBounds,
    /// Whether a document that is in all postings, all ranges and the bounds is sure to match.
    pub(crate) is_settled: bool,
}

/// The entries of one value in the index of one field: documents in order of names.
#[derive(Clone, Debug)]
pub(crate) struct Posting {
    pub(crate) field: FieldPath,
    /// Whether it is the field's elements that are looked at.
    pub(crate) elements: bool,
    pub(crate) index: Vec<u8>,
    pub(crate) value: Vec<u8>,
    pub(crate) encoded: Encoded,
}

/// Encoded values of a field from `start`, inclusive, to `end`, exclusive, without the `holes`.
#[derive(Clone, Debug)]
pub(crate) struct FieldRange {
    pub(crate) field: FieldPath,
    pub(crate) start: Vec<u8>,
    pub(crate) end: Vec<u8>,
    pub(crate) holes: Vec<Vec<u8>>,
    /// Whether every value within is sure to match.
    pub(crate) is_exact: bool,
}

impl Conjunct {
    /// `None` for one that no document matches.
    pub(crate) fn of<'f>(
        leaves: impl Iterator<Item = &'f Filter>,
        database: &DatabaseName,
    ) -> Result<Option<Self>, QueryError> {
        let mut conjunct = Conjunct { is_settled: true, ..Conjunct::default() };
        for leaf in leaves {
            let is_possible = match leaf {
                Filter::Field { field, op, value } if field.is_name() => {
                    conjunct.is_settled &= conjunct.names.narrow(*op, value, database)?;
                    true
                }
                Filter::Field { field, op, value } => conjunct.field(field, *op, value),
                Filter::Unary { field, op } => {
                    conjunct.unary(field, *op);
                    true
                }
                Filter::Composite { .. } => {
                    conjunct.is_settled = false;
                    true
                }
            };
            if !is_possible {
                return Ok(None);
            }
        }
        conjunct.settle_ranges_of_postings();
        Ok(Some(conjunct))
    }

    /// The posting that fixes the value of a field.
    pub(crate) fn fixed(&self, field: &FieldPath) -> Option<&Posting> {
        self.postings.iter().find(|posting| !posting.elements && posting.field == *field)
    }

    /// The range of a field.
    pub(crate) fn range(&self, field: &FieldPath) -> Option<&FieldRange> {
        self.ranges.iter().find(|range| range.field == *field)
    }

    /// Whether documents of the conjunction are sure to have the field.
    pub(crate) fn has(&self, field: &FieldPath) -> bool {
        self.postings.iter().any(|posting| posting.field == *field) || self.range(field).is_some()
    }

    /// Takes one comparison in; answers whether anything can match it.
    fn field(&mut self, field: &FieldPath, op: FieldOp, value: &Value) -> bool {
        let is_comparable = !matches!(value, Value::Null) && !value.is_nan();
        match op {
            FieldOp::Equal => {
                self.posting(field, false, value);
                is_comparable
            }
            FieldOp::ArrayContains => {
                self.posting(field, true, value);
                is_comparable && !matches!(value, Value::Array(_))
            }
            FieldOp::LessThan
            | FieldOp::LessThanOrEqual
            | FieldOp::GreaterThan
            | FieldOp::GreaterThanOrEqual => {
                self.compared(field, op, value);
                is_comparable
            }
            FieldOp::NotEqual => self.without(field, std::slice::from_ref(value)),
            FieldOp::NotIn => self.without(field, elements(value)),
            // Split into their elements before.
            FieldOp::In | FieldOp::ArrayContainsAny => {
                self.is_settled = false;
                true
            }
        }
    }

    fn unary(&mut self, field: &FieldPath, op: UnaryOp) {
        match op {
            UnaryOp::IsNull => self.posting(field, false, &Value::Null),
            UnaryOp::IsNan => self.posting(field, false, &Value::Double(f64::NAN)),
            UnaryOp::IsNotNull => {
                self.without(field, &[]);
            }
            UnaryOp::IsNotNan => {
                self.without(field, &[]);
                let mut hole = Vec::new();
                push_scalar(&mut hole, Scalar::Double(f64::NAN));
                self.range_mut(field).holes.push(hole);
            }
        }
    }

    fn posting(&mut self, field: &FieldPath, elements: bool, value: &Value) {
        let index = if elements { layout::contains(field) } else { layout::ascending(field) };
        let mut key = Vec::new();
        let encoded = push_value(&mut key, value);
        self.is_settled &= encoded == Encoded::Whole;
        self.postings.push(Posting { field: field.clone(), elements, index, value: key, encoded });
    }

    fn compared(&mut self, field: &FieldPath, op: FieldOp, value: &Value) {
        let (first, after_last) = class_bounds(type_class(value));
        let mut at = Vec::new();
        let encoded = push_value(&mut at, value);
        let range = self.range_mut(field);
        range.start_at(vec![first]);
        range.end_at(vec![after_last]);
        // A cut value ties with such on both sides of it: they stay in.
        let is_whole = encoded == Encoded::Whole;
        range.is_exact &= is_whole;
        match op {
            FieldOp::LessThan if is_whole => range.end_at(at),
            FieldOp::LessThan | FieldOp::LessThanOrEqual => range.end_at(after_prefix(at)),
            FieldOp::GreaterThan if is_whole => range.start_at(after_prefix(at)),
            _ => range.start_at(at),
        }
    }

    /// Everything but null and these values; answers whether anything can match.
    fn without(&mut self, field: &FieldPath, values: &[Value]) -> bool {
        let (_, after_null) = class_bounds(TypeClass::Null);
        let range = self.range_mut(field);
        range.start_at(vec![after_null]);
        for value in values.iter().filter(|value| !value.is_nan()) {
            let mut hole = Vec::new();
            match push_value(&mut hole, value) {
                Encoded::Whole => range.holes.push(hole),
                Encoded::Cut => range.is_exact = false,
            }
        }
        !values.iter().any(|value| matches!(value, Value::Null))
    }

    fn range_mut(&mut self, field: &FieldPath) -> &mut FieldRange {
        let at = self.ranges.iter().position(|range| range.field == *field);
        let at = at.unwrap_or_else(|| {
            self.ranges.push(FieldRange::all(field));
            self.ranges.len() - 1
        });
        #[expect(clippy::indexing_slicing, reason = "found or pushed right above")]
        &mut self.ranges[at]
    }

    /// What a posting fixes needs no range beside it; whether it is within is left to the document.
    fn settle_ranges_of_postings(&mut self) {
        let Conjunct { postings, ranges, is_settled, .. } = self;
        ranges.retain(|range| {
            let fixed =
                postings.iter().find(|posting| !posting.elements && posting.field == range.field);
            let Some(fixed) = fixed else { return true };
            *is_settled &= range.is_exact && range.contains(&fixed.value);
            false
        });
    }
}

impl FieldRange {
    /// Every value of a field.
    pub(crate) fn all(field: &FieldPath) -> Self {
        let (_, after_all) = class_bounds(TypeClass::Map);
        FieldRange {
            field: field.clone(),
            start: Vec::new(),
            end: vec![after_all],
            holes: Vec::new(),
            is_exact: true,
        }
    }

    pub(crate) fn start_at(&mut self, start: Vec<u8>) {
        if start > self.start {
            self.start = start;
        }
    }

    pub(crate) fn end_at(&mut self, end: Vec<u8>) {
        if end < self.end {
            self.end = end;
        }
    }

    fn contains(&self, value: &Vec<u8>) -> bool {
        self.start <= *value && *value < self.end && !self.holes.contains(value)
    }
}

impl NameBounds {
    /// Takes one comparison of the name in; answers whether the bounds now say all that it says.
    pub(crate) fn narrow(
        &mut self,
        op: FieldOp,
        value: &Value,
        database: &DatabaseName,
    ) -> Result<bool, QueryError> {
        match op {
            FieldOp::Equal => {
                let name = name_key::operand(value, database)?;
                self.start_at(name.clone());
                self.end_at(name_key::after(&name));
            }
            FieldOp::LessThan => self.end_at(name_key::operand(value, database)?),
            FieldOp::LessThanOrEqual => {
                self.end_at(name_key::after(&name_key::operand(value, database)?));
            }
            FieldOp::GreaterThan => {
                self.start_at(name_key::after(&name_key::operand(value, database)?));
            }
            FieldOp::GreaterThanOrEqual => self.start_at(name_key::operand(value, database)?),
            FieldOp::NotEqual
            | FieldOp::NotIn
            | FieldOp::In
            | FieldOp::ArrayContains
            | FieldOp::ArrayContainsAny => return Ok(false),
        }
        Ok(true)
    }

    /// Whether a name is within.
    pub(crate) fn contain(&self, name: &[u8]) -> bool {
        self.start.as_ref().is_none_or(|start| start.as_ref() <= name)
            && self.end.as_ref().is_none_or(|end| name < end.as_ref())
    }

    pub(crate) fn start_at(&mut self, start: Bytes) {
        self.start = Some(self.start.take().map_or(start.clone(), |known| known.max(start)));
    }

    pub(crate) fn end_at(&mut self, end: Bytes) {
        self.end = Some(self.end.take().map_or(end.clone(), |known| known.min(end)));
    }
}

/// The first bytes behind everything that begins with `prefix`.
pub(crate) fn after_prefix(mut prefix: Vec<u8>) -> Vec<u8> {
    while let Some(last) = prefix.pop() {
        if let Some(next) = last.checked_add(1) {
            prefix.push(next);
            break;
        }
    }
    prefix
}

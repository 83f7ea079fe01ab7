//! Filters compiled for matching: which documents a query keeps, by the table of operators of the product.

use std::cmp::Ordering;

use base_value::order::{TypeClass, equal, type_class};
use base_value::{DatabaseName, Value};
use bytes::Bytes;

use crate::document::{Document, FieldTable, Slot, View};
use crate::error::QueryError;
use crate::model::{CompositeOp, FieldOp, Filter, UnaryOp};
use crate::name_key;

/// A filter ready to be asked.
#[derive(Clone, Debug)]
pub(crate) enum Predicate {
    /// Keeps what every part keeps.
    All(Vec<Predicate>),
    /// Keeps what some part keeps.
    Any(Vec<Predicate>),
    /// Keeps documents by a field they have.
    Field(Slot, Test),
    /// Keeps documents by their name.
    Name(NameTest),
    /// Keeps nothing.
    Never,
}

/// A test of a value that is there.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Equal(Value),
    In(Vec<Value>),
    /// Not null and none of these.
    NotIn(Vec<Value>),
    Range {
        op: RangeOp,
        class: TypeClass,
        value: Value,
    },
    /// An array with one of these.
    Contains(Vec<Value>),
    IsNull,
    IsNan,
    IsNotNan,
}

/// A test of a name, in the bytes of [`crate::name_key`].
#[derive(Clone, Debug)]
pub(crate) enum NameTest {
    In(Vec<Bytes>),
    NotIn(Vec<Bytes>),
    Range(RangeOp, Bytes),
}

/// One side of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RangeOp {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl RangeOp {
    fn holds(self, ordering: Ordering) -> bool {
        match self {
            RangeOp::Less => ordering.is_lt(),
            RangeOp::LessOrEqual => ordering.is_le(),
            RangeOp::Greater => ordering.is_gt(),
            RangeOp::GreaterOrEqual => ordering.is_ge(),
        }
    }
}

impl Predicate {
    /// Compiles a validated filter; the fields it reads get slots in `table`.
    pub(crate) fn compile(
        filter: &Filter,
        database: &DatabaseName,
        table: &mut FieldTable,
    ) -> Result<Self, QueryError> {
        Ok(match filter {
            Filter::Composite { op, filters } => {
                let parts: Result<_, _> =
                    filters.iter().map(|part| Predicate::compile(part, database, table)).collect();
                match op {
                    CompositeOp::And => Predicate::All(parts?),
                    CompositeOp::Or => Predicate::Any(parts?),
                }
            }
            Filter::Field { field, op, value } if field.is_name() => {
                Predicate::Name(NameTest::compile(*op, value, database)?)
            }
            Filter::Field { field, op, value } => match Test::compile(*op, value) {
                Some(test) => Predicate::Field(table.slot(field), test),
                None => Predicate::Never,
            },
            Filter::Unary { field, op } => {
                let test = match op {
                    UnaryOp::IsNull => Test::IsNull,
                    UnaryOp::IsNan => Test::IsNan,
                    UnaryOp::IsNotNull => Test::NotIn(Vec::new()),
                    UnaryOp::IsNotNan => Test::IsNotNan,
                };
                Predicate::Field(table.slot(field), test)
            }
        })
    }

    /// Whether the document is kept.
    pub(crate) fn keeps(&self, document: &mut Document<'_>) -> bool {
        match self {
            Predicate::All(parts) => parts.iter().all(|part| part.keeps(document)),
            Predicate::Any(parts) => parts.iter().any(|part| part.keeps(document)),
            Predicate::Field(slot, test) => {
                document.get(*slot).is_some_and(|value| test.accepts(value))
            }
            Predicate::Name(test) => test.accepts(document.name),
            Predicate::Never => false,
        }
    }
}

impl Test {
    /// `None` where no value can be accepted.
    fn compile(op: FieldOp, value: &Value) -> Option<Self> {
        let comparable = |value: &Value| !matches!(value, Value::Null) && !value.is_nan();
        let range = |op| {
            comparable(value).then(|| Test::Range {
                op,
                class: type_class(value),
                value: value.clone(),
            })
        };
        match op {
            FieldOp::Equal => comparable(value).then(|| Test::Equal(value.clone())),
            FieldOp::NotEqual => not_in(std::slice::from_ref(value)),
            FieldOp::NotIn => not_in(elements(value)),
            FieldOp::In => {
                let values: Vec<Value> =
                    elements(value).iter().filter(|value| comparable(value)).cloned().collect();
                (!values.is_empty()).then_some(Test::In(values))
            }
            FieldOp::ArrayContains => contains(std::slice::from_ref(value)),
            FieldOp::ArrayContainsAny => contains(elements(value)),
            FieldOp::LessThan => range(RangeOp::Less),
            FieldOp::LessThanOrEqual => range(RangeOp::LessOrEqual),
            FieldOp::GreaterThan => range(RangeOp::Greater),
            FieldOp::GreaterThanOrEqual => range(RangeOp::GreaterOrEqual),
        }
    }

    fn accepts(&self, value: View<'_>) -> bool {
        let is_one_of = |operands: &[Value]| operands.iter().any(|operand| value.equals(operand));
        match self {
            Test::Equal(operand) => value.equals(operand),
            Test::In(operands) => is_one_of(operands),
            Test::NotIn(operands) => !value.is_null() && !is_one_of(operands),
            Test::Range { op, class, value: operand } => {
                value.class() == *class && !value.is_nan() && op.holds(value.compare(operand))
            }
            Test::Contains(operands) => match value {
                View::Container(Value::Array(items)) => {
                    items.iter().any(|item| operands.iter().any(|operand| equal(item, operand)))
                }
                _ => false,
            },
            Test::IsNull => value.is_null(),
            Test::IsNan => value.is_nan(),
            Test::IsNotNan => !value.is_null() && !value.is_nan(),
        }
    }
}

impl NameTest {
    fn compile(op: FieldOp, value: &Value, database: &DatabaseName) -> Result<Self, QueryError> {
        let one = || name_key::operand(value, database);
        let many = || -> Result<Vec<Bytes>, QueryError> {
            elements(value).iter().map(|item| name_key::operand(item, database)).collect()
        };
        Ok(match op {
            FieldOp::Equal => NameTest::In(vec![one()?]),
            FieldOp::In => NameTest::In(many()?),
            FieldOp::NotEqual => NameTest::NotIn(vec![one()?]),
            FieldOp::NotIn => NameTest::NotIn(many()?),
            FieldOp::LessThan => NameTest::Range(RangeOp::Less, one()?),
            FieldOp::LessThanOrEqual => NameTest::Range(RangeOp::LessOrEqual, one()?),
            FieldOp::GreaterThan => NameTest::Range(RangeOp::Greater, one()?),
            FieldOp::GreaterThanOrEqual => NameTest::Range(RangeOp::GreaterOrEqual, one()?),
            FieldOp::ArrayContains | FieldOp::ArrayContainsAny => {
                return Err(QueryError::NameReserved);
            }
        })
    }

    fn accepts(&self, name: &[u8]) -> bool {
        match self {
            NameTest::In(names) => names.iter().any(|operand| operand == name),
            NameTest::NotIn(names) => !names.iter().any(|operand| operand == name),
            NameTest::Range(op, operand) => op.holds(name.cmp(operand.as_ref())),
        }
    }
}

/// The elements of a list operand. Validation has refused operands that are none.
pub(crate) fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        _ => &[],
    }
}

/// A null operand excludes everything; a NaN one excludes nothing.
fn not_in(operands: &[Value]) -> Option<Test> {
    if operands.iter().any(|operand| matches!(operand, Value::Null)) {
        return None;
    }
    Some(Test::NotIn(operands.iter().filter(|operand| !operand.is_nan()).cloned().collect()))
}

/// Null, NaN and arrays are never found, though transforms can make them elements.
fn contains(operands: &[Value]) -> Option<Test> {
    let findable =
        |operand: &&Value| !matches!(operand, Value::Null | Value::Array(_)) && !operand.is_nan();
    let operands: Vec<Value> = operands.iter().filter(findable).cloned().collect();
    (!operands.is_empty()).then_some(Test::Contains(operands))
}

//! The query as a client states it, before anything is checked or implied.

use base_value::{FieldPath, LimitPolicy, ParentPath, Value};

use crate::error::QueryError;

/// A query. Build it with [`Query::new`] and fill in what the request has.
#[derive(Clone, Debug, PartialEq)]
pub struct Query {
    /// Where the query starts: the root or a document.
    pub parent: ParentPath,
    /// Which collections below the parent it ranges over.
    pub from: From,
    /// Which documents it keeps; `None` keeps all.
    pub filter: Option<Filter>,
    /// The explicit orders.
    pub order: Vec<Order>,
    /// Where the result starts.
    pub start: Option<Cursor>,
    /// Where the result ends.
    pub end: Option<Cursor>,
    /// Results passed over, after the cursors.
    pub offset: u32,
    /// Results returned at most, after the offset; `None` returns all.
    pub limit: Option<u32>,
    /// Fields returned; `None` returns all, an empty list none. See [`crate::project()`].
    pub select: Option<Vec<FieldPath>>,
    /// The nearest-neighbour search over the result.
    pub nearest: Option<FindNearest>,
    /// Whether the product's limits of a query hold for it.
    pub limits: LimitPolicy,
}

impl Query {
    /// Every document in scope, in order of names.
    pub fn new(parent: ParentPath, from: From) -> Self {
        Query {
            parent,
            from,
            filter: None,
            order: Vec::new(),
            start: None,
            end: None,
            offset: 0,
            limit: None,
            select: None,
            nearest: None,
            limits: LimitPolicy::default(),
        }
    }

    /// The limit of a request, whose type has room for illegal ones.
    pub fn checked_limit(limit: i32) -> Result<u32, QueryError> {
        u32::try_from(limit).map_err(|_| QueryError::NegativeLimit)
    }

    /// The offset of a request, whose type has room for illegal ones.
    pub fn checked_offset(offset: i32) -> Result<u32, QueryError> {
        u32::try_from(offset).map_err(|_| QueryError::NegativeOffset)
    }
}

/// Which collections a query ranges over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum From {
    /// The one collection of that id directly below the parent.
    Collection(String),
    /// Every collection of that id below the parent, at any depth.
    Group(String),
    /// Every collection directly below the parent.
    Children,
    /// Every collection below the parent, at any depth.
    Descendants,
}

impl From {
    /// The selector of a request: an absent one is `("", false)`.
    pub fn selector(collection_id: &str, all_descendants: bool) -> Self {
        match (collection_id.is_empty(), all_descendants) {
            (true, true) => From::Descendants,
            (true, false) => From::Children,
            (false, true) => From::Group(collection_id.to_owned()),
            (false, false) => From::Collection(collection_id.to_owned()),
        }
    }
}

/// Keeps documents.
#[derive(Clone, Debug, PartialEq)]
pub enum Filter {
    /// Several filters joined.
    Composite {
        /// How they are joined.
        op: CompositeOp,
        /// The parts; none with `And` keeps all documents, none with `Or` is refused.
        filters: Vec<Filter>,
    },
    /// A field compared with a value.
    Field {
        /// The field, or `__name__`.
        field: FieldPath,
        /// The comparison.
        op: FieldOp,
        /// The operand.
        value: Value,
    },
    /// A field looked at alone.
    Unary {
        /// The field.
        field: FieldPath,
        /// The test.
        op: UnaryOp,
    },
}

impl Filter {
    /// All of the filters.
    pub fn and(filters: impl Into<Vec<Filter>>) -> Self {
        Filter::Composite { op: CompositeOp::And, filters: filters.into() }
    }

    /// Any of the filters.
    pub fn or(filters: impl Into<Vec<Filter>>) -> Self {
        Filter::Composite { op: CompositeOp::Or, filters: filters.into() }
    }

    /// A field compared with a value.
    pub fn field(field: FieldPath, op: FieldOp, value: Value) -> Self {
        Filter::Field { field, op, value }
    }

    /// A field looked at alone.
    pub fn unary(field: FieldPath, op: UnaryOp) -> Self {
        Filter::Unary { field, op }
    }
}

/// How a composite filter joins its parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompositeOp {
    /// Every part must match.
    And,
    /// One part must match.
    Or,
}

/// A comparison of a field with a value. Only documents that have the field can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldOp {
    /// `<`, among values of the operand's type.
    LessThan,
    /// `<=`, among values of the operand's type.
    LessThanOrEqual,
    /// `>`, among values of the operand's type.
    GreaterThan,
    /// `>=`, among values of the operand's type.
    GreaterThanOrEqual,
    /// `==`; null and NaN equal nothing here.
    Equal,
    /// `!=`, among values that are not null.
    NotEqual,
    /// The field is an array with that element.
    ArrayContains,
    /// The field is one of the operand's elements.
    In,
    /// The field is an array with one of the operand's elements.
    ArrayContainsAny,
    /// The field is not null and none of the operand's elements.
    NotIn,
}

impl FieldOp {
    /// The product's name, as its messages spell it.
    pub fn name(self) -> &'static str {
        match self {
            FieldOp::LessThan => "LESS_THAN",
            FieldOp::LessThanOrEqual => "LESS_THAN_OR_EQUAL",
            FieldOp::GreaterThan => "GREATER_THAN",
            FieldOp::GreaterThanOrEqual => "GREATER_THAN_OR_EQUAL",
            FieldOp::Equal => "EQUAL",
            FieldOp::NotEqual => "NOT_EQUAL",
            FieldOp::ArrayContains => "ARRAY_CONTAINS",
            FieldOp::In => "IN",
            FieldOp::ArrayContainsAny => "ARRAY_CONTAINS_ANY",
            FieldOp::NotIn => "NOT_IN",
        }
    }

    /// Whether the operator implies an order by its field.
    pub fn is_inequality(self) -> bool {
        matches!(
            self,
            FieldOp::LessThan
                | FieldOp::LessThanOrEqual
                | FieldOp::GreaterThan
                | FieldOp::GreaterThanOrEqual
                | FieldOp::NotEqual
                | FieldOp::NotIn
        )
    }
}

/// A test of a field alone. Only documents that have the field can match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// The field is null.
    IsNull,
    /// The field is NaN.
    IsNan,
    /// The field is not null.
    IsNotNull,
    /// The field is neither null nor NaN.
    IsNotNan,
}

impl UnaryOp {
    /// Whether the operator implies an order by its field.
    pub fn is_inequality(self) -> bool {
        matches!(self, UnaryOp::IsNotNull | UnaryOp::IsNotNan)
    }
}

/// One sort order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    /// The field, or `__name__`.
    pub field: FieldPath,
    /// Which way.
    pub direction: Direction,
}

/// Which way an order runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Direction {
    /// Small values first.
    #[default]
    Ascending,
    /// Great values first.
    Descending,
}

/// A position in the result, by the values of its first orders.
#[derive(Clone, Debug, PartialEq)]
pub struct Cursor {
    /// One value per order, at most as many as there are explicit orders.
    pub values: Vec<Value>,
    /// As a start: whether documents at the position are in. As an end: whether they are out.
    pub before: bool,
}

/// A nearest-neighbour search.
#[derive(Clone, Debug, PartialEq)]
pub struct FindNearest {
    /// The field with the vector.
    pub field: FieldPath,
    /// The vector the distance is taken to.
    pub query_vector: Value,
    /// How distance is measured.
    pub measure: DistanceMeasure,
    /// Documents returned at most, 1 to 1000; zero where the request has none.
    pub limit: i32,
    /// Where the distance is written in the returned document.
    pub distance_result_field: Option<FieldPath>,
    /// The distance at which documents are dropped.
    pub distance_threshold: Option<f64>,
}

impl FindNearest {
    /// How many numbers the query's vector has.
    pub(crate) fn dimension(&self) -> usize {
        match &self.query_vector {
            Value::Vector(numbers) => numbers.len(),
            _ => 0,
        }
    }
}

/// How the distance of two vectors is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DistanceMeasure {
    /// Length of the difference, near first.
    Euclidean,
    /// One less the cosine of the angle, near first.
    Cosine,
    /// The inner product, great first.
    DotProduct,
}

//! What expressions work on: scalars, places in the data before and after a write, claims, and the query of a read.

use std::sync::Arc;

use base_value::Value as Claim;

/// A value of the database that has no children.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// True or false.
    Bool(bool),
    /// Any number: the database has doubles alone.
    Number(f64),
    /// Text.
    String(Arc<str>),
}

/// A state of the database, as rules look at it. Paths are from its root.
pub trait Tree {
    /// The value at a path; none where there is nothing, or where there are children.
    fn scalar(&self, path: &[&str]) -> Option<Scalar>;

    /// The names of the children at a path.
    fn children(&self, path: &[&str]) -> Vec<String>;

    /// The priority at a path.
    fn priority(&self, path: &[&str]) -> Option<Scalar>;

    /// Whether there is anything at a path.
    fn exists(&self, path: &[&str]) -> bool {
        self.scalar(path).is_some() || !self.children(path).is_empty()
    }
}

/// `query`: how a read orders and bounds what it asks for. Without any of it a read is ordered by key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RealtimeQuery {
    /// The child to order by; none for another order.
    pub order_by_child: Option<String>,
    /// Whether it is ordered by value.
    pub order_by_value: bool,
    /// Whether it is ordered by priority.
    pub order_by_priority: bool,
    /// The bounds.
    pub start_at: Option<Scalar>,
    /// See `start_at`.
    pub end_at: Option<Scalar>,
    /// The one value it asks for.
    pub equal_to: Option<Scalar>,
    /// How many from the front.
    pub limit_to_first: Option<u32>,
    /// How many from the back.
    pub limit_to_last: Option<u32>,
}

/// A state that expressions can look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Before,
    After,
}

/// A value of an expression.
#[derive(Clone, Debug)]
pub(super) enum Value<'e> {
    Null,
    Scalar(Scalar),
    /// Of a place that has children: it equals nothing.
    Branch,
    Place(State, Vec<Arc<str>>),
    /// `auth` and what is in it, where that is no scalar.
    Claim(&'e Claim),
    Query(&'e RealtimeQuery),
    List(Vec<Value<'e>>),
}

impl<'e> Value<'e> {
    pub(super) fn bool(truth: bool) -> Self {
        Value::Scalar(Scalar::Bool(truth))
    }

    pub(super) fn number(number: f64) -> Self {
        Value::Scalar(Scalar::Number(number))
    }

    pub(super) fn text(text: &str) -> Self {
        Value::Scalar(Scalar::String(Arc::from(text)))
    }

    pub(super) fn maybe(scalar: Option<Scalar>) -> Self {
        scalar.map_or(Value::Null, Value::Scalar)
    }

    pub(super) fn claim(claim: &'e Claim) -> Self {
        match claim {
            Claim::Null => Value::Null,
            Claim::Boolean(truth) => Value::bool(*truth),
            Claim::Integer(number) => Value::number(*number as f64),
            Claim::Double(number) => Value::number(*number),
            Claim::String(text) => Value::text(text),
            other => Value::Claim(other),
        }
    }

    /// What messages call it.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Scalar(Scalar::Bool(_)) => "boolean",
            Value::Scalar(Scalar::Number(_)) => "number",
            Value::Scalar(Scalar::String(_)) => "string",
            Value::Branch | Value::Claim(_) | Value::Query(_) => "object",
            Value::Place(..) => "snapshot",
            Value::List(_) => "list",
        }
    }
}

/// Strict: values of two types are never equal, and neither are objects.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Scalar(left), Value::Scalar(right)) => left == right,
        _ => false,
    }
}

//! Expressions: what a request computes for each row.
//!
//! An expression answers a value, nothing (*absent*), or an error, which fails the request unless `is_error`
//! or `if_error` stands around it.

mod arithmetic;
mod array;
mod comparison;
mod evaluate;
mod function;
mod lazy;
mod map;
mod ordered;
mod parse;
mod pattern;
mod reference;
mod string;
mod text;
mod timestamp;
mod type_name;
mod vector;
mod zone;

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::{Reader, raw_stage};

pub(crate) use evaluate::Scope;
pub(crate) use function::type_of;
pub(crate) use ordered::{Ordered, has_twice};
pub(crate) use parse::{Parser, is_function};
pub(crate) use pattern::Pattern;
pub(crate) use vector::distance;

use base_value::{FieldPath, Value};
use function::Function;
use lazy::Lazy;

use crate::pipeline::Pipeline;

/// What is computed.
#[derive(Debug)]
pub(crate) enum Expression {
    Constant(Value),
    Field(Reference),
    Variable(String),
    Array(Vec<Expression>),
    Map(Vec<(String, Expression)>),
    /// A function of the values of its arguments.
    Call(&'static Function, Vec<Expression>),
    /// A function that does not look at all of its arguments, or looks at their errors.
    Lazy(Lazy, Vec<Expression>),
    /// A function of an array and of an expression for each of its elements.
    Each(Box<Each>),
    /// The rows of a pipeline.
    Subquery(Box<Subquery>),
}

/// What a field reference refers to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Reference {
    /// The document's name.
    Name,
    /// The time the document was created.
    Created,
    /// The time the document was last changed.
    Updated,
    /// A reserved name that nothing has.
    Nothing,
    /// A field of the row.
    Path(FieldPath),
}

/// `array_filter` and `array_transform`.
#[derive(Debug)]
pub(crate) struct Each {
    kind: EachKind,
    array: Expression,
    element: String,
    index: Option<String>,
    body: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EachKind {
    Filter,
    Transform,
}

/// A pipeline inside of an expression.
#[derive(Debug)]
pub(crate) struct Subquery {
    /// Whether all rows are the answer, or the one that there may be.
    is_array: bool,
    pub(crate) pipeline: Pipeline,
}

impl Expression {
    /// Calls `visit` for every pipeline inside.
    pub(crate) fn each_subquery<'e>(&'e self, visit: &mut dyn FnMut(&'e Pipeline)) {
        match self {
            Expression::Constant(_) | Expression::Field(_) | Expression::Variable(_) => {}
            Expression::Array(parts) | Expression::Call(_, parts) | Expression::Lazy(_, parts) => {
                for part in parts {
                    part.each_subquery(visit);
                }
            }
            Expression::Map(entries) => {
                for (_, part) in entries {
                    part.each_subquery(visit);
                }
            }
            Expression::Each(each) => {
                each.array.each_subquery(visit);
                each.body.each_subquery(visit);
            }
            Expression::Subquery(subquery) => visit(&subquery.pipeline),
        }
    }

    /// The function and its arguments, where the expression is one.
    pub(crate) fn as_function(&self) -> Option<(&'static str, &[Expression])> {
        match self {
            Expression::Call(function, args) => Some((function.name, args)),
            Expression::Lazy(lazy, args) => Some((lazy.name(), args)),
            _ => None,
        }
    }
}

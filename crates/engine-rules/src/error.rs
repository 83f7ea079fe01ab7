//! Why an expression has no value, in the product's words.

use crate::position::Span;

/// An evaluation that failed: the text, and the part of the source where it did.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("{text}")]
pub struct EvalError {
    text: String,
    pub(crate) span: Option<Span>,
    /// Whether it is not known rather than wrong: it takes what is not there to look at.
    pub(crate) undetermined: bool,
}

/// Boxed, since results are passed through every step of an evaluation.
pub(crate) type Failure = Box<EvalError>;

impl EvalError {
    /// The product's text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it is not known rather than wrong: it takes what a query leaves open.
    pub fn is_open(&self) -> bool {
        self.undetermined
    }
}

pub(crate) fn failure(text: impl Into<String>) -> Failure {
    Box::new(EvalError { text: text.into(), span: None, undetermined: false })
}

/// What a query leaves open, or a document that is not loaded would decide.
pub(crate) fn undetermined() -> Failure {
    let text = "evaluation error".to_owned();
    Box::new(EvalError { text, span: None, undetermined: true })
}

pub(crate) fn null_value() -> Failure {
    failure("Null value error.")
}

pub(crate) fn no_property(name: &str) -> Failure {
    failure(format!("Property {name} is undefined on object."))
}

pub(crate) fn no_function(name: &str) -> Failure {
    failure(format!("Function not found error: Name: [{name}]."))
}

pub(crate) fn wrong_type(received: &str, expected: &str) -> Failure {
    failure(format!("Type error. Received: [{received}] Expected: [{expected}]."))
}

pub(crate) fn unsupported(received: &str, expected: &str) -> Failure {
    failure(format!("Unsupported operation error. Received: {received}. Expected: {expected}."))
}

pub(crate) fn out_of_bounds(index: i64, size: usize) -> Failure {
    failure(format!("Index out of bound error. Index: [{index}] , size: [{size}]."))
}

pub(crate) fn too_large() -> Failure {
    failure("The value is larger than an expression may make.")
}

pub(crate) fn integer_range() -> Failure {
    failure("Integer value is out of the [-9223372036854775808, 9223372036854775807] range.")
}

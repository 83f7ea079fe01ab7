//! The evaluator: one expression after the other, left before right, bounded in what it evaluates.

mod access;
mod call;
mod document;
mod evaluator;
mod operator;
mod variables;

pub(crate) use evaluator::{Evaluator, Outcome, truth};

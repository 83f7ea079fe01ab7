//! Tokens to tree. All errors of a source are collected; after one, reading goes on at the next statement.

mod declaration;
mod expression;
mod parser;
mod path;
mod postfix;
mod primary;

pub(crate) use expression::TOO_COMPLEX;
pub(crate) use parser::{Complaint, parse};
use parser::{EXPRESSION_START, Lost, Parsed, Parser};

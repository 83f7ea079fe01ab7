//! The dialect of the Realtime Database: a JSON file whose strings are expressions in the manner of JavaScript, with
//! types that are checked when it is read.
//!
//! [`RealtimeRules::parse`] reads a file and reports its errors; [`RealtimeRules::read`] and
//! [`RealtimeRules::write`] decide. Data comes through [`Tree`].

mod check;
mod decide;
mod eval;
mod expression;
mod json;
mod lexer;
mod method;
mod regex;
mod rules;
mod value;

pub use decide::{Change, RealtimeDecision, RealtimeRequest, RuleKind, Tried};
pub use json::SourceError;
pub use rules::RealtimeRules;
pub use value::{RealtimeQuery, Scalar, Tree};

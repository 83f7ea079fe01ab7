//! Security Rules: source, lexer, parser, checker and evaluator of the language Firestore and Storage share, and the
//! dialect of the Realtime Database (`realtime`).
//!
//! [`Ruleset::parse`] reads a source and reports all of its errors at once; [`Ruleset::decide`] answers one
//! request. Everything here is synchronous and pure: documents come through [`Documents`], time with the
//! request, and whatever a ruleset says, the work is bounded (`limits.rs`).
#![forbid(unsafe_code)]

mod check;
mod coverage;
mod decide;
mod decision;
mod diagnostic;
mod error;
mod eval;
mod explain;
mod function;
mod lexer;
pub mod limits;
mod parse;
mod pattern;
mod position;
mod query;
mod re2;
pub mod realtime;
mod request;
mod ruleset;
mod session;
mod tree;
mod value;

pub use coverage::{Counts, Coverage, Expression, Node, Observer, Statement, Tries, UserFunction};
pub use decision::{Attempt, DebugOutput, Decision, Outcome, Preliminary, Verdict, denial};
pub use diagnostic::{Diagnostic, RulesError, Severity};
pub use error::EvalError;
pub use explain::{Deciding, Operand};
pub use position::Position;
pub use query::{Branch, FieldConstraint, Part, Query, Selection};
pub use request::{Auth, Document, Method, NewResource, Request, Resource, Service};
pub use ruleset::Ruleset;
pub use session::{Documents, DocumentsError, Session, View};
pub use value::{
    Comparison, Constraint, Duration, List, Map, MapDiff, Path, Segment, Shared, Status, Type,
    Value, utc,
};

//! What a source must hold beside its grammar: names, calls, nesting, types where they are plain to see.
//! Binds every name in place.

mod calls;
mod checker;
mod expression;
mod named;
mod paths;
mod scope;

use checker::Checker;
pub(crate) use checker::{Finding, check};
pub(crate) use paths::check_paths;
pub(crate) use scope::{Checked, Numbered, Rule};

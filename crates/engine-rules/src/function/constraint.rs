//! Methods of fields that a query constrains.

use super::{Args, Builtin, Given, builtin, mismatch};
use crate::error::undetermined;
use crate::value::{Comparison, Type, Value};

pub(super) const METHODS: &[Builtin] = &[builtin("hasAny", &[&[Type::List]], Type::Bool, has_any)];

/// Proven by an element that the query asks for.
fn has_any<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (Value::Constraint(constraint), Value::List(list)) = (args.of, args.arg(0)) else {
        return mismatch();
    };
    match list.iter().any(|item| constraint.proves(Comparison::Contains, &item)) {
        true => Ok(Value::Bool(true)),
        false => Err(undetermined()),
    }
}

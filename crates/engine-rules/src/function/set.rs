//! Methods of sets. Inside of sets an integer equals the float of its value.

use super::{Args, Builtin, Given, NOTHING, builtin, mismatch};
use crate::error::too_large;
use crate::limits::LIST_MAX;
use crate::value::{Type, Value, equal, set_of};

const A_SET: &[&[Type]] = &[&[Type::Set]];
const MANY: &[&[Type]] = &[&[Type::Set], &[Type::List]];

pub(super) const METHODS: &[Builtin] = &[
    builtin("size", NOTHING, Type::Int, size),
    builtin("union", A_SET, Type::Set, union),
    builtin("intersection", A_SET, Type::Set, intersection),
    builtin("difference", A_SET, Type::Set, difference),
    builtin("hasAll", MANY, Type::Bool, has_all),
    builtin("hasAny", MANY, Type::Bool, has_any),
    builtin("hasOnly", MANY, Type::Bool, has_only),
];

/// The set a method is called on, and the values it is given.
fn values<'e>(args: &Args<'_, 'e>) -> Option<(Vec<Value<'e>>, Vec<Value<'e>>)> {
    let items = |value: &Value<'e>| match value {
        Value::Set(items) => Some(items.to_vec()),
        Value::List(list) => Some(list.iter().collect()),
        _ => None,
    };
    Some((items(args.of)?, items(args.arg(0))?))
}

fn has(items: &[Value<'_>], value: &Value<'_>) -> bool {
    items.iter().any(|item| equal(item, value))
}

fn size<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Set(items) = args.of else { return mismatch() };
    Ok(Value::Int(i64::try_from(items.len()).unwrap_or(i64::MAX)))
}

fn union<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    if of.len() + other.len() > LIST_MAX {
        return Err(too_large());
    }
    Ok(Value::Set(set_of(of.into_iter().chain(other))))
}

fn intersection<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    Ok(Value::Set(of.into_iter().filter(|item| has(&other, item)).collect()))
}

fn difference<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    Ok(Value::Set(of.into_iter().filter(|item| !has(&other, item)).collect()))
}

fn has_all<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    Ok(Value::Bool(other.iter().all(|item| has(&of, item))))
}

fn has_any<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    Ok(Value::Bool(other.iter().any(|item| has(&of, item))))
}

fn has_only<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = values(args) else { return mismatch() };
    Ok(Value::Bool(of.iter().all(|item| has(&other, item))))
}

//! Methods of maps and of their differences.

use std::sync::Arc;

use super::{Args, Builtin, Given, NOTHING, builtin, mismatch};
use crate::error::{undetermined, wrong_type};
use crate::value::{List, Map, MapDiff, Status, Type, Value, is_open};

pub(super) const METHODS: &[Builtin] = &[
    builtin("size", NOTHING, Type::Int, size),
    builtin("keys", NOTHING, Type::List, keys),
    builtin("values", NOTHING, Type::List, values),
    builtin("get", &[&[Type::String, Type::Any], &[Type::List, Type::Any]], Type::Any, get),
    builtin("diff", &[&[Type::Map]], Type::MapDiff, diff),
];

pub(super) const DIFF_METHODS: &[Builtin] = &[
    builtin("addedKeys", NOTHING, Type::Set, |args| keys_of(args, &[Status::Added])),
    builtin("removedKeys", NOTHING, Type::Set, |args| keys_of(args, &[Status::Removed])),
    builtin("changedKeys", NOTHING, Type::Set, |args| keys_of(args, &[Status::Changed])),
    builtin("unchangedKeys", NOTHING, Type::Set, |args| keys_of(args, &[Status::Unchanged])),
    builtin("affectedKeys", NOTHING, Type::Set, |args| {
        keys_of(args, &[Status::Added, Status::Removed, Status::Changed])
    }),
];

fn size<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Map(map) = args.of else { return mismatch() };
    Ok(Value::Int(i64::try_from(map.len()).unwrap_or(i64::MAX)))
}

fn keys<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Map(map) = args.of else { return mismatch() };
    Ok(Value::list(map.keys().into_iter().map(Value::String).collect()))
}

fn values<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Map(map) = args.of else { return mismatch() };
    if is_open(args.of) {
        return Err(undetermined());
    }
    Ok(Value::list(map.entries().into_iter().map(|(_, value)| value).collect()))
}

fn get<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Map(map) = args.of else { return mismatch() };
    let found = match args.arg(0) {
        Value::String(key) => map.get(key),
        Value::List(keys) => return walk(map, keys, args.arg(1)),
        _ => return mismatch(),
    };
    Ok(found.unwrap_or_else(|| args.arg(1).clone()))
}

/// Follows keys through maps; the default where one is missing or leads through something else.
fn walk<'e>(map: &Map<'e>, keys: &List<'e>, default: &Value<'e>) -> Given<'e> {
    let mut at = Value::Map(map.clone());
    for key in keys.iter() {
        let Value::String(key) = key else {
            return Err(wrong_type(key.type_of().name(), "string"));
        };
        let Value::Map(inner) = &at else { return Ok(default.clone()) };
        let Some(next) = inner.get(&key) else { return Ok(default.clone()) };
        at = next;
    }
    Ok(at)
}

fn diff<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (Value::Map(left), Value::Map(right)) = (args.of, args.arg(0)) else { return mismatch() };
    if is_open(args.of) || is_open(args.arg(0)) {
        return Err(undetermined());
    }
    Ok(Value::MapDiff(Arc::new(MapDiff::new(left, right))))
}

fn keys_of<'e>(args: &Args<'_, 'e>, statuses: &[Status]) -> Given<'e> {
    let Value::MapDiff(diff) = args.of else { return mismatch() };
    Ok(diff.of(statuses))
}

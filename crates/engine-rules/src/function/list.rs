//! Methods of lists.

use super::{Args, Builtin, Given, NOTHING, builtin, mismatch, text_of};
use crate::error::too_large;
use crate::limits::{LIST_MAX, TEXT_MAX_BYTES};
use crate::value::{List, Type, Value, set_of};

const A_LIST: &[&[Type]] = &[&[Type::List]];

pub(super) const METHODS: &[Builtin] = &[
    builtin("size", NOTHING, Type::Int, size),
    builtin("concat", A_LIST, Type::List, concat),
    builtin("join", &[&[Type::String]], Type::String, join),
    builtin("hasAll", A_LIST, Type::Bool, has_all),
    builtin("hasAny", A_LIST, Type::Bool, has_any),
    builtin("hasOnly", A_LIST, Type::Bool, has_only),
    builtin("removeAll", A_LIST, Type::List, remove_all),
    builtin("toSet", NOTHING, Type::Set, to_set),
];

/// The list a method is called on, and the list it is given.
fn lists<'a, 'e>(args: &Args<'a, 'e>) -> Option<(&'a List<'e>, &'a List<'e>)> {
    match (args.of, args.arg(0)) {
        (Value::List(of), Value::List(other)) => Some((of, other)),
        _ => None,
    }
}

fn size<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::List(list) = args.of else { return mismatch() };
    Ok(Value::Int(i64::try_from(list.len()).unwrap_or(i64::MAX)))
}

fn concat<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = lists(args) else { return mismatch() };
    if of.len() + other.len() > LIST_MAX {
        return Err(too_large());
    }
    Ok(Value::list(of.iter().chain(other.iter()).collect()))
}

fn join<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (Value::List(list), Value::String(separator)) = (args.of, args.arg(0)) else {
        return mismatch();
    };
    let mut out = String::new();
    for (number, item) in list.iter().enumerate() {
        if number > 0 {
            out.push_str(separator);
        }
        out.push_str(&text_of(&item)?);
        if out.len() > TEXT_MAX_BYTES {
            return Err(too_large());
        }
    }
    Ok(Value::text(out))
}

fn has_all<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = lists(args) else { return mismatch() };
    Ok(Value::Bool(Lookup::new(of).has_all(other)))
}

fn has_any<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = lists(args) else { return mismatch() };
    Ok(Value::Bool(Lookup::new(other).has_any(of)))
}

fn has_only<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = lists(args) else { return mismatch() };
    Ok(Value::Bool(Lookup::new(other).has_all(of)))
}

fn remove_all<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Some((of, other)) = lists(args) else { return mismatch() };
    let removed = Lookup::new(other);
    Ok(Value::list(of.iter().filter(|item| !removed.has(item)).collect()))
}

fn to_set<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::List(list) = args.of else { return mismatch() };
    Ok(Value::Set(set_of(list.iter())))
}

/// A list to be asked often: long ones of strings are looked up, not searched.
struct Lookup<'a, 'e> {
    list: &'a List<'e>,
    texts: Option<std::collections::HashSet<String>>,
}

/// Shorter lists are faster searched.
const LOOKED_UP_MIN: usize = 32;

impl<'a, 'e> Lookup<'a, 'e> {
    fn new(list: &'a List<'e>) -> Self {
        let texts = (list.len() >= LOOKED_UP_MIN).then(|| {
            let text =
                |item| if let Value::String(text) = item { Some(text.to_string()) } else { None };
            list.iter().filter_map(text).collect()
        });
        Lookup { list, texts }
    }

    fn has(&self, value: &Value<'_>) -> bool {
        match (&self.texts, value) {
            (Some(texts), Value::String(text)) => texts.contains(&**text),
            _ => self.list.contains(value),
        }
    }

    fn has_all(&self, other: &List<'_>) -> bool {
        other.iter().all(|item| self.has(&item))
    }

    fn has_any(&self, other: &List<'_>) -> bool {
        other.iter().any(|item| self.has(&item))
    }
}

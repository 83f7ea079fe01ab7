//! Maps.

use base_value::{Fields, Value};

use super::evaluate::too_large;
use super::function::{Function, MANY, Outcome, answer, refuse, string, wrong};
use crate::budget::fields_weight;
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::cells("map", (0, MANY), |args| {
        let mut fields = Fields::new();
        set(&mut fields, args)?;
        whole(fields)
    }),
    Function::cells("map_get", (2, 2), get),
    Function::cells("get_field", (2, 2), get),
    Function::cells("map_set", (3, MANY), |args| match args {
        [None | Some(Value::Null), ..] => answer(Value::Null),
        [Some(map), pairs @ ..] => {
            let mut fields = entries(map)?.clone();
            set(&mut fields, pairs)?;
            whole(fields)
        }
        [] => Ok(None),
    }),
    Function::values("map_remove", (2, MANY), |_, args| {
        let [map, names @ ..] = args else { return Ok(None) };
        let mut fields = entries(map)?.clone();
        for name in names {
            fields.remove(string(name)?);
        }
        answer(Value::Map(fields))
    }),
    Function::values("map_merge", (1, MANY), |_, args| {
        let mut merged = Fields::new();
        for arg in args {
            let fields = entries(arg)?;
            merged.extend(fields.iter().map(|(name, value)| (name.clone(), value.clone())));
        }
        whole(merged)
    }),
    Function::values("map_keys", (1, 1), |_, args| {
        list(args, |name, _| Value::String(name.clone()))
    }),
    Function::values("map_values", (1, 1), |_, args| list(args, |_, value| value.clone())),
    Function::values("map_entries", (1, 1), |_, args| {
        list(args, |name, value| {
            let pair =
                [("k".to_owned(), Value::String(name.clone())), ("v".to_owned(), value.clone())];
            Value::Map(Fields::from(pair))
        })
    }),
];

/// The entries of a map.
pub(crate) fn entries(value: &Value) -> Result<&Fields, PipelineError> {
    match value {
        Value::Map(fields) => Ok(fields),
        other => Err(wrong("map", other)),
    }
}

fn whole(fields: Fields) -> Outcome {
    if fields_weight(&fields) > VALUE_MAX_BYTES {
        return Err(too_large());
    }
    answer(Value::Map(fields))
}

/// The value of a name. What is no map has none.
fn get(args: &[Option<&Value>]) -> Outcome {
    match args {
        [Some(Value::Map(fields)), Some(name)] => Ok(fields.get(string(name)?).cloned()),
        _ => Ok(None),
    }
}

/// Puts values under names; an absent value takes the name away.
fn set(fields: &mut Fields, pairs: &[Option<&Value>]) -> Result<(), PipelineError> {
    let (pairs, rest) = pairs.as_chunks::<2>();
    if !rest.is_empty() {
        return refuse("names and values must come in pairs").map(drop);
    }
    for [name, value] in pairs {
        let Some(name) = name else {
            return refuse("string expected, found nothing").map(drop);
        };
        match value {
            Some(value) => fields.insert(string(name)?.to_owned(), Value::clone(value)),
            None => fields.remove(string(name)?),
        };
    }
    Ok(())
}

fn list(args: &[&Value], of: fn(&String, &Value) -> Value) -> Outcome {
    match args {
        [map] => {
            let fields = entries(map)?;
            answer(Value::Array(fields.iter().map(|(name, value)| of(name, value)).collect()))
        }
        _ => Ok(None),
    }
}

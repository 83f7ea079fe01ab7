//! Maps.

use base_value::{Fields, Value};

use super::function::{Function, MANY, Outcome, answer, refuse, string, wrong};
use crate::budget::{CELL, Size, name_weight, too_large, weight};
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::cells("map", (0, MANY), |args| {
        let mut map = Growing::new(Fields::new());
        map.set(args)?;
        answer(Value::Map(map.fields))
    }),
    Function::cells("map_get", (2, 2), get),
    Function::cells("get_field", (2, 2), get),
    Function::cells("map_set", (3, MANY), |args| match args {
        [None | Some(Value::Null), ..] => answer(Value::Null),
        [Some(map), pairs @ ..] => {
            let mut map = Growing::new(entries(map)?.clone());
            map.set(pairs)?;
            answer(Value::Map(map.fields))
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
        let mut merged = Growing::new(Fields::new());
        for arg in args {
            for (name, value) in entries(arg)? {
                merged.insert(name, value)?;
            }
        }
        answer(Value::Map(merged.fields))
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

/// The value of a name. What is no map has none.
fn get(args: &[Option<&Value>]) -> Outcome {
    match args {
        [Some(Value::Map(fields)), Some(name)] => Ok(fields.get(string(name)?).cloned()),
        _ => Ok(None),
    }
}

/// A map that values are copied into, as long as there is room.
struct Growing {
    fields: Fields,
    bytes: usize,
}

impl Growing {
    fn new(fields: Fields) -> Self {
        let bytes = CELL + Size::of_fields(&fields).bytes;
        Growing { fields, bytes }
    }

    fn insert(&mut self, name: &str, value: &Value) -> Result<(), PipelineError> {
        self.remove(name);
        self.bytes += name_weight(name) + weight(value);
        if self.bytes > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        self.fields.insert(name.to_owned(), value.clone());
        Ok(())
    }

    fn remove(&mut self, name: &str) {
        if let Some(old) = self.fields.remove(name) {
            self.bytes -= name_weight(name) + weight(&old);
        }
    }

    /// Puts values under names; an absent value takes the name away.
    fn set(&mut self, pairs: &[Option<&Value>]) -> Result<(), PipelineError> {
        let (pairs, rest) = pairs.as_chunks::<2>();
        if !rest.is_empty() {
            return refuse("names and values must come in pairs").map(drop);
        }
        for [name, value] in pairs {
            let Some(name) = name else {
                return refuse("string expected, found nothing").map(drop);
            };
            match value {
                Some(value) => self.insert(string(name)?, value)?,
                None => self.remove(string(name)?),
            }
        }
        Ok(())
    }
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

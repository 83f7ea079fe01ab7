//! Documents and claims as rules see them: decoded when an expression asks for a field, and not before.

use std::fmt;
use std::sync::{Arc, OnceLock};

use base_token::Claims;
use base_value::{FieldPath, Fields, Value, codec};
use bytes::Bytes;
use engine_rules::Document;

use crate::limits::FIELDS_DECODED_ALONE_MAX;

/// A stored document. The first few fields that are asked for are decoded alone; a ruleset that wants more
/// gets all of them decoded once.
pub(super) struct StoredDocument {
    encoded: Bytes,
    alone: [OnceLock<(String, Option<Value>)>; FIELDS_DECODED_ALONE_MAX],
    all: OnceLock<Fields>,
}

impl StoredDocument {
    pub(super) fn new(encoded: Bytes) -> Self {
        StoredDocument { encoded, alone: Default::default(), all: OnceLock::new() }
    }
}

impl Document for StoredDocument {
    fn fields(&self) -> &Fields {
        // What is stored was encoded by ourselves, so that it can be decoded.
        self.all.get_or_init(|| codec::decode_fields(&self.encoded).unwrap_or_default())
    }

    fn field(&self, name: &str) -> Option<&Value> {
        if self.all.get().is_some() {
            return self.fields().get(name);
        }
        for slot in &self.alone {
            let (decoded, value) = slot.get_or_init(|| {
                let value = codec::find(&self.encoded, &FieldPath::single(name));
                (name.to_owned(), value)
            });
            if decoded == name {
                return value.as_ref();
            }
        }
        self.fields().get(name)
    }
}

impl fmt::Debug for StoredDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredDocument").field("len", &self.encoded.len()).finish_non_exhaustive()
    }
}

/// The claims of a token.
#[derive(Debug)]
pub(super) struct TokenClaims {
    claims: Arc<Claims>,
    fields: OnceLock<Fields>,
}

impl TokenClaims {
    pub(super) fn new(claims: Arc<Claims>) -> Self {
        TokenClaims { claims, fields: OnceLock::new() }
    }

    pub(super) fn uid(&self) -> Option<&str> {
        self.claims.sub.as_deref()
    }
}

impl Document for TokenClaims {
    fn fields(&self) -> &Fields {
        self.fields.get_or_init(|| fields_of(&self.claims.all))
    }
}

/// JSON members as fields of a document.
pub(super) fn fields_of(members: &serde_json::Map<String, serde_json::Value>) -> Fields {
    members.iter().map(|(name, value)| (name.clone(), value_of(value))).collect()
}

/// A JSON value as one of a document. Numbers without a fraction are integers, as in production's tokens.
pub(super) fn value_of(json: &serde_json::Value) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(truth) => Value::Boolean(*truth),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(integer) => Value::Integer(integer),
            None => {
                let double = number.as_f64().unwrap_or(f64::NAN);
                let is_integer = double.fract() == 0.0 && double.abs() < EXACT_MAX;
                if is_integer { Value::Integer(double as i64) } else { Value::Double(double) }
            }
        },
        serde_json::Value::String(text) => Value::String(text.clone()),
        serde_json::Value::Array(items) => Value::Array(items.iter().map(value_of).collect()),
        serde_json::Value::Object(members) => Value::Map(fields_of(members)),
    }
}

/// Integers below are exact as doubles.
const EXACT_MAX: f64 = 9_007_199_254_740_992.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_however_many_are_asked_for() {
        let names: Vec<String> =
            (0..2 * FIELDS_DECODED_ALONE_MAX).map(|n| format!("f{n}")).collect();
        let fields: Fields = names
            .iter()
            .enumerate()
            .map(|(number, name)| (name.clone(), Value::Integer(number as i64)))
            .collect();
        let document = StoredDocument::new(codec::encode_fields(&fields));
        for _ in 0..2 {
            assert_eq!(document.field("none"), None);
            for (number, name) in names.iter().enumerate() {
                assert_eq!(document.field(name), Some(&Value::Integer(number as i64)), "{name}");
            }
        }
        assert_eq!(document.fields(), &fields);
    }

    #[test]
    fn claims_are_values() {
        let json = serde_json::json!({
            "i": 3, "f": 3.0, "d": 3.5, "s": "x", "n": null, "b": true, "l": [1, {"m": -1}],
            "large": 1e300,
        });
        let serde_json::Value::Object(members) = json else { panic!("an object") };
        let expected = "{\"b\": Boolean(true), \"d\": Double(3.5), \"f\": Integer(3), \"i\": Integer(3), \
                        \"l\": Array([Integer(1), Map({\"m\": Integer(-1)})]), \"large\": Double(1e300), \
                        \"n\": Null, \"s\": String(\"x\")}";
        assert_eq!(format!("{:?}", fields_of(&members)), expected);
    }
}

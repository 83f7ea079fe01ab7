//! The short form of field values in case files.
//!
//! `1` is an integer, `1.0` a double, text, booleans, null, arrays and maps are themselves. An object whose
//! only member is named like a type (`{"timestampValue": ...}`) is that REST value as it stands.

use serde_json::{Map, Value, json};

/// The REST form of a value.
pub(crate) fn to_rest(value: &Value) -> Value {
    match value {
        Value::Null => json!({ "nullValue": null }),
        Value::Bool(flag) => json!({ "booleanValue": flag }),
        Value::Number(number) if number.is_f64() => json!({ "doubleValue": number }),
        Value::Number(number) => json!({ "integerValue": number.to_string() }),
        // A matcher, such as `$any`.
        Value::String(text) if text.starts_with('$') => value.clone(),
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(items) if items.is_empty() => json!({ "arrayValue": {} }),
        Value::Array(items) => {
            json!({ "arrayValue": { "values": items.iter().map(to_rest).collect::<Vec<_>>() } })
        }
        Value::Object(members) if is_rest(members) => value.clone(),
        Value::Object(members) if members.is_empty() => json!({ "mapValue": {} }),
        Value::Object(members) => json!({ "mapValue": { "fields": fields_to_rest(members) } }),
    }
}

/// The REST form of a document's fields.
pub(crate) fn fields_to_rest(fields: &Map<String, Value>) -> Value {
    fields.iter().map(|(name, value)| (name.clone(), to_rest(value))).collect()
}

/// Expands `{"$fields": {...}}` and `{"$value": ...}` inside a REST body.
pub(crate) fn expand_marks(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(expand_marks).collect(),
        Value::Object(members) => {
            if let (1, Some(Value::Object(fields))) = (members.len(), members.get("$fields")) {
                return fields_to_rest(fields);
            }
            if let (1, Some(inner)) = (members.len(), members.get("$value")) {
                return to_rest(inner);
            }
            members.iter().map(|(name, member)| (name.clone(), expand_marks(member))).collect()
        }
        other => other.clone(),
    }
}

/// True for `{"xxxValue": ...}` and for a matcher (`{"$prefix": ...}`).
pub(crate) fn is_rest(members: &Map<String, Value>) -> bool {
    members.len() == 1
        && members.keys().all(|name| name.ends_with("Value") || name.starts_with('$'))
}

#[cfg(test)]
mod tests {
    use super::to_rest;
    use serde_json::json;

    #[test]
    fn short_forms() {
        let check = |short, rest| assert_eq!(to_rest(&short), rest);
        check(json!(1), json!({"integerValue": "1"}));
        check(json!(1.0), json!({"doubleValue": 1.0}));
        check(json!([null]), json!({"arrayValue": {"values": [{"nullValue": null}]}}));
        check(json!({}), json!({"mapValue": {}}));
        check(json!({"a": "x"}), json!({"mapValue": {"fields": {"a": {"stringValue": "x"}}}}));
        check(json!({"bytesValue": "AA=="}), json!({"bytesValue": "AA=="}));
    }
}

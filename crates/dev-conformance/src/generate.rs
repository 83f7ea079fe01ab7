//! The two generators for bodies that would be unreadable when written out.

use serde_json::{Value, json};

/// Expands `{"$deep": n}` (a scalar inside n maps) and `{"$times": [n, template]}` (a list of n copies,
/// `{i}` replaced by the position from 0) wherever they occur.
pub(crate) fn expand(value: &Value) -> Value {
    if let Some(depth) = value.get("$deep").and_then(Value::as_u64) {
        return (0..depth).fold(json!(1), |inner, _| json!({ "m": inner }));
    }
    if let Some([count, template]) =
        value.get("$times").and_then(Value::as_array).map(Vec::as_slice)
    {
        let count = count.as_u64().unwrap_or_default();
        return (0..count).map(|index| number(&expand(template), &index.to_string())).collect();
    }
    match value {
        Value::Array(items) => items.iter().map(expand).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, member)| (name.clone(), expand(member))).collect()
        }
        other => other.clone(),
    }
}

fn number(value: &Value, index: &str) -> Value {
    match value {
        Value::String(text) => Value::String(text.replace("{i}", index)),
        Value::Array(items) => items.iter().map(|item| number(item, index)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| (name.replace("{i}", index), number(member, index)))
            .collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::expand;
    use serde_json::json;

    #[test]
    fn expands() {
        assert_eq!(expand(&json!({"$deep": 2})), json!({"m": {"m": 1}}));
        assert_eq!(expand(&json!([{"$times": [2, ["x{i}"]]}])), json!([[["x0"], ["x1"]]]));
    }
}

//! Comparing an expected JSON value, which may hold matchers, with an actual one.

use serde_json::{Map, Number, Value};

use crate::scope::Scope;
use crate::time;

/// Lists every place where `actual` is not as expected; empty when all is well.
///
/// `expected` has its placeholders replaced already.
pub(crate) fn diff(expected: &Value, actual: &Value, scope: &Scope) -> Vec<String> {
    let mut out = Vec::new();
    compare(expected, actual, scope, "", &mut out);
    out
}

fn compare(expected: &Value, actual: &Value, scope: &Scope, path: &str, out: &mut Vec<String>) {
    if let Some(good) = matcher(expected, actual, scope) {
        if !good {
            out.push(line(path, expected, actual));
        }
        return;
    }
    match (expected, actual) {
        (Value::Array(expected), Value::Array(items)) if expected.len() == items.len() => {
            for (index, (expected, item)) in expected.iter().zip(items).enumerate() {
                compare(expected, item, scope, &format!("{path}/{index}"), out);
            }
        }
        (Value::Object(expected), Value::Object(members)) => {
            objects(expected, members, scope, path, out);
        }
        (Value::Number(left), Value::Number(right)) if same_number(left, right) => {}
        _ if !expected.is_number() && expected == actual => {}
        _ => out.push(line(path, expected, actual)),
    }
}

/// Equal by value, whatever the spelling (`1`, `1.0`), but with the sign of a zero.
fn same_number(left: &Number, right: &Number) -> bool {
    match (left.as_f64(), right.as_f64()) {
        (Some(left), Some(right)) => {
            left == right && left.is_sign_negative() == right.is_sign_negative()
        }
        _ => left == right,
    }
}

fn objects(
    expected: &Map<String, Value>,
    members: &Map<String, Value>,
    scope: &Scope,
    path: &str,
    out: &mut Vec<String>,
) {
    let open = expected.get("$more").is_some();
    for (name, value) in expected.iter().filter(|(name, _)| *name != "$more") {
        let path = format!("{path}/{name}");
        match members.get(name) {
            Some(member) => compare(value, member, scope, &path, out),
            None => out.push(format!("{path}: expected {}, is absent", shorten(value))),
        }
    }
    for (name, member) in members.iter().filter(|(name, _)| !open && !expected.contains_key(*name))
    {
        out.push(format!("{path}/{name}: not expected, is {}", shorten(member)));
    }
}

/// None when `expected` is no matcher, else whether it accepts.
fn matcher(expected: &Value, actual: &Value, scope: &Scope) -> Option<bool> {
    let text = actual.as_str();
    match expected {
        Value::String(word) => match word.as_str() {
            "$any" => Some(true),
            "$time" => Some(text.is_some_and(is_time)),
            "$milliseconds" => {
                Some(text.is_some_and(|text| is_time(text) && is_whole_milliseconds(text)))
            }
            _ => {
                let before = word.strip_suffix("$id")?;
                Some(text.and_then(|text| text.strip_prefix(before)).is_some_and(is_id))
            }
        },
        Value::Object(members) if members.len() == 1 => {
            let (name, argument) = members.iter().next()?;
            match name.as_str() {
                "$prefix" => {
                    Some(text.zip(argument.as_str()).is_some_and(|(t, p)| t.starts_with(p)))
                }
                "$contains" => {
                    Some(text.zip(argument.as_str()).is_some_and(|(t, p)| t.contains(p)))
                }
                "$ends" => Some(text.zip(argument.as_str()).is_some_and(|(t, p)| t.ends_with(p))),
                "$not" => Some(!diff(argument, actual, scope).is_empty()),
                "$oneOf" => {
                    Some(argument.as_array()?.iter().any(|one| diff(one, actual, scope).is_empty()))
                }
                "$unordered" => Some(unordered(argument.as_array()?, actual.as_array(), scope)),
                "$after" => {
                    Some(order(argument, text, scope).is_some_and(|(base, time)| time > base))
                }
                "$from" => {
                    Some(order(argument, text, scope).is_some_and(|(base, time)| time >= base))
                }
                "$until" => {
                    Some(order(argument, text, scope).is_some_and(|(base, time)| time <= base))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// The captured time named by a matcher and the actual one, in microseconds.
fn order(name: &Value, actual: Option<&str>, scope: &Scope) -> Option<(i64, i64)> {
    Some((time::micros(scope.captured(name.as_str()?)?)?, time::micros(actual?)?))
}

fn unordered(expected: &[Value], actual: Option<&Vec<Value>>, scope: &Scope) -> bool {
    let Some(actual) = actual else { return false };
    let mut rest: Vec<&Value> = actual.iter().collect();
    for expected in expected {
        match rest.iter().position(|item| diff(expected, item, scope).is_empty()) {
            Some(index) => drop(rest.remove(index)),
            None => return false,
        }
    }
    rest.is_empty()
}

/// A time of the service: microseconds at most, not before 2020.
fn is_time(text: &str) -> bool {
    let digits =
        text.trim_end_matches('Z').split_once('.').map_or(0, |(_, fraction)| fraction.len());
    digits <= 6 && time::micros(text).is_some_and(|micros| micros > 1_577_836_800_000_000)
}

fn is_whole_milliseconds(text: &str) -> bool {
    time::micros(text).is_some_and(|micros| micros % 1_000 == 0)
}

pub(crate) fn is_id(text: &str) -> bool {
    text.len() == 20 && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn line(path: &str, expected: &Value, actual: &Value) -> String {
    let path = if path.is_empty() { "/" } else { path };
    format!("{path}: expected {}, is {}", shorten(expected), shorten(actual))
}

fn shorten(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}... ({} bytes)", text.get(..end).unwrap_or(""), text.len()),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::diff;
    use crate::scope::Scope;
    use serde_json::{Value, json};

    fn check(expected: Value, actual: Value, good: bool) {
        let mut scope = Scope::new("p");
        scope.capture("t", "2021-01-01T00:00:00Z".to_owned());
        assert_eq!(diff(&expected, &actual, &scope).is_empty(), good, "{expected} / {actual}");
    }

    #[test]
    fn exact() {
        check(json!({"a": 1}), json!({"a": 1.0}), true);
        check(json!(0), json!(-0.0), false);
        check(json!({"a": 1}), json!({"a": 1, "b": 2}), false);
        check(json!({"a": 1, "$more": true}), json!({"a": 1, "b": 2}), true);
        check(json!({"a": 1}), json!({}), false);
        check(json!([1, 2]), json!([1]), false);
    }

    #[test]
    fn matchers() {
        check(json!({"$prefix": "ab"}), json!("abc"), true);
        check(json!({"$prefix": "ab"}), json!("ba"), false);
        check(json!("$time"), json!("2026-01-01T00:00:00.123456Z"), true);
        check(json!("$time"), json!("2026-01-01T00:00:00.123456789Z"), false);
        check(json!({"$after": "t"}), json!("2021-01-01T00:00:00.000001Z"), true);
        check(json!({"$after": "t"}), json!("2021-01-01T00:00:00Z"), false);
        check(json!({"$until": "t"}), json!("2021-01-01T00:00:00Z"), true);
        check(json!({"$unordered": [1, 2]}), json!([2, 1]), true);
        check(json!({"$unordered": [1, 1]}), json!([2, 1]), false);
        check(json!({"$not": 1}), json!(2), true);
        check(json!({"$oneOf": [1, 2]}), json!(2), true);
    }
}

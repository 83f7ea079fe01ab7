//! The short form of pipelines.

use anyhow::{Context, Result};
use serde_json::{Map, Value, json};

use crate::value::{is_rest, to_rest};

/// The REST `structuredPipeline` of stages, each a name and its arguments; see `cases/README.md`.
pub(crate) fn structured(stages: &[Vec<Value>]) -> Result<Value> {
    Ok(json!({ "pipeline": pipeline(stages)? }))
}

fn pipeline(stages: &[Vec<Value>]) -> Result<Value> {
    let stages = stages.iter().map(|stage| self::stage(stage)).collect::<Result<Vec<_>>>()?;
    Ok(json!({ "stages": stages }))
}

/// `[name, argument, ...]`, the last one of which may be `{"@options": {...}}`.
fn stage(stage: &[Value]) -> Result<Value> {
    let (name, mut args) = stage.split_first().context("a stage starts with its name")?;
    let mut out = Map::from_iter([("name".to_owned(), name.clone())]);
    if let Some((last, others)) = args.split_last()
        && let Some(options) = last.get("@options").and_then(Value::as_object)
    {
        out.insert("options".into(), terms(options)?);
        args = others;
    }
    out.insert("args".into(), args.iter().map(term).collect::<Result<_>>()?);
    Ok(Value::Object(out))
}

/// A value, among which there are `".field"`, `"$variable"`, `{"@function": [argument, ...]}` and
/// `{"@pipeline": [stage, ...]}`.
fn term(value: &Value) -> Result<Value> {
    Ok(match value {
        Value::String(text) if text.starts_with('$') => {
            json!({ "variableReferenceValue": text.trim_start_matches('$') })
        }
        Value::String(text) if text.starts_with('.') => {
            json!({ "fieldReferenceValue": text.trim_start_matches('.') })
        }
        Value::Array(items) => {
            let values = items.iter().map(term).collect::<Result<Vec<_>>>()?;
            json!({ "arrayValue": { "values": values } })
        }
        Value::Object(members) if is_rest(members) => value.clone(),
        Value::Object(members) => match one(members).and_then(|(name, inner)| {
            let name = name.strip_prefix('@')?;
            Some((name, inner.as_array()?))
        }) {
            Some(("pipeline", stages)) => {
                let stages = stages.iter().map(|stage| stage.as_array().cloned());
                let stages = stages.collect::<Option<Vec<_>>>();
                json!({ "pipelineValue": pipeline(&stages.context("a stage is a list")?)? })
            }
            Some((name, args)) => {
                let args = args.iter().map(term).collect::<Result<Vec<_>>>()?;
                json!({ "functionValue": { "name": name, "args": args } })
            }
            None => json!({ "mapValue": { "fields": terms(members)? } }),
        },
        other => to_rest(other),
    })
}

fn terms(members: &Map<String, Value>) -> Result<Value> {
    members.iter().map(|(name, value)| Ok((name.clone(), term(value)?))).collect()
}

fn one(members: &Map<String, Value>) -> Option<(&String, &Value)> {
    members.iter().next().filter(|_| members.len() == 1)
}

#[cfg(test)]
mod tests {
    use super::{stage, term};
    use serde_json::{Value, json};

    #[test]
    fn terms() {
        let check = |short: Value, rest: Value| assert_eq!(term(&short).unwrap(), rest);
        check(json!(1), json!({"integerValue": "1"}));
        check(json!(".a.b"), json!({"fieldReferenceValue": "a.b"}));
        check(json!("$v"), json!({"variableReferenceValue": "v"}));
        check(
            json!({"@add": [".n", 1]}),
            json!({"functionValue": {"name": "add", "args": [{"fieldReferenceValue": "n"}, {"integerValue": "1"}]}}),
        );
        check(
            json!({"k": [".n"]}),
            json!({"mapValue": {"fields": {"k": {"arrayValue": {"values": [{"fieldReferenceValue": "n"}]}}}}}),
        );
        check(
            json!({"@pipeline": [["database"]]}),
            json!({"pipelineValue": {"stages": [{"name": "database", "args": []}]}}),
        );
    }

    #[test]
    fn stages() {
        let short = json!(["limit", 1, {"@options": {"k": ".n"}}]);
        assert_eq!(
            stage(short.as_array().unwrap()).unwrap(),
            json!({"name": "limit", "args": [{"integerValue": "1"}], "options": {"k": {"fieldReferenceValue": "n"}}})
        );
    }
}

//! The short form of queries and aggregations.

use anyhow::{Result, anyhow, bail};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::value::to_rest;

/// A query in short form; see `cases/README.md`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct QuerySpec {
    /// Relative path of the parent document; absent: the root.
    pub(crate) parent: Option<String>,
    /// Collection id; a leading `**/` asks for all descendants.
    from: Option<String>,
    r#where: Option<Value>,
    /// Field paths, a leading `-` for descending.
    order_by: Vec<String>,
    start_at: Option<Vec<Value>>,
    start_after: Option<Vec<Value>>,
    end_at: Option<Vec<Value>>,
    end_before: Option<Vec<Value>>,
    offset: Option<i64>,
    limit: Option<i64>,
    select: Option<Vec<String>>,
    /// REST `findNearest`.
    find_nearest: Option<Value>,
}

/// An aggregation over a query.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct AggregateSpec {
    pub(crate) query: QuerySpec,
    /// `["count"]`, `["count", alias, up to]`, `["sum", field, alias]`, `["avg", field, alias]`; alias optional.
    of: Vec<Vec<Value>>,
}

impl QuerySpec {
    /// The REST `structuredQuery`.
    pub(crate) fn to_rest(&self) -> Result<Value> {
        let mut out = Map::new();
        if let Some(from) = &self.from {
            out.insert("from".into(), json!([selector(from)]));
        }
        if let Some(filter) = &self.r#where {
            out.insert("where".into(), filter_to_rest(filter)?);
        }
        if !self.order_by.is_empty() {
            out.insert(
                "orderBy".into(),
                self.order_by.iter().map(|order| order_to_rest(order)).collect(),
            );
        }
        let cursors = [
            ("startAt", &self.start_at, true),
            ("startAt", &self.start_after, false),
            ("endAt", &self.end_at, false),
            ("endAt", &self.end_before, true),
        ];
        for (member, values, before) in cursors {
            if let Some(values) = values {
                let values: Vec<_> = values.iter().map(to_rest).collect();
                out.insert(member.into(), json!({ "values": values, "before": before }));
            }
        }
        if let Some(offset) = self.offset {
            out.insert("offset".into(), json!(offset));
        }
        if let Some(limit) = self.limit {
            out.insert("limit".into(), json!(limit));
        }
        if let Some(fields) = &self.select {
            let fields: Vec<_> = fields.iter().map(|path| json!({ "fieldPath": path })).collect();
            out.insert("select".into(), json!({ "fields": fields }));
        }
        if let Some(nearest) = &self.find_nearest {
            out.insert("findNearest".into(), nearest.clone());
        }
        Ok(Value::Object(out))
    }
}

impl AggregateSpec {
    /// The REST `structuredAggregationQuery`.
    pub(crate) fn to_rest(&self) -> Result<Value> {
        let aggregations = self.of.iter().map(|of| aggregation(of)).collect::<Result<Vec<_>>>()?;
        Ok(json!({ "structuredQuery": self.query.to_rest()?, "aggregations": aggregations }))
    }
}

fn selector(from: &str) -> Value {
    match from.strip_prefix("**/") {
        Some(id) => json!({ "collectionId": id, "allDescendants": true }),
        None => json!({ "collectionId": from }),
    }
}

fn order_to_rest(order: &str) -> Value {
    match order.strip_prefix('-') {
        Some(path) => json!({ "field": { "fieldPath": path }, "direction": "DESCENDING" }),
        None => json!({ "field": { "fieldPath": order }, "direction": "ASCENDING" }),
    }
}

fn aggregation(of: &[Value]) -> Result<Value> {
    let text = |index: usize| of.get(index).and_then(Value::as_str);
    let kind = text(0).ok_or_else(|| anyhow!("an aggregation starts with its kind"))?;
    let (alias, body) = match kind {
        "count" => {
            let up_to = of.get(2).map(|up_to| json!({ "upTo": up_to }));
            (text(1), up_to.unwrap_or_else(|| json!({})))
        }
        _ => (text(2), json!({ "field": { "fieldPath": text(1) } })),
    };
    let mut out = Map::new();
    if let Some(alias) = alias {
        out.insert("alias".into(), json!(alias));
    }
    out.insert(kind.to_owned(), body);
    Ok(Value::Object(out))
}

/// `[field, op, value]`, `[field, "is-null"]`, `["and"|"or", filter, ...]`, or the REST object itself.
fn filter_to_rest(filter: &Value) -> Result<Value> {
    let Value::Array(items) = filter else { return Ok(filter.clone()) };
    match items.as_slice() {
        [Value::String(word), rest @ ..] if word == "and" || word == "or" => {
            let filters = rest.iter().map(filter_to_rest).collect::<Result<Vec<_>>>()?;
            Ok(json!({ "compositeFilter": { "op": word.to_uppercase(), "filters": filters } }))
        }
        [field, Value::String(op)] => {
            Ok(json!({ "unaryFilter": { "op": unary(op)?, "field": { "fieldPath": field } } }))
        }
        [field, Value::String(op), value] => {
            let (field, value) = (json!({ "fieldPath": field }), to_rest(value));
            Ok(json!({ "fieldFilter": { "field": field, "op": operator(op)?, "value": value } }))
        }
        _ => bail!("unreadable filter {filter}"),
    }
}

fn unary(op: &str) -> Result<&'static str> {
    Ok(match op {
        "is-null" => "IS_NULL",
        "is-nan" => "IS_NAN",
        "is-not-null" => "IS_NOT_NULL",
        "is-not-nan" => "IS_NOT_NAN",
        _ => bail!("unknown operator {op}"),
    })
}

fn operator(op: &str) -> Result<&'static str> {
    Ok(match op {
        "==" => "EQUAL",
        "!=" => "NOT_EQUAL",
        "<" => "LESS_THAN",
        "<=" => "LESS_THAN_OR_EQUAL",
        ">" => "GREATER_THAN",
        ">=" => "GREATER_THAN_OR_EQUAL",
        "in" => "IN",
        "not-in" => "NOT_IN",
        "contains" => "ARRAY_CONTAINS",
        "contains-any" => "ARRAY_CONTAINS_ANY",
        _ => bail!("unknown operator {op}"),
    })
}

#[cfg(test)]
mod tests {
    use super::{AggregateSpec, QuerySpec};
    use serde_json::{Value, json};

    fn check(short: Value, rest: Value) {
        let spec: QuerySpec = serde_json::from_value(short).unwrap();
        assert_eq!(spec.to_rest().unwrap(), rest);
    }

    #[test]
    fn queries() {
        check(
            json!({"from": "**/c"}),
            json!({"from": [{"collectionId": "c", "allDescendants": true}]}),
        );
        check(
            json!({"where": ["or", ["a", "==", 1], ["b", "is-nan"]], "orderBy": ["-n"], "startAfter": [1]}),
            json!({
                "where": {"compositeFilter": {"op": "OR", "filters": [
                    {"fieldFilter": {"field": {"fieldPath": "a"}, "op": "EQUAL", "value": {"integerValue": "1"}}},
                    {"unaryFilter": {"op": "IS_NAN", "field": {"fieldPath": "b"}}}]}},
                "orderBy": [{"field": {"fieldPath": "n"}, "direction": "DESCENDING"}],
                "startAt": {"values": [{"integerValue": "1"}], "before": false},
            }),
        );
    }

    #[test]
    fn aggregations() {
        let spec: AggregateSpec =
            serde_json::from_value(json!({"of": [["count", "c", 3], ["sum", "n"]]})).unwrap();
        let sum = json!({"sum": {"field": {"fieldPath": "n"}}});
        assert_eq!(
            spec.to_rest().unwrap(),
            json!({"structuredQuery": {}, "aggregations": [{"alias": "c", "count": {"upTo": 3}}, sum]})
        );
    }
}

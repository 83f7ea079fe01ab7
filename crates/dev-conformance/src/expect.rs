//! What a step must answer, and checking an answer against it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answer::Answer;
use crate::generate;
use crate::matcher::diff;
use crate::scope::Scope;
use crate::value::{expand_marks, fields_to_rest, to_rest};

/// The expected answer; every member present must hold. See `cases/README.md`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Expectation {
    /// HTTP status; absent: 200, or the one that belongs to `error`.
    status: Option<u16>,
    /// The whole body.
    body: Option<Value>,
    /// Canonical name of the error's code.
    error: Option<String>,
    /// The error's text; absent: any.
    message: Option<Value>,
    /// Fields of the one document answered.
    fields: Option<Map<String, Value>>,
    /// Relative paths of the documents of a query or list, in order.
    ids: Option<Value>,
    /// Relative paths and fields of the documents of a query or list, in order.
    docs: Option<Map<String, Value>>,
    /// Relative paths and fields (null: missing) of a batch get, in order.
    batch: Option<Map<String, Value>>,
    /// Results of an aggregation.
    aggregate: Option<Map<String, Value>>,
    /// Fields of the rows of a pipeline, in order, a row's name as a relative path under `@`.
    rows: Option<Vec<Map<String, Value>>>,
    /// Transform results of the writes of a commit.
    transforms: Option<Vec<Vec<Value>>>,
    /// Headers; null: must be absent.
    headers: BTreeMap<String, Value>,
    /// The answer must take no longer.
    within_ms: Option<u64>,
    /// There is no answer at all.
    pub(crate) hang: bool,
}

impl Expectation {
    /// Lists every way in which an answer is not as expected.
    pub fn check(&self, answer: &Answer, scope: &Scope) -> Vec<String> {
        if self.hang {
            return if answer.status == 0 { vec![] } else { vec!["expected no answer".to_owned()] };
        }
        if answer.status == 0 {
            return vec!["no answer".to_owned()];
        }
        let mut out = Vec::new();
        let status = self.status.or(self.error.as_deref().map(http_status)).unwrap_or(200);
        if answer.status != status {
            out.push(format!(
                "status: expected {status}, is {} {}",
                answer.status,
                brief(&answer.body)
            ));
            return out;
        }
        if let Some(name) = &self.error {
            self.check_error(name, status, answer, scope, &mut out);
        }
        for (expected, actual) in self.views(answer, scope) {
            let expected = scope.resolve_json(&expand_marks(&generate::expand(&expected)));
            out.extend(diff(&expected, &actual, scope));
        }
        for (name, expected) in &self.headers {
            let actual = answer.headers.get(name).map_or(Value::Null, |value| json!(value));
            out.extend(
                diff(&scope.resolve_json(expected), &actual, scope)
                    .iter()
                    .map(|d| format!("{name} {d}")),
            );
        }
        if let Some(limit) = self.within_ms.filter(|limit| answer.millis > *limit) {
            out.push(format!("expected within {limit} ms, took {} ms", answer.millis));
        }
        out
    }

    /// Whether what is expected is no result.
    pub(crate) fn is_refusal(&self) -> bool {
        self.error.is_some() || self.hang
    }

    fn check_error(
        &self,
        name: &str,
        status: u16,
        answer: &Answer,
        scope: &Scope,
        out: &mut Vec<String>,
    ) {
        let Some(error) = answer.error() else {
            out.push(format!("expected an error object, is {}", brief(&answer.body)));
            return;
        };
        let mut expected = json!({ "code": status, "status": name, "$more": true });
        if let (Some(message), Value::Object(members)) = (&self.message, &mut expected) {
            members.insert("message".to_owned(), scope.resolve_json(message));
        }
        out.extend(diff(&expected, error, scope));
    }

    /// Pairs of expected and actual, one for each short form present.
    fn views(&self, answer: &Answer, scope: &Scope) -> Vec<(Value, Value)> {
        let body = &answer.body;
        let mut out = Vec::new();
        if let Some(expected) = &self.body {
            out.push((expected.clone(), body.clone()));
        }
        if let Some(fields) = &self.fields {
            let actual = body.get("fields").cloned().unwrap_or_else(|| json!({}));
            out.push((fields_to_rest(fields), actual));
        }
        if let Some(ids) = &self.ids {
            let actual = documents(body).map(|document| json!(relative(document, scope))).collect();
            out.push((ids.clone(), actual));
        }
        if let Some(docs) = &self.docs {
            let expected =
                docs.iter().map(|(id, fields)| json!([id, optional_fields(fields)])).collect();
            let actual = documents(body).map(|document| pair(document, scope)).collect();
            out.push((expected, actual));
        }
        if let Some(batch) = &self.batch {
            let expected =
                batch.iter().map(|(id, fields)| json!([id, optional_fields(fields)])).collect();
            out.push((expected, batch_results(body, scope)));
        }
        if let Some(aggregate) = &self.aggregate {
            let actual =
                body.pointer("/0/result/aggregateFields").cloned().unwrap_or_else(|| json!({}));
            out.push((fields_to_rest(aggregate), actual));
        }
        if let Some(rows) = &self.rows {
            let actual = results(body).map(|row| named_row(row, scope)).collect();
            out.push((rows.iter().map(expected_row).collect(), actual));
        }
        if let Some(transforms) = &self.transforms {
            let expected =
                transforms.iter().map(|results| results.iter().map(to_rest).collect::<Value>());
            let actual = body.get("writeResults").and_then(Value::as_array).into_iter().flatten();
            let actual =
                actual.map(|result| result.get("transformResults").cloned().unwrap_or(json!([])));
            out.push((expected.collect(), actual.collect()));
        }
        out
    }
}

/// The HTTP status of a canonical code.
fn http_status(name: &str) -> u16 {
    match name {
        "INVALID_ARGUMENT" | "FAILED_PRECONDITION" | "OUT_OF_RANGE" => 400,
        "UNAUTHENTICATED" => 401,
        "PERMISSION_DENIED" => 403,
        "NOT_FOUND" => 404,
        "ALREADY_EXISTS" | "ABORTED" => 409,
        "RESOURCE_EXHAUSTED" => 429,
        "CANCELLED" => 499,
        "UNIMPLEMENTED" => 501,
        "UNAVAILABLE" => 503,
        "DEADLINE_EXCEEDED" => 504,
        _ => 500,
    }
}

fn documents(body: &Value) -> impl Iterator<Item = &Value> {
    let listed = body.get("documents").and_then(Value::as_array).into_iter().flatten();
    let streamed = body.as_array().into_iter().flatten().filter_map(|item| item.get("document"));
    listed.chain(streamed)
}

/// The rows of a pipeline's answer.
fn results(body: &Value) -> impl Iterator<Item = &Value> {
    let responses = body.as_array().into_iter().flatten();
    responses.filter_map(|response| response.get("results")?.as_array()).flatten()
}

/// A row as the pair of its name, if it has one, and its fields.
fn named_row(row: &Value, scope: &Scope) -> Value {
    let name = row.get("name").map(|_| relative(row, scope));
    json!([name, row.get("fields").cloned().unwrap_or_else(|| json!({}))])
}

fn expected_row(row: &Map<String, Value>) -> Value {
    let mut fields = row.clone();
    let name = fields.remove("@");
    json!([name, fields_to_rest(&fields)])
}

fn relative(document: &Value, scope: &Scope) -> String {
    let name = document.get("name").and_then(Value::as_str).unwrap_or_default();
    let prefix = format!("{}/", scope.documents());
    name.strip_prefix(&prefix).unwrap_or(name).to_owned()
}

fn pair(document: &Value, scope: &Scope) -> Value {
    json!([relative(document, scope), document.get("fields").cloned().unwrap_or_else(|| json!({}))])
}

fn batch_results(body: &Value, scope: &Scope) -> Value {
    let items = body.as_array().into_iter().flatten();
    items
        .filter_map(|item| match (item.get("found"), item.get("missing")) {
            (Some(found), _) => Some(pair(found, scope)),
            (None, Some(name)) => Some(json!([relative(&json!({ "name": name }), scope), null])),
            (None, None) => None,
        })
        .collect()
}

fn optional_fields(fields: &Value) -> Value {
    fields.as_object().map_or_else(|| fields.clone(), fields_to_rest)
}

fn brief(body: &Value) -> String {
    let text = body.to_string();
    text.char_indices()
        .nth(400)
        .map_or(text.clone(), |(end, _)| text.get(..end).unwrap_or("").to_owned())
}

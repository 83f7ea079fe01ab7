//! From a step to the HTTP request it stands for.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::case::{Auth, Step};
use crate::generate;
use crate::pipeline;
use crate::scope::Scope;
use crate::value::expand_marks;
use crate::write::WriteSpec;

/// One HTTP request, ready to send.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: Bytes,
}

/// Builds a step's request. Captured texts must be known by now.
pub(crate) fn build(step: &Step, auth: &Auth, scope: &Scope) -> Result<Request> {
    let (method, target, body) = shape(step)?;
    let target = scope.resolve_target(&absolute(&target));
    let body = match (&step.raw, body) {
        (Some(raw), _) => Bytes::from(scope.resolve(raw)),
        (None, Some(body)) => {
            let mut body = scope.resolve_json(&expand_marks(&generate::expand(&body)));
            add_members(&mut body, step, scope);
            Bytes::from(serde_json::to_vec(&body)?)
        }
        (None, None) => Bytes::new(),
    };
    let mut headers = BTreeMap::new();
    if let Some(header) = step.auth.as_ref().unwrap_or(auth).header() {
        headers.insert("authorization".to_owned(), header);
    }
    if !body.is_empty() {
        headers.insert("content-type".to_owned(), "application/json".to_owned());
    }
    for (name, value) in &step.headers {
        match value {
            Some(value) => headers.insert(name.clone(), scope.resolve(value)),
            None => headers.remove(name),
        };
    }
    Ok(Request { method, target, headers, body })
}

/// The commit that writes a case's setup.
pub(crate) fn setup(documents: &Map<String, Value>, scope: &Scope) -> Result<Request> {
    let step = Step { set: Some(documents.clone()), ..Step::default() };
    build(&step, &Auth::Owner, scope)
}

/// The request that puts rules in force for a case's project. Their wildcards must not be named as placeholders.
pub(crate) fn rules(source: &str, scope: &Scope) -> Result<Request> {
    let step = Step {
        call: Some("PUT /emulator/v1/projects/{project}:securityRules".to_owned()),
        body: Some(json!({"rules": {"files": [{"name": "firestore.rules", "content": source}]}})),
        ..Step::default()
    };
    build(&step, &Auth::Owner, scope)
}

fn absolute(target: &str) -> String {
    if target.starts_with('{') { format!("/v1/{target}") } else { target.to_owned() }
}

/// Method, target and JSON body before placeholders are replaced.
fn shape(step: &Step) -> Result<(String, String, Option<Value>)> {
    let post = |target: String, body: Value| Ok(("POST".to_owned(), target, Some(body)));
    if let Some(call) = &step.call {
        let (method, target) = call.split_once(' ').context("`call` is `METHOD target`")?;
        return Ok((method.to_owned(), target.to_owned(), step.body.clone()));
    }
    if let Some(path) = &step.get {
        return Ok(("GET".to_owned(), format!("{{docs}}/{path}"), None));
    }
    if let Some(documents) = &step.set {
        return post("{docs}:commit".into(), json!({ "writes": sets(documents)? }));
    }
    if let Some(writes) = &step.commit {
        return post("{docs}:commit".into(), json!({ "writes": writes_to_rest(writes)? }));
    }
    if let Some(writes) = &step.batch_write {
        return post("{docs}:batchWrite".into(), json!({ "writes": writes_to_rest(writes)? }));
    }
    if let Some(paths) = &step.batch_get {
        let names: Vec<_> = paths.iter().map(|path| format!("{{docs}}/{path}")).collect();
        return post("{docs}:batchGet".into(), json!({ "documents": names }));
    }
    if let Some(query) = &step.query {
        let target = format!("{}:runQuery", parent(query.parent.as_deref()));
        return post(target, json!({ "structuredQuery": query.to_rest()? }));
    }
    if let Some(aggregate) = &step.aggregate {
        let target = format!("{}:runAggregationQuery", parent(aggregate.query.parent.as_deref()));
        return post(target, json!({ "structuredAggregationQuery": aggregate.to_rest()? }));
    }
    if let Some(stages) = &step.pipeline {
        let structured = pipeline::structured(stages)?;
        return post("{docs}:executePipeline".into(), json!({ "structuredPipeline": structured }));
    }
    if let Some(options) = &step.begin {
        return post("{docs}:beginTransaction".into(), json!({ "options": options }));
    }
    if let Some(transaction) = &step.rollback {
        return post("{docs}:rollback".into(), json!({ "transaction": transaction }));
    }
    bail!("a step needs a request")
}

fn parent(path: Option<&str>) -> String {
    path.map_or_else(|| "{docs}".to_owned(), |path| format!("{{docs}}/{path}"))
}

fn sets(documents: &Map<String, Value>) -> Result<Value> {
    let mut writes = Vec::new();
    for (path, fields) in documents {
        let fields = fields.as_object().context("the fields of a document are an object")?;
        writes.push(WriteSpec::set(path, fields).to_rest()?);
    }
    Ok(Value::Array(writes))
}

fn writes_to_rest(writes: &[WriteSpec]) -> Result<Value> {
    writes.iter().map(WriteSpec::to_rest).collect()
}

fn add_members(body: &mut Value, step: &Step, scope: &Scope) {
    let Value::Object(members) = body else { return };
    if let Some(transaction) = &step.transaction {
        members.insert("transaction".into(), json!(scope.resolve(transaction)));
    }
    for (name, value) in step.with.iter().flatten() {
        members.insert(name.clone(), scope.resolve_json(&expand_marks(value)));
    }
}

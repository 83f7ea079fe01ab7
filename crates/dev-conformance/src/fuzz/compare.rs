//! What of two answers must agree: the code, and where both succeed, the rows.

use serde_json::{Map, Value};

use super::ask::{Ask, Method};
use super::send::Reply;

/// How two answers disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Difference {
    Code,
    /// Other rows, or another order of them.
    Rows,
    /// The same rows with other fields or results.
    Content,
}

/// Compares two answers to one request.
pub(super) fn difference(ask: &Ask, ours: &Reply, theirs: &Reply) -> Option<Difference> {
    let (Reply::Fine(ours), Reply::Fine(theirs)) = (ours, theirs) else {
        return (ours.code() != theirs.code()).then_some(Difference::Code);
    };
    let (ours, theirs) = (rows(ask, ours), rows(ask, theirs));
    let names = |rows: &[(String, Value)]| -> Vec<String> {
        rows.iter().map(|(name, _)| name.clone()).collect()
    };
    if names(&ours) != names(&theirs) {
        return Some(Difference::Rows);
    }
    let same = ours.iter().zip(&theirs).all(|((_, ours), (_, theirs))| agree(ours, theirs));
    (!same).then_some(Difference::Content)
}

/// Whether two values are the same, but for the last digits of a distance or a sum.
fn agree(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => {
            let (Some(ours), Some(theirs)) = (ours.as_f64(), theirs.as_f64()) else { return false };
            (ours - theirs).abs() <= 1e-12 * ours.abs().max(1.0)
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len()
                && ours.iter().zip(theirs).all(|(ours, theirs)| agree(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(name, value)| theirs.get(name).is_some_and(|other| agree(value, other)))
        }
        (ours, theirs) => ours == theirs,
    }
}

/// The rows of an answer: names, and what is told of each.
pub(super) fn rows(ask: &Ask, messages: &[Value]) -> Vec<(String, Value)> {
    let document = |document: &Value| {
        let name = document.get("name").and_then(Value::as_str).unwrap_or_default();
        (name.to_owned(), lenient(document.get("fields").unwrap_or(&Value::Null)))
    };
    let list = |member: &str| {
        let messages = messages.iter().filter_map(|message| message.get(member)?.as_array());
        messages.flatten().cloned().collect::<Vec<Value>>()
    };
    match ask.method {
        Method::GetDocument | Method::CreateDocument | Method::UpdateDocument => {
            messages.iter().map(document).collect()
        }
        Method::ListDocuments => list("documents").iter().map(document).collect(),
        Method::RunQuery => {
            messages.iter().filter_map(|message| message.get("document")).map(document).collect()
        }
        Method::BatchGetDocuments => messages
            .iter()
            .filter_map(|message| match message.get("found") {
                Some(found) => Some(document(found)),
                None => {
                    let name = message.get("missing")?.as_str()?;
                    Some((name.to_owned(), "missing".into()))
                }
            })
            .collect(),
        Method::RunAggregationQuery => {
            let results = messages.iter().filter_map(|message| message.get("result"));
            results.map(|result| (String::new(), lenient(result))).collect()
        }
        Method::ListCollectionIds => {
            let ids = list("collectionIds");
            ids.iter().map(|id| (id.as_str().unwrap_or_default().to_owned(), Value::Null)).collect()
        }
        Method::Commit => list("writeResults").iter().map(transform_results).collect(),
        Method::BatchWrite => list("status")
            .iter()
            .map(|status| (String::new(), status.get("code").cloned().unwrap_or_default()))
            .collect(),
        Method::DeleteDocument
        | Method::BeginTransaction
        | Method::Rollback
        | Method::PartitionQuery => Vec::new(),
    }
}

fn transform_results(result: &Value) -> (String, Value) {
    let results = result.get("transformResults").cloned().unwrap_or_default();
    (String::new(), lenient(&results))
}

/// The value without what may differ: empty members, the sign of a zero, the order of members.
fn lenient(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.iter().map(|(name, member)| (name.clone(), lenient(member)));
            let members = members.filter(|(name, member)| {
                let is_empty = member.as_object().is_some_and(Map::is_empty)
                    || member.as_array().is_some_and(Vec::is_empty);
                !(is_empty && (name == "fields" || name == "values"))
            });
            Value::Object(members.collect())
        }
        Value::Array(items) => items.iter().map(lenient).collect(),
        Value::Number(number) => {
            let number = number.as_f64().unwrap_or_default();
            if number == 0.0 { 0.0.into() } else { number.into() }
        }
        other => other.clone(),
    }
}

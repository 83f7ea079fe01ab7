//! The route that has the suite write an export.

use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use serde_json::{Map, Value, json};
use svc_kit::ExportRequest;

use super::json::pretty;
use super::routes::refuse_pages;
use crate::Hub;

/// Writes an export, and answers when it is in place.
pub(super) async fn export(
    State(hub): State<Arc<Hub>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    if let Some(refusal) = refuse_pages(&headers, "Export") {
        return refusal;
    }
    let request = match read(&body) {
        Ok(request) => request,
        Err(message) => return pretty(StatusCode::BAD_REQUEST, &json!({ "message": message })),
    };
    match hub.context.exporter.export(request).await {
        Ok(()) => pretty(StatusCode::OK, &json!({ "message": "OK" })),
        Err(message) => pretty(StatusCode::INTERNAL_SERVER_ERROR, &json!({ "message": message })),
    }
}

fn read(body: &[u8]) -> Result<ExportRequest, String> {
    let body: Map<String, Value> = serde_json::from_slice(body)
        .map_err(|error| format!("the body is no JSON object: {error}"))?;
    let text = |name: &str| body.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let dir = text("path").ok_or("`path` must be the folder to write to, a string")?;
    let targets = match body.get("targets") {
        None | Some(Value::Null) => None,
        Some(Value::Array(names)) => {
            let names = names.iter().map(|name| name.as_str().map(str::to_owned));
            Some(names.collect::<Option<Vec<_>>>().ok_or(TARGETS)?)
        }
        Some(_) => return Err(TARGETS.to_owned()),
    };
    let initiated_by = text("initiatedBy").unwrap_or("unknown").to_owned();
    Ok(ExportRequest { dir: PathBuf::from(dir), targets, initiated_by })
}

const TARGETS: &str = "`targets` must be an array of names";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_read_or_refused() {
        let request = |dir: &str, targets: Option<&[&str]>, initiated_by: &str| ExportRequest {
            dir: PathBuf::from(dir),
            targets: targets.map(|names| names.iter().map(|name| (*name).to_owned()).collect()),
            initiated_by: initiated_by.to_owned(),
        };
        let table = [
            (r#"{"path":"/x"}"#, Ok(request("/x", None, "unknown"))),
            (r#"{"path":"x","initiatedBy":"a","other":1}"#, Ok(request("x", None, "a"))),
            (
                r#"{"path":"/x","targets":["firestore"]}"#,
                Ok(request("/x", Some(&["firestore"]), "unknown")),
            ),
            (r#"{"path":"/x","targets":null}"#, Ok(request("/x", None, "unknown"))),
            (r#"{"path":"/x","targets":"firestore"}"#, Err("`targets`")),
            (r#"{"path":"/x","targets":[1]}"#, Err("`targets`")),
            (r#"{"path":""}"#, Err("`path`")),
            (r#"{"path":1}"#, Err("`path`")),
            ("{}", Err("`path`")),
            ("[]", Err("no JSON object")),
            ("", Err("no JSON object")),
        ];
        for (body, expected) in table {
            match (read(body.as_bytes()), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{body}"),
                (Err(found), Err(part)) => assert!(found.contains(part), "{body}: {found}"),
                (found, _) => panic!("{body}: {found:?}"),
            }
        }
    }
}

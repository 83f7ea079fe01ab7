//! JSON answers, indented by two spaces as the official hub sends them.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::Value;

/// An answer with a JSON body.
pub(super) fn pretty(status: StatusCode, value: &Value) -> Response {
    let content_type = [(header::CONTENT_TYPE, "application/json; charset=utf-8")];
    (status, content_type, format!("{value:#}")).into_response()
}

//! The hub's routes.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::{HeaderMap, StatusCode, Uri, header};
use axum::middleware::from_fn;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use serde_json::json;
use tower_http::catch_panic::CatchPanicLayer;

use super::cors;
use super::export::export;
use super::json::pretty;
use crate::{Hub, ops};

/// The official text for a route that needs functions when they do not run.
const NO_FUNCTIONS: &str = "The Cloud Functions emulator is not running.";

/// One request for an export: a path and some names.
const EXPORT_BODY_BYTES_MAX: usize = 64 * 1024;

/// All routes of the hub.
pub(crate) fn router(hub: Arc<Hub>) -> Router {
    Router::new()
        .route("/", get(describe))
        .route("/emulators", get(list_emulators))
        .route("/_admin/export", post(export).layer(DefaultBodyLimit::max(EXPORT_BODY_BYTES_MAX)))
        .route("/functions/disableBackgroundTriggers", put(disable_background_triggers))
        .route("/functions/enableBackgroundTriggers", put(enable_background_triggers))
        .route("/dataconnect/clearData", post(clear_data_connect))
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn(cors::layer))
        .with_state(hub)
}

async fn describe(State(hub): State<Arc<Hub>>) -> Response {
    pretty(StatusCode::OK, &ops::describe(&hub))
}

async fn list_emulators(State(hub): State<Arc<Hub>>) -> Response {
    pretty(StatusCode::OK, &ops::list_emulators(&hub))
}

async fn disable_background_triggers() -> Response {
    pretty(StatusCode::BAD_REQUEST, &json!({ "error": NO_FUNCTIONS }))
}

/// Unlike its counterpart this route answers plain text: the official hub does so.
async fn enable_background_triggers() -> Response {
    (StatusCode::BAD_REQUEST, NO_FUNCTIONS).into_response()
}

async fn clear_data_connect(headers: HeaderMap) -> Response {
    if let Some(refusal) = refuse_pages(&headers, "Clear SQL Connect") {
        return refusal;
    }
    let error = "The SQL Connect emulator is not running.";
    pretty(StatusCode::BAD_REQUEST, &json!({ "error": error }))
}

/// A web page may not do what changes files or data: a request that carries an origin is refused
/// before anything is done.
pub(super) fn refuse_pages(headers: &HeaderMap, what: &str) -> Option<Response> {
    let message = format!("{what} cannot be triggered by external callers.");
    let refusal = || pretty(StatusCode::FORBIDDEN, &json!({ "message": message }));
    headers.contains_key(header::ORIGIN).then(refusal)
}

fn panicked(_panic: Box<dyn Any + Send>) -> Response {
    tracing::error!("a handler of the emulator hub panicked: this is a defect of firelet");
    let error = "the emulator hub failed: this is a defect of firelet";
    pretty(StatusCode::INTERNAL_SERVER_ERROR, &json!({ "error": error }))
}

async fn unknown(uri: Uri) -> Response {
    let error = format!("the emulator hub has no route `{}`", uri.path());
    pretty(StatusCode::NOT_FOUND, &json!({ "error": error }))
}

async fn wrong_method(uri: Uri) -> Response {
    let error = format!("the emulator hub has no such method on `{}`", uri.path());
    pretty(StatusCode::METHOD_NOT_ALLOWED, &json!({ "error": error }))
}

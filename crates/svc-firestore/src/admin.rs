//! The emulator's own routes beside the product's: the health check, clearing, and security rules; and forking, which
//! is firelet's.

mod requests;
mod rules;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Path, Request, State as Shared};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use axum::routing::{any, delete, get, post};
use base_status::Status;
use base_value::{DatabaseName, ResourcePath};
use http::Method;
use http::header::CONTENT_TYPE;

use crate::error::Error;
use crate::ops;
use crate::state::State;

/// Routes that only emulators have. Paths and answers are those of the official emulator, but for forks.
pub(crate) fn router(state: Arc<State>) -> Router {
    let documents = "/emulator/v1/projects/{project}/databases/{database}/documents";
    Router::new()
        .route("/", get(|| async { "Ok\n" }))
        .route("/emulator/v1/projects/{project}", any(rules::serve))
        .route("/emulator/v1/projects/{project}/databases/{database}", any(rules::serve))
        .route("/requests", any(requests::serve))
        .route(documents, delete(clear_database))
        .route(&format!("{documents}/{{*path}}"), delete(clear_path))
        .route("/emulator/v1/projects/{project}/fork-of/{from}", post(fork))
        .route_layer(axum::middleware::from_fn(refuse_foreign_pages))
        .with_state(state)
}

/// What deletes data, sets rules or tells of requests is not for the web pages of strangers that happen to be open on
/// this machine.
async fn refuse_foreign_pages(request: Request, next: Next) -> Response {
    let changes = matches!(*request.method(), Method::DELETE | Method::PUT | Method::POST);
    let path = request.uri().path();
    let tells = path == "/requests" || path.contains(":ruleCoverage");
    if (changes || tells) && front::is_foreign_page(request.headers()) {
        let text = "web pages that this machine does not serve may not clear data, set rules or see requests";
        return front::status_to_http(&Status::permission_denied(text));
    }
    next.run(request).await
}

async fn clear_database(
    Shared(state): Shared<Arc<State>>,
    Path((project, database)): Path<(String, String)>,
) -> Response {
    let database = DatabaseName::new(&project, &database);
    answer(ops::clear::clear(&state, &database, &ResourcePath::root()).await)
}

async fn clear_path(
    Shared(state): Shared<Arc<State>>,
    Path((project, database, path)): Path<(String, String, String)>,
) -> Response {
    let database = DatabaseName::new(&project, &database);
    answer(match ResourcePath::parse(&path) {
        Ok(path) => ops::clear::clear(&state, &database, &path).await,
        Err(error) => Err(error.into()),
    })
}

/// Makes one project a copy of another one: how a test runner's worker gets at the run's data, in constant time.
async fn fork(
    Shared(state): Shared<Arc<State>>,
    Path((to, from)): Path<(String, String)>,
) -> Response {
    answer(ops::fork::fork(&state, from, to).await)
}

fn answer(done: Result<(), Error>) -> Response {
    match done {
        Ok(()) => ([(CONTENT_TYPE, "application/json")], "{}\n").into_response(),
        Err(error) => front::status_to_http(&Status::from(error)),
    }
}

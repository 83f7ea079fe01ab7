//! The answer to a path nobody serves.

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use base_status::Status;
use http::StatusCode;

use crate::status::{Protocol, refuse_in};

/// Answers UNIMPLEMENTED to gRPC, and to everything else the 404 of the official emulator: plain text, no type.
pub async fn unknown_route(request: Request) -> Response {
    match Protocol::of(request.headers()) {
        Protocol::Grpc => refuse_in(Protocol::Grpc, method_not_found(request.uri().path())),
        Protocol::Json => not_found(),
    }
}

pub(crate) fn not_found() -> Response {
    let mut response = Response::new(Body::from("Not Found\n"));
    *response.status_mut() = StatusCode::NOT_FOUND;
    response
}

/// The text grpc-java uses, which the official emulator is made of.
pub(crate) fn method_not_found(path: &str) -> Status {
    Status::unimplemented(format!("Method not found: {}", path.trim_start_matches('/')))
}

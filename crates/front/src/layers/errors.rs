//! Moves the status of a failed gRPC call from its headers to its trailers.

use axum::response::Response;
use http::{HeaderMap, HeaderName, HeaderValue};

use crate::fallback::method_not_found;
use crate::status::{status_to_tonic, status_trailers, trailers_body};

const STATUS: HeaderName = HeaderName::from_static("grpc-status");
const MESSAGE: HeaderName = HeaderName::from_static("grpc-message");
const DETAILS: HeaderName = HeaderName::from_static("grpc-status-details-bin");

/// tonic answers a call that fails before its first message with headers alone. See `status::grpc_response` for why
/// that must not reach a client. The message for an unknown method, which tonic leaves empty, is filled in here.
pub(super) fn to_trailers(mut response: Response, path: &str) -> Response {
    let headers = response.headers_mut();
    let Some(status) = headers.remove(STATUS) else {
        return response;
    };
    let mut trailers = HeaderMap::with_capacity(3);
    match headers.remove(MESSAGE) {
        Some(message) => {
            trailers.insert(MESSAGE, message);
        }
        None if status == HeaderValue::from_static("12") => {
            trailers.extend(status_trailers(&status_to_tonic(method_not_found(path))));
        }
        None => {}
    }
    if let Some(details) = headers.remove(DETAILS) {
        trailers.insert(DETAILS, details);
    }
    trailers.insert(STATUS, status);
    response.map(|_| trailers_body(trailers))
}

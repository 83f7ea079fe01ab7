//! CORS as the official hub sends it: any origin is reflected, without credentials.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const METHODS: HeaderValue = HeaderValue::from_static("GET,HEAD,PUT,PATCH,POST,DELETE");
const ASKS_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOWS_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// Answers preflights and marks every other answer as readable by the page that asked.
pub(super) async fn layer(request: Request, next: Next) -> Response {
    let asked = request.headers().clone();
    let preflight = request.method() == Method::OPTIONS;
    let mut response =
        if preflight { StatusCode::NO_CONTENT.into_response() } else { next.run(request).await };
    let headers = response.headers_mut();
    if preflight {
        allow_request(&asked, headers);
    }
    if let Some(origin) = asked.get(header::ORIGIN) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    }
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    if asked.contains_key(ASKS_PRIVATE_NETWORK) {
        headers.insert(ALLOWS_PRIVATE_NETWORK, HeaderValue::from_static("true"));
    }
    response
}

fn allow_request(asked: &HeaderMap, headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    if let Some(names) = asked.get(header::ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
        headers.append(header::VARY, HeaderValue::from_static("Access-Control-Request-Headers"));
    }
}

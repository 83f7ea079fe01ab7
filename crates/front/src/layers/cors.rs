//! CORS as the official emulators and production send it: the origin is echoed, credentials are allowed, no `Vary`.

use axum::body::Body;
use axum::response::Response;
use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_REQUEST_HEADERS, ORIGIN,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method};

const METHODS: HeaderValue = HeaderValue::from_static("DELETE,GET,HEAD,PATCH,POST,PUT");
const TRUE: HeaderValue = HeaderValue::from_static("true");
const ASKS_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-request-private-network");
const ALLOW_PRIVATE_NETWORK: HeaderName =
    HeaderName::from_static("access-control-allow-private-network");

/// What a request says about its origin.
pub(super) struct Cors {
    origin: Option<HeaderValue>,
}

impl Cors {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        Self { origin: headers.get(ORIGIN).cloned() }
    }

    /// The answer to a preflight; `None` when the request is none.
    pub(super) fn preflight(&self, method: &Method, headers: &HeaderMap) -> Option<Response> {
        if method != Method::OPTIONS || self.origin.is_none() {
            return None;
        }
        let mut response = self.mark(Response::new(Body::empty()));
        let out = response.headers_mut();
        if let Some(requested) = headers.get(ACCESS_CONTROL_REQUEST_HEADERS) {
            out.insert(ACCESS_CONTROL_ALLOW_HEADERS, requested.clone());
        }
        if headers.get(ASKS_PRIVATE_NETWORK).is_some_and(|value| value == "true") {
            out.insert(ALLOW_PRIVATE_NETWORK, TRUE);
        }
        Some(response)
    }

    /// Allows the origin to read an answer.
    pub(super) fn mark(&self, mut response: Response) -> Response {
        if let Some(origin) = &self.origin {
            let headers = response.headers_mut();
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            headers.insert(ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
        }
        response
    }
}

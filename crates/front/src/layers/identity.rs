//! Reads the `Authorization` header once, for everything behind.

use base_status::{Code, Status};
use base_token::{Identity, TokenError, parse_authorization};
use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Who sent a request with these headers.
///
/// # Errors
///
/// INVALID_ARGUMENT for a token that cannot be decoded, UNAUTHENTICATED for another scheme than `Bearer`.
pub(super) fn identify(headers: &HeaderMap) -> Result<Identity, Status> {
    let Some(value) = headers.get(AUTHORIZATION) else {
        return Ok(Identity::Anonymous);
    };
    // Bytes that are no text are no token either.
    let value = value.to_str().unwrap_or("Bearer -");
    parse_authorization(Some(value)).map_err(|error| {
        let code = match error {
            TokenError::InvalidJwt => Code::InvalidArgument,
            TokenError::UnsupportedScheme => Code::Unauthenticated,
        };
        Status::new(code, "invalid-authorization", error.to_string())
    })
}

//! Page tokens as text: URL-safe base64 of bytes that mean something to the method that made them.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::Bytes;

use crate::error::Error;

/// The text of a token.
pub(crate) fn encode(token: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(token)
}

/// The bytes of a token.
///
/// # Errors
/// INVALID_ARGUMENT `invalid page token`.
pub(crate) fn decode(token: &str) -> Result<Bytes, Error> {
    let bytes = URL_SAFE_NO_PAD.decode(token);
    bytes.map(Bytes::from).map_err(|_| invalid())
}

/// What is said of a token that the method has not made.
pub(crate) fn invalid() -> Error {
    Error::invalid("invalid page token")
}

/// The token of the page after that name, of a method whose tokens begin with `method`.
pub(crate) fn of_name(method: &[u8], last: &str) -> String {
    encode(&[method, last.as_bytes()].concat())
}

/// The name that a page comes after; `None` for the first page.
///
/// # Errors
/// As [`decode`], also for tokens of other methods.
pub(crate) fn name_after(method: &[u8], token: &str) -> Result<Option<String>, Error> {
    if token.is_empty() {
        return Ok(None);
    }
    let bytes = decode(token)?;
    let name = bytes.strip_prefix(method).and_then(|name| str::from_utf8(name).ok());
    Ok(Some(name.ok_or_else(invalid)?.to_owned()))
}

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
    bytes.map(Bytes::from).map_err(|_| Error::invalid("invalid page token"))
}

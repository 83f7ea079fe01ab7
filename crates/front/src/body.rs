//! Reading the body of a request, within bounds.

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body::Body as _;
use http_body_util::BodyExt;

use crate::limits::{BODY_SILENCE_MAX, DRAINED_BYTES_MAX};

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("the request body is too large")]
    TooLarge,
    /// The client has stopped in the middle of it.
    #[error("the rest of the request body did not come in time")]
    Silent,
    #[error("the request body could not be read: {0}")]
    Broken(axum::Error),
}

/// Reads a body up to its bound.
///
/// # Errors
///
/// It is longer than `limit`, or does not end.
pub(crate) async fn read(mut body: Body, limit: usize) -> Result<Bytes, BodyError> {
    let announced = body.size_hint().lower();
    let mut bytes = BytesMut::with_capacity(usize::try_from(announced).unwrap_or(0).min(limit));
    let mut is_too_large = announced > limit as u64;
    let mut left = limit + DRAINED_BYTES_MAX;
    while let Some(data) = next(&mut body).await? {
        is_too_large |= bytes.len() + data.len() > limit;
        // Who sends too much hears of it only when it has been read: a connection that is closed while a
        // client writes looks broken to it.
        let Some(rest) = left.checked_sub(data.len()) else { break };
        left = rest;
        if !is_too_large {
            bytes.extend_from_slice(&data);
        }
    }
    if is_too_large { Err(BodyError::TooLarge) } else { Ok(bytes.freeze()) }
}

/// The next part of a body.
async fn next(body: &mut Body) -> Result<Option<Bytes>, BodyError> {
    loop {
        let frame = tokio::time::timeout(BODY_SILENCE_MAX, body.frame()).await;
        let Some(frame) = frame.map_err(|_| BodyError::Silent)? else { return Ok(None) };
        // Trailers say nothing here.
        if let Ok(data) = frame.map_err(BodyError::Broken)?.into_data() {
            return Ok(Some(data));
        }
    }
}

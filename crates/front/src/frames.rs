//! gRPC frames over an in-process body: one byte of flags, four of length, the message; the status in the trailers.

use axum::body::Body;
use axum::response::Response;
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body_util::BodyExt;

const PREFIX: usize = 5;

/// A message as the one frame of a request.
pub(crate) fn frame(message: &[u8]) -> Bytes {
    let mut out = BytesMut::with_capacity(PREFIX + message.len());
    out.put_u8(0);
    // Longer than four bytes can tell is longer than any limit: the service refuses it.
    out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    out.put_slice(message);
    out.freeze()
}

/// The messages of a response, and its status behind them.
pub(crate) struct Frames {
    body: Body,
    buffer: BytesMut,
    status: Option<tonic::Status>,
}

/// What comes next in a response.
pub(crate) enum Next {
    Message(Bytes),
    /// The end: nothing follows.
    End(Result<(), tonic::Status>),
}

impl Frames {
    pub(crate) fn new(response: Response) -> Self {
        // A status among the headers means that no message comes.
        let status = tonic::Status::from_header_map(response.headers());
        Self { body: response.into_body(), buffer: BytesMut::new(), status }
    }

    /// A message that is here already, without waiting.
    pub(crate) fn buffered(&mut self) -> Option<Bytes> {
        let mut prefix = self.buffer.get(..PREFIX)?;
        prefix.advance(1);
        let len = usize::try_from(prefix.get_u32()).ok()?;
        if self.buffer.len() < PREFIX + len {
            return None;
        }
        self.buffer.advance(PREFIX);
        Some(self.buffer.split_to(len).freeze())
    }

    pub(crate) async fn next(&mut self) -> Next {
        loop {
            if let Some(message) = self.buffered() {
                return Next::Message(message);
            }
            match self.body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer.extend_from_slice(&data),
                    Err(frame) => {
                        let trailers = frame.into_trailers().unwrap_or_default();
                        self.status = tonic::Status::from_header_map(&trailers);
                    }
                },
                Some(Err(error)) => {
                    return Next::End(Err(tonic::Status::internal(error.to_string())));
                }
                None => return Next::End(self.end()),
            }
        }
    }

    fn end(&mut self) -> Result<(), tonic::Status> {
        match self.status.take() {
            Some(status) if status.code() == tonic::Code::Ok => Ok(()),
            Some(status) => Err(status),
            None => Err(tonic::Status::internal("the answer ended without a status")),
        }
    }
}

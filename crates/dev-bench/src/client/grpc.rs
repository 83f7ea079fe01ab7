//! gRPC: frames over HTTP/2, the status in the trailers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as Task, Poll};

use anyhow::{Context, Result, bail};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, TE};
use http_body::{Body, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Answer, OWNER, Request, refuse};
use crate::workloads::data::DATABASE;

/// One byte of flags and four of length before every message.
const PREFIX: usize = 5;

/// Windows for a page of large documents, so that no side waits for the client to make room.
const STREAM_WINDOW: u32 = 8 * 1024 * 1024;
/// See [`STREAM_WINDOW`].
const CONNECTION_WINDOW: u32 = 16 * 1024 * 1024;

/// What the SDKs send beside the message: which database streams are about.
const RESOURCE_PREFIX: &str = "google-cloud-resource-prefix";

/// One gRPC connection.
pub struct Grpc {
    sender: http2::SendRequest<Outgoing>,
    origin: String,
    driver: JoinHandle<()>,
    /// The `Authorization` of every request.
    pub(super) caller: &'static str,
}

impl Grpc {
    pub(super) async fn open(stream: TcpStream, authority: &str) -> Result<Self> {
        let (sender, connection) = http2::Builder::new(TokioExecutor::new())
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .handshake(TokioIo::new(stream))
            .await?;
        let driver = tokio::spawn(async move {
            // Its end is seen by the next request.
            let _end = connection.await;
        });
        let origin = format!("http://{authority}");
        Ok(Self { sender, origin, driver, caller: OWNER })
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// The connection fails, or the answer is an error.
    pub async fn send(&mut self, request: Request) -> Result<Answer> {
        let target = request.target.clone();
        let (head, body) = self.call(request, false).await?.into_parts();
        let collected = body.collect().await?;
        // An answer without messages may carry its status among the headers.
        let trailers = collected.trailers().unwrap_or(&head.headers);
        let status = text(trailers, "grpc-status");
        match (head.status.is_success(), status.as_str()) {
            (true, "0") => Ok(Answer { body: collected.to_bytes() }),
            (_, "") => refuse(&target, head.status, "no gRPC status"),
            (_, _) => refuse(&target, status, &text(trailers, "grpc-message")),
        }
    }

    /// Sends the first message of a stream that stays open, and answers with what comes back of it.
    ///
    /// # Errors
    /// The connection fails.
    pub async fn stream(&mut self, request: Request) -> Result<Incoming> {
        let response = self.call(request, true).await?;
        Ok(response.into_body())
    }

    async fn call(
        &mut self,
        request: Request,
        stays_open: bool,
    ) -> Result<http::Response<Incoming>> {
        let Request { method, target, body } = request;
        let message = http::Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.origin))
            .header(AUTHORIZATION, self.caller)
            .header(CONTENT_TYPE, "application/grpc")
            .header(RESOURCE_PREFIX, DATABASE)
            .header(TE, "trailers")
            .body(Outgoing { message: Some(body), stays_open })
            .context("not a request")?;
        self.sender.ready().await?;
        Ok(self.sender.send_request(message).await?)
    }
}

/// Messages as they come in, whatever the frames they travel in.
pub struct Messages {
    body: Incoming,
    buffer: BytesMut,
}

impl Messages {
    /// Reads the messages of `body`.
    #[must_use]
    pub fn of(body: Incoming) -> Self {
        Self { body, buffer: BytesMut::new() }
    }

    /// The next message; `None` when the stream has ended.
    ///
    /// # Errors
    /// The connection fails, or sends no message of this type.
    pub async fn next<M: prost::Message + Default>(&mut self) -> Result<Option<M>> {
        loop {
            if let Some(message) = first_message(&mut self.buffer)? {
                return Ok(Some(M::decode(message)?));
            }
            let Some(frame) = self.body.frame().await else { return Ok(None) };
            if let Ok(data) = frame?.into_data() {
                self.buffer.extend_from_slice(&data);
            }
        }
    }
}

/// Takes a whole message off the front of `buffer`.
fn first_message(buffer: &mut BytesMut) -> Result<Option<Bytes>> {
    let Some([compressed, len @ ..]) = buffer.first_chunk::<PREFIX>() else { return Ok(None) };
    if *compressed != 0 {
        bail!("a frame is compressed");
    }
    let len = usize::try_from(u32::from_be_bytes(*len))?;
    if buffer.len() < PREFIX + len {
        return Ok(None);
    }
    buffer.advance(PREFIX);
    Ok(Some(buffer.split_to(len).freeze()))
}

/// A request's one message, and whether more could follow.
struct Outgoing {
    message: Option<Bytes>,
    stays_open: bool,
}

impl Body for Outgoing {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Task<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.message.take() {
            Some(message) => Poll::Ready(Some(Ok(Frame::data(message)))),
            // Nothing ever follows; the stream ends when the answer is dropped.
            None if self.stays_open => Poll::Pending,
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.message.is_none() && !self.stays_open
    }

    fn size_hint(&self) -> SizeHint {
        let len = self.message.as_ref().map_or(0, Bytes::len);
        match u64::try_from(len) {
            Ok(len) if !self.stays_open => SizeHint::with_exact(len),
            _ => SizeHint::default(),
        }
    }
}

impl Drop for Grpc {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

fn text(headers: &HeaderMap, name: &str) -> String {
    let value = headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()));
    value.unwrap_or_default().into_owned()
}

pub(super) fn frame(message: &impl prost::Message) -> Bytes {
    let message = message.encode_to_vec();
    let mut out = BytesMut::with_capacity(PREFIX + message.len());
    out.put_u8(0);
    out.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
    out.put_slice(&message);
    out.freeze()
}

pub(super) fn frames(mut body: Bytes) -> Result<Vec<Bytes>> {
    let mut messages = Vec::new();
    while body.has_remaining() {
        let compressed = body.try_get_u8()?;
        let len = usize::try_from(body.try_get_u32()?)?;
        if compressed != 0 || len > body.len() {
            bail!("a frame is compressed or cut short");
        }
        messages.push(body.split_to(len));
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_taken_when_they_are_whole() {
        let framed = frame(&"hello".to_owned());
        let mut buffer = BytesMut::from(framed.as_ref());
        buffer.extend_from_slice(&framed);
        let last = buffer.split_off(buffer.len() - 1);
        let text = |bytes: Option<Bytes>| {
            bytes.map(|bytes| <String as prost::Message>::decode(bytes).unwrap())
        };
        assert_eq!(text(first_message(&mut buffer).unwrap()).as_deref(), Some("hello"));
        assert_eq!(first_message(&mut buffer).unwrap(), None);
        buffer.unsplit(last);
        assert_eq!(text(first_message(&mut buffer).unwrap()).as_deref(), Some("hello"));
        assert!(buffer.is_empty());
    }

    #[test]
    fn frames_come_back_whole_or_not_at_all() {
        let message = "hello".to_owned();
        let one = frame(&message);
        let two = Bytes::from([one.as_ref(), one.as_ref()].concat());
        let answer = Answer { body: two.clone() };
        assert_eq!(answer.messages::<String>().unwrap(), ["hello", "hello"]);
        assert!(frames(two.slice(..two.len() - 1)).is_err());
        assert!(frames(Bytes::from_static(&[0, 0])).is_err());
        assert!(frames(Bytes::new()).unwrap().is_empty());
    }
}

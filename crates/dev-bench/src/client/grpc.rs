//! gRPC: frames over HTTP/2, the status in the trailers.

use anyhow::{Context, Result, bail};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::HeaderMap;
use http::header::{AUTHORIZATION, CONTENT_TYPE, TE};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Answer, OWNER, Request, refuse};

/// One byte of flags and four of length before every message.
const PREFIX: usize = 5;

/// One gRPC connection.
pub struct Grpc {
    sender: http2::SendRequest<Full<Bytes>>,
    origin: String,
    driver: JoinHandle<()>,
}

impl Grpc {
    pub(super) async fn open(stream: TcpStream, authority: &str) -> Result<Self> {
        let (sender, connection) =
            http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
        let driver = tokio::spawn(async move {
            // Its end is seen by the next request.
            let _end = connection.await;
        });
        Ok(Self { sender, origin: format!("http://{authority}"), driver })
    }

    pub(super) async fn send(&mut self, request: Request) -> Result<Answer> {
        let Request { method, target, body } = request;
        let message = http::Request::builder()
            .method(method)
            .uri(format!("{}{target}", self.origin))
            .header(AUTHORIZATION, OWNER)
            .header(CONTENT_TYPE, "application/grpc")
            .header(TE, "trailers")
            .body(Full::new(body))
            .context("not a request")?;
        self.sender.ready().await?;
        let response = self.sender.send_request(message).await?;
        let (head, body) = response.into_parts();
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

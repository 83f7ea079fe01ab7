//! REST: JSON over HTTP/1.1 with keep-alive.

use anyhow::{Context, Result};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;

use super::{Answer, OWNER, Request, refuse};

/// One REST connection.
pub struct Rest {
    sender: http1::SendRequest<Full<Bytes>>,
    authority: String,
    driver: JoinHandle<()>,
    /// The `Authorization` of every request.
    pub(super) caller: &'static str,
}

impl Rest {
    pub(super) async fn open(stream: TcpStream, authority: &str) -> Result<Self> {
        let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(async move {
            // Its end is seen by the next request.
            let _end = connection.await;
        });
        Ok(Self { sender, authority: authority.to_owned(), driver, caller: OWNER })
    }

    pub(super) async fn send(&mut self, request: Request) -> Result<Answer> {
        let Request { method, target, body } = request;
        let message = http::Request::builder()
            .method(method)
            .uri(target.as_str())
            .header(HOST, &self.authority)
            .header(AUTHORIZATION, self.caller)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .context("not a request")?;
        self.sender.ready().await?;
        let response = self.sender.send_request(message).await?;
        let status = response.status();
        let body = response.into_body().collect().await?.to_bytes();
        match status.is_success() {
            true => Ok(Answer { body }),
            false => refuse(&target, status, &String::from_utf8_lossy(&body)),
        }
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

//! A plain HTTP/1.1 client: one connection per request, a deadline on every one.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout};

use crate::answer::Answer;
use crate::request::Request;

/// How long an answer may take before the request counts as never answered.
pub const DEADLINE: Duration = Duration::from_secs(15);

/// A server to ask, as `host:port`.
#[derive(Clone, Debug)]
pub struct Client {
    authority: String,
}

impl Client {
    /// A client for `http://host:port` or `host:port`.
    pub fn new(address: &str) -> Self {
        let authority = address.trim_start_matches("http://").trim_end_matches('/').to_owned();
        Self { authority }
    }

    /// `host:port`.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// True when `GET /` answers 200.
    pub async fn is_ready(&self) -> bool {
        let request = Request {
            method: "GET".to_owned(),
            target: "/".to_owned(),
            headers: [].into(),
            body: bytes::Bytes::new(),
        };
        self.send(request, Duration::from_secs(2)).await.is_ok_and(|answer| answer.status == 200)
    }

    /// Asks as an owner, with a body of JSON, and answers what comes back.
    ///
    /// # Errors
    /// The connection fails, or the answer is none of success.
    pub async fn post(&self, target: &str, body: &Value) -> Result<Value> {
        let headers = [("authorization", "Bearer owner"), ("content-type", "application/json")];
        let request = Request {
            method: "POST".to_owned(),
            target: target.to_owned(),
            headers: headers.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
            body: serde_json::to_vec(body)?.into(),
        };
        let answer = self.send(request, DEADLINE).await?;
        ensure!(answer.status == 200, "{target}: {} {}", answer.status, answer.body);
        Ok(answer.body)
    }

    /// Sends one request. [`Answer::hang`] when the deadline passes; an error when the connection fails.
    pub(crate) async fn send(&self, request: Request, deadline: Duration) -> Result<Answer> {
        let started = Instant::now();
        let Ok(answer) = timeout(deadline, self.exchange(request)).await else {
            return Ok(Answer::hang());
        };
        let millis = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
        Ok(Answer { millis, ..answer? })
    }

    async fn exchange(&self, request: Request) -> Result<Answer> {
        let stream =
            TcpStream::connect(&self.authority).await.with_context(|| self.authority.clone())?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        let mut message = hyper::Request::builder()
            .method(request.method.as_str())
            .uri(request.target.as_str())
            .header("host", &self.authority);
        for (name, value) in &request.headers {
            message = message.header(name, value);
        }
        let message =
            message.body(Full::new(request.body)).with_context(|| request.target.clone())?;
        let response = sender.send_request(message).await?;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| {
                (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned())
            })
            .filter(|(name, value)| Answer::keeps_header(name, value))
            .collect();
        let body = response.into_body().collect().await?.to_bytes();
        driver.abort();
        Ok(Answer { status, headers, body: Answer::parse_body(&body), millis: 0 })
    }
}

//! Asking a running hub, as programs do that have found its locator file.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::Locator;

/// How long a hub has to say that it is one. Loopback answers in microseconds; the bound is for a machine under load.
const ANSWER_MAX: Duration = Duration::from_secs(5);

/// Bytes of an answer that are read.
const ANSWER_BYTES_MAX: usize = 1024 * 1024;

/// A hub that has answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundHub {
    address: SocketAddr,
}

/// Why a hub was not found, or did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HubError {
    /// There is no locator file.
    #[error("there is no locator file")]
    NoLocator,
    /// There is one, and nobody answers where it points.
    #[error("nobody answers at the addresses in its locator file")]
    Silent,
    /// The connection failed.
    #[error("the connection to the hub failed: {0}")]
    Connection(String),
    /// The hub has refused.
    #[error("{0}")]
    Refused(String),
}

impl FoundHub {
    /// The hub of a project, by the locator file in `directory`.
    ///
    /// # Errors
    /// There is none.
    pub async fn find(directory: &Path, project: &str) -> Result<FoundHub, HubError> {
        let path = directory.join(Locator::file_name(project));
        let addresses = Locator::addresses(&path).ok_or(HubError::NoLocator)?;
        for address in addresses {
            let found = FoundHub { address };
            let answer = timeout(ANSWER_MAX, found.send(Method::GET, "/", Bytes::new())).await;
            if matches!(answer, Ok(Ok((StatusCode::OK, _)))) {
                return Ok(found);
            }
        }
        Err(HubError::Silent)
    }

    /// Has the suite write an export to the absolute folder `path`, and waits for it, however long it takes.
    ///
    /// # Errors
    /// There is no export.
    pub async fn export(&self, path: &str, targets: Option<&[String]>) -> Result<(), HubError> {
        let mut body = json!({ "path": path, "initiatedBy": "emulators:export" });
        if let (Some(targets), Some(members)) = (targets, body.as_object_mut()) {
            members.insert("targets".to_owned(), targets.into());
        }
        let body = Bytes::from(body.to_string());
        let (status, answer) = self.send(Method::POST, "/_admin/export", body).await?;
        if status == StatusCode::OK {
            return Ok(());
        }
        let answer: Value = serde_json::from_slice(&answer).unwrap_or_default();
        let message = answer.get("message").and_then(Value::as_str);
        let message = message.map_or_else(|| format!("it answered {status}"), str::to_owned);
        Err(HubError::Refused(message))
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        body: Bytes,
    ) -> Result<(StatusCode, Bytes), HubError> {
        let failed = |error: &dyn std::fmt::Display| HubError::Connection(error.to_string());
        let stream = timeout(ANSWER_MAX, TcpStream::connect(self.address)).await;
        let stream = stream.map_err(|error| failed(&error))?.map_err(|error| failed(&error))?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        let (mut sender, connection) = handshake.map_err(|error| failed(&error))?;
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header(HOST, self.address.to_string())
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(body))
            .map_err(|error| failed(&error))?;
        let answered = async {
            let answer = sender.send_request(request).await.map_err(|error| failed(&error))?;
            let status = answer.status();
            let body = Limited::new(answer.into_body(), ANSWER_BYTES_MAX).collect().await;
            Ok((status, body.map_err(|error| failed(&error))?.to_bytes()))
        };
        tokio::pin!(answered, connection);
        tokio::select! {
            answer = &mut answered => answer,
            // It may end as soon as the answer is there, before that was read.
            _ended = &mut connection => answered.await,
        }
    }
}

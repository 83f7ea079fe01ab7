//! The client: one connection that stays open, gRPC over cleartext HTTP/2 or REST over HTTP/1.1.
//!
//! It is as thin as hyper allows, because what it costs is in every number alike and hides differences.

mod grpc;
mod rest;

use anyhow::{Context, Result, bail};
use bytes::Bytes;
use http::Method;
use tokio::net::TcpStream;

pub use grpc::{Grpc, Messages};
pub use rest::Rest;

/// How a request travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// gRPC over HTTP/2 with prior knowledge.
    Grpc,
    /// JSON over HTTP/1.1 with keep-alive.
    Rest,
}

/// One request, ready to be sent.
#[derive(Clone, Debug)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) body: Bytes,
}

impl Request {
    /// A gRPC call of one message.
    #[must_use]
    pub fn grpc(path: &str, message: &impl prost::Message) -> Self {
        Self { method: Method::POST, target: path.to_owned(), body: grpc::frame(message) }
    }

    /// A REST request.
    #[must_use]
    pub fn rest(method: Method, target: impl Into<String>, body: impl Into<Bytes>) -> Self {
        Self { method, target: target.into(), body: body.into() }
    }
}

/// A successful answer's body: JSON, or gRPC frames.
#[derive(Clone, Debug)]
pub struct Answer {
    body: Bytes,
}

impl Answer {
    /// The messages of a gRPC answer.
    ///
    /// # Errors
    /// The body is not made of whole frames of this message.
    pub fn messages<M: prost::Message + Default>(&self) -> Result<Vec<M>> {
        grpc::frames(self.body.clone())?
            .into_iter()
            .map(|message| M::decode(message).context("a message of another type"))
            .collect()
    }

    /// The JSON of a REST answer.
    ///
    /// # Errors
    /// It is not JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_slice(&self.body).context("the answer is not JSON")
    }
}

/// One open connection.
pub enum Connection {
    /// Speaks gRPC.
    Grpc(Grpc),
    /// Speaks REST.
    Rest(Rest),
}

impl Connection {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Nobody listens there, or not this protocol.
    pub async fn open(authority: &str, transport: Transport) -> Result<Self> {
        let stream = TcpStream::connect(authority).await.context("no connection")?;
        stream.set_nodelay(true)?;
        Ok(match transport {
            Transport::Grpc => Self::Grpc(Grpc::open(stream, authority).await?),
            Transport::Rest => Self::Rest(Rest::open(stream, authority).await?),
        })
    }

    /// The same with another caller than the owner.
    #[must_use]
    pub fn calling_as(mut self, authorization: &'static str) -> Self {
        match &mut self {
            Self::Grpc(grpc) => grpc.caller = authorization,
            Self::Rest(rest) => rest.caller = authorization,
        }
        self
    }

    /// Sends a request and reads the whole answer.
    ///
    /// # Errors
    /// The connection fails, or the answer is an error.
    pub async fn send(&mut self, request: Request) -> Result<Answer> {
        match self {
            Self::Grpc(grpc) => grpc.send(request).await,
            Self::Rest(rest) => rest.send(request).await,
        }
    }
}

impl Grpc {
    /// Connects to `host:port`.
    ///
    /// # Errors
    /// Nobody listens there, or not this protocol.
    pub async fn connect(authority: &str) -> Result<Self> {
        match Connection::open(authority, Transport::Grpc).await? {
            Connection::Grpc(grpc) => Ok(grpc),
            Connection::Rest(_) => bail!("a connection of another kind"),
        }
    }
}

/// What every SDK sends to an emulator: the caller is the owner.
pub(crate) const OWNER: &str = "Bearer owner";

fn refuse(request: &str, status: impl std::fmt::Display, text: &str) -> Result<Answer> {
    bail!("`{request}` was answered {status}: {text}")
}

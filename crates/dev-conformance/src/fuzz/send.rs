//! Sending a request to one server over a connection that stays open, and reading what came back.

use std::time::Duration;

use anyhow::{Context, Result};
use base_wire::descriptor_pool;
use bytes::{Buf, BufMut, Bytes};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost_reflect::prost::Message;
use prost_reflect::{DynamicMessage, MethodDescriptor, SerializeOptions};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::ask::{Ask, Transport};

/// How long an answer may take.
pub(super) const DEADLINE: Duration = Duration::from_secs(5);

/// What a server said.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    /// Its messages: one, or those of a stream.
    Fine(Vec<Value>),
    /// A status, by its canonical name.
    Refused { code: String, text: String },
    /// Nothing in time.
    Silent,
}

impl Reply {
    /// `OK` or the canonical name of the code.
    pub(super) fn code(&self) -> &str {
        match self {
            Reply::Fine(_) => "OK",
            Reply::Refused { code, .. } => code,
            Reply::Silent => "SILENT",
        }
    }

    pub(super) fn text(&self) -> &str {
        match self {
            Reply::Refused { text, .. } => text,
            Reply::Fine(_) | Reply::Silent => "",
        }
    }
}

/// One server, over both transports. Connections are opened anew after each failure.
pub(super) struct Server {
    authority: String,
    rest: Option<http1::SendRequest<Full<Bytes>>>,
    grpc: Option<http2::SendRequest<Full<Bytes>>>,
}

impl Server {
    pub(super) fn new(authority: &str) -> Self {
        Server { authority: authority.to_owned(), rest: None, grpc: None }
    }

    /// Sends a request; an answer that cannot be read at all is an error.
    pub(super) async fn send(&mut self, ask: &Ask) -> Result<Reply> {
        for attempt in 0.. {
            let answer = match ask.transport {
                Transport::Rest => timeout(DEADLINE, self.send_rest(ask)).await,
                Transport::Grpc => timeout(DEADLINE, self.send_grpc(ask)).await,
            };
            match answer {
                Ok(Ok(reply)) => return Ok(reply),
                // A server may close a connection that is not in use.
                Ok(Err(error)) if attempt == 2 => return Err(error),
                Ok(Err(_)) => self.drop_connections(),
                Err(_) => {
                    self.drop_connections();
                    return Ok(Reply::Silent);
                }
            }
        }
        Ok(Reply::Silent)
    }

    fn drop_connections(&mut self) {
        self.rest = None;
        self.grpc = None;
    }

    async fn send_rest(&mut self, ask: &Ask) -> Result<Reply> {
        if self.rest.is_none() {
            let stream = TcpStream::connect(&self.authority).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            self.rest = Some(sender);
        }
        let sender = self.rest.as_mut().context("no connection")?;
        let rest = ask.rest();
        let body = rest.body.map(|body| body.to_string()).unwrap_or_default();
        let request = hyper::Request::builder()
            .method(rest.verb)
            .uri(rest.target.as_str())
            .header("host", &self.authority)
            .header("authorization", "Bearer owner")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from(body)))
            .with_context(|| rest.target.clone())?;
        sender.ready().await?;
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        let json: Value = serde_json::from_slice(&body)
            .unwrap_or_else(|_| json!({"error": {"message": String::from_utf8_lossy(&body)}}));
        let elements = match json {
            Value::Array(elements) => elements,
            other => vec![other],
        };
        let error = elements.iter().find_map(|element| element.get("error"));
        Ok(match error {
            None if status == 200 => Reply::Fine(elements),
            error => {
                let member = |name: &str| error?.get(name)?.as_str().map(str::to_owned);
                let code = member("status").unwrap_or_else(|| format!("HTTP {status}"));
                Reply::Refused { code, text: member("message").unwrap_or_default() }
            }
        })
    }

    async fn send_grpc(&mut self, ask: &Ask) -> Result<Reply> {
        let method = method(ask)?;
        let text = ask.message.to_string();
        let mut reader = serde_json::Deserializer::from_str(&text);
        let Ok(message) = DynamicMessage::deserialize(method.input(), &mut reader) else {
            // What has no encoding cannot travel this way.
            return self.send_rest(ask).await;
        };
        if self.grpc.is_none() {
            let stream = TcpStream::connect(&self.authority).await?;
            stream.set_nodelay(true)?;
            let (sender, connection) =
                http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await?;
            tokio::spawn(connection);
            self.grpc = Some(sender);
        }
        let sender = self.grpc.as_mut().context("no connection")?;
        let mut frame = vec![0];
        frame.put_u32(u32::try_from(message.encoded_len())?);
        message.encode(&mut frame)?;
        let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
        let request = hyper::Request::builder()
            .method("POST")
            .uri(format!("http://{}{path}", self.authority))
            .header("authorization", "Bearer owner")
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(Bytes::from(frame)))?;
        sender.ready().await?;
        let (head, body) = sender.send_request(request).await?.into_parts();
        let collected = body.collect().await?;
        let trailers = collected.trailers().unwrap_or(&head.headers).clone();
        let header = |name: &str| {
            let value = trailers.get(name).map(|value| value.as_bytes().to_vec());
            String::from_utf8_lossy(&value.unwrap_or_default()).into_owned()
        };
        let code = header("grpc-status");
        if code != "0" {
            return Ok(Reply::Refused {
                code: canonical(&code),
                text: decoded(&header("grpc-message")),
            });
        }
        Ok(Reply::Fine(messages(&method, collected.to_bytes())?))
    }
}

fn method(ask: &Ask) -> Result<MethodDescriptor> {
    let service = descriptor_pool()
        .get_service_by_name("google.firestore.v1.Firestore")
        .context("the service is not compiled")?;
    let found = service.methods().find(|method| method.name() == ask.method.name());
    found.context("the method is not compiled")
}

/// The messages of an answer as REST would show them.
fn messages(method: &MethodDescriptor, mut body: Bytes) -> Result<Vec<Value>> {
    let options = SerializeOptions::new().stringify_64_bit_integers(true);
    let mut messages = Vec::new();
    while body.remaining() >= 5 {
        body.advance(1);
        let length = usize::try_from(body.get_u32())?;
        let message = DynamicMessage::decode(method.output(), body.copy_to_bytes(length))?;
        messages.push(message.serialize_with_options(serde_json::value::Serializer, &options)?);
    }
    Ok(messages)
}

fn canonical(code: &str) -> String {
    const NAMES: [&str; 17] = [
        "OK",
        "CANCELLED",
        "UNKNOWN",
        "INVALID_ARGUMENT",
        "DEADLINE_EXCEEDED",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "PERMISSION_DENIED",
        "RESOURCE_EXHAUSTED",
        "FAILED_PRECONDITION",
        "ABORTED",
        "OUT_OF_RANGE",
        "UNIMPLEMENTED",
        "INTERNAL",
        "UNAVAILABLE",
        "DATA_LOSS",
        "UNAUTHENTICATED",
    ];
    let name = code.parse::<usize>().ok().and_then(|code| NAMES.get(code));
    name.map_or_else(|| format!("code {code}"), |name| (*name).to_owned())
}

/// gRPC encodes what is not ASCII as URLs do.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let hex = |byte: u8| char::from(byte).to_digit(16);
        match byte {
            b'%' => {
                let pair = (rest.next().and_then(hex), rest.next().and_then(hex));
                if let (Some(high), Some(low)) = pair {
                    bytes.push(u8::try_from(high * 16 + low).unwrap_or(b'?'));
                }
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

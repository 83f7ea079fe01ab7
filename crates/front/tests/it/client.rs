//! Clients made of hyper alone, so that every header and frame can be seen.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use axum::body::Body;
use bytes::{BufMut, Bytes, BytesMut};
use front::{Bound, ServeOptions, Serving};
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use prost_reflect::DynamicMessage;
use tokio::net::TcpStream;

use crate::pool::pool;

/// No test waits longer than this for anything.
pub(crate) const PATIENCE: Duration = Duration::from_secs(10);

/// A server on a free port.
pub(crate) fn serve() -> Serving {
    serve_with(ServeOptions::default())
}

pub(crate) fn serve_with(options: ServeOptions) -> Serving {
    let bound = Bound::bind("localhost", 0).expect("a free port");
    bound.serve(crate::service::router(), options).expect("a runtime")
}

pub(crate) fn address(serving: &Serving) -> SocketAddr {
    (Ipv4Addr::LOCALHOST, serving.port()).into()
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) trailers: HeaderMap,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("text")
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The messages of a gRPC answer.
    pub(crate) fn messages(&self, name: &str) -> Vec<DynamicMessage> {
        let descriptor = pool().get_message_by_name(name).expect("a known message");
        let mut rest = &self.body[..];
        let mut messages = Vec::new();
        while let Some((prefix, after)) = rest.split_first_chunk::<5>() {
            let len = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
            let (message, after) = after.split_at(len);
            messages.push(DynamicMessage::decode(descriptor.clone(), message).expect("a message"));
            rest = after;
        }
        messages
    }

    /// The status of a gRPC answer; it must stand in the trailers.
    pub(crate) fn grpc_status(&self) -> (i32, String) {
        assert!(!self.headers.contains_key("grpc-status"), "status in headers: {self:?}");
        let status = tonic::Status::from_header_map(&self.trailers).expect("a status in trailers");
        (status.code().into(), status.message().to_owned())
    }
}

/// Which protocol a request is sent in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Http {
    One,
    Two,
}

/// Sends one request on its own connection.
pub(crate) async fn send(to: SocketAddr, http: Http, request: Request<Body>) -> Answer {
    tokio::time::timeout(PATIENCE, exchange(to, http, request)).await.expect("an answer in time")
}

async fn exchange(to: SocketAddr, http: Http, request: Request<Body>) -> Answer {
    let stream = TcpStream::connect(to).await.expect("a connection");
    stream.set_nodelay(true).expect("TCP_NODELAY");
    let io = TokioIo::new(stream);
    match http {
        Http::One => {
            let (mut sender, connection) =
                hyper::client::conn::http1::handshake(io).await.expect("HTTP/1.1");
            let connection = tokio::spawn(connection);
            let response = collect(sender.send_request(request).await.expect("an answer")).await;
            connection.abort();
            response
        }
        Http::Two => {
            let (mut sender, connection) =
                hyper::client::conn::http2::handshake(TokioExecutor::new(), io)
                    .await
                    .expect("HTTP/2");
            let connection = tokio::spawn(connection);
            let response = collect(sender.send_request(request).await.expect("an answer")).await;
            connection.abort();
            response
        }
    }
}

async fn collect(response: http::Response<hyper::body::Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    let collected = body.collect().await.expect("a whole body");
    let trailers = collected.trailers().cloned().unwrap_or_default();
    let body = collected.to_bytes();
    Answer { status: parts.status, headers: parts.headers, body, trailers }
}

pub(crate) fn request(
    to: SocketAddr,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: impl Into<Body>,
) -> Request<Body> {
    let mut request = Request::builder().method(method).uri(format!("http://{to}{path}"));
    request = request.header("host", to.to_string());
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(body.into()).expect("a request")
}

/// A REST call over HTTP/1.1.
pub(crate) async fn rest(to: SocketAddr, method: Method, path: &str, body: &str) -> Answer {
    send(to, Http::One, request(to, method, path, &[], body.to_owned())).await
}

/// A gRPC call; the message is given as JSON.
pub(crate) async fn grpc(
    to: SocketAddr,
    path: &str,
    message: (&str, &str),
    headers: &[(&str, &str)],
) -> Answer {
    grpc_bytes(to, path, frame(&encode(message.0, message.1)), headers).await
}

/// A gRPC call whose body is given as bytes.
pub(crate) async fn grpc_bytes(
    to: SocketAddr,
    path: &str,
    body: Bytes,
    headers: &[(&str, &str)],
) -> Answer {
    let fixed = [("content-type", "application/grpc"), ("te", "trailers")];
    let headers: Vec<_> = fixed.iter().chain(headers).copied().collect();
    send(to, Http::Two, request(to, Method::POST, path, &headers, body)).await
}

pub(crate) fn encode(name: &str, json: &str) -> Vec<u8> {
    let descriptor = pool().get_message_by_name(name).expect("a known message");
    let mut json = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(descriptor, &mut json).expect("JSON of the message").encode_to_vec()
}

pub(crate) fn frame(message: &[u8]) -> Bytes {
    let mut frame = BytesMut::new();
    frame.put_u8(0);
    frame.put_u32(u32::try_from(message.len()).expect("a small message"));
    frame.put_slice(message);
    frame.freeze()
}

/// The server still answers both protocols.
pub(crate) async fn check_alive(to: SocketAddr) {
    let answer = rest(to, Method::GET, "/v1/shelves/a", "").await;
    assert_eq!(answer.status, StatusCode::OK, "{answer:?}");
    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/a"}"#);
    let answer = grpc(to, "/library.v1.Library/GetBook", get, &[]).await;
    assert_eq!(answer.grpc_status().0, 0, "{answer:?}");
}

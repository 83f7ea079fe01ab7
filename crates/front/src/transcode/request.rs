//! From an HTTP request to a call of the service.

use axum::body::Body;
use axum::extract::Request;
use base_status::Status;
use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, Uri, Version};
use http_body::Body as _;
use http_body_util::BodyExt;
use prost::Message;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, Value};

use super::Refusal;
use super::bind::{Query, bind};
use super::table::{Binding, BodyRule};
use crate::frames::frame;
use crate::grpc::of_the_caller;
use crate::limits::{BODY_SILENCE_MAX, DRAINED_BYTES_MAX};

/// Headers about the HTTP message itself; everything else is metadata of the call.
const OF_THE_TRANSPORT: &[HeaderName] = &[
    ACCEPT_ENCODING,
    CONNECTION,
    CONTENT_ENCODING,
    CONTENT_LENGTH,
    CONTENT_TYPE,
    EXPECT,
    HOST,
    TE,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// Reads a body up to its bound.
pub(super) async fn read(mut body: Body, limit: usize) -> Result<Bytes, Refusal> {
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
    if is_too_large { Err(Refusal::TooLarge) } else { Ok(bytes.freeze()) }
}

/// The next part of a body.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Refusal> {
    loop {
        let frame = tokio::time::timeout(BODY_SILENCE_MAX, body.frame()).await;
        let Some(frame) = frame.map_err(|_| Refusal::Silent)? else { return Ok(None) };
        let frame = frame.map_err(|error| {
            Status::invalid_argument(format!("the request body could not be read: {error}"))
        })?;
        // Trailers say nothing here.
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
}

/// The encoded request message. The path wins over the query, the query over the body.
pub(super) fn message(
    binding: &Binding,
    variables: &[(String, String)],
    query: &Query,
    body: &[u8],
) -> Result<Vec<u8>, Status> {
    let input = binding.method.input();
    let mut message = match &binding.body {
        BodyRule::None => DynamicMessage::new(input),
        BodyRule::All => from_json(input, body)?,
        BodyRule::Field(field) => {
            let mut message = DynamicMessage::new(input);
            let Kind::Message(part) = field.kind() else {
                return Err(Status::internal("a body that is no message"));
            };
            message.set_field(field, Value::Message(from_json(part, body)?));
            message
        }
    };
    query.bind(&mut message).map_err(Status::invalid_argument)?;
    for (path, value) in variables {
        bind(&mut message, path, value).map_err(Status::invalid_argument)?;
    }
    Ok(message.encode_to_vec())
}

/// Reads JSON; an empty body is an empty message. So is an empty text, which Google's Node client sends where
/// everything of the body has gone into the path.
fn from_json(descriptor: MessageDescriptor, body: &[u8]) -> Result<DynamicMessage, Status> {
    if matches!(body.trim_ascii(), b"" | b"\"\"") {
        return Ok(DynamicMessage::new(descriptor));
    }
    let mut json = serde_json::Deserializer::from_slice(body);
    let message = DynamicMessage::deserialize(descriptor, &mut json);
    message.and_then(|message| json.end().map(|()| message)).map_err(|error| {
        let text = format!("Invalid JSON payload received. {}", reason(&error.to_string()));
        Status::new(base_status::Code::InvalidArgument, "invalid-json", text)
    })
}

/// Says an unknown member in Google's words; the other texts are the decoder's.
fn reason(text: &str) -> String {
    let name = text
        .strip_prefix("unrecognized field name '")
        .and_then(|rest| rest.rsplit_once("' at line "));
    match name {
        Some((name, _)) => format!("Unknown name \"{name}\": Cannot find field."),
        None => text.to_owned(),
    }
}

/// The call as a gRPC client would make it, with the caller's metadata and what the layers found out about it.
pub(super) fn call(binding: &Binding, parts: Parts, message: &[u8]) -> Result<Request, Status> {
    let method = &binding.method;
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut request = Request::new(Body::from(frame(message)));
    *request.method_mut() = Method::POST;
    *request.uri_mut() =
        Uri::try_from(path).map_err(|_| Status::internal("a method that is no path"))?;
    *request.version_mut() = Version::HTTP_2;
    *request.headers_mut() = parts.headers;
    *request.extensions_mut() = of_the_caller(&parts.extensions);
    let headers = request.headers_mut();
    for name in OF_THE_TRANSPORT {
        headers.remove(name);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    Ok(request)
}

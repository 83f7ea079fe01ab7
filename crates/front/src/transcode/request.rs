//! From an HTTP request to a call of the service.

use axum::body::Body;
use axum::extract::Request;
use base_status::Status;
use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, EXPECT, HOST, TE,
    TRANSFER_ENCODING, UPGRADE,
};
use http::request::Parts;
use http::{Extensions, HeaderMap, HeaderName, HeaderValue, Method, Uri, Version};
use prost::Message;
use prost_reflect::{DynamicMessage, Kind, MessageDescriptor, MethodDescriptor};

use super::bind::{Query, bind};
use super::decode::decode;
use super::table::{Binding, BodyRule};
use crate::frames::frame;
use crate::grpc::of_the_caller;

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

/// The encoded request message. The path wins over the query, the query over the body: what stands later in an encoding
/// is what counts.
pub(super) fn message(
    binding: &Binding,
    variables: &[(String, String)],
    query: &Query,
    body: &[u8],
) -> Result<Vec<u8>, Status> {
    let input = binding.method.input();
    let mut encoded = match &binding.body {
        BodyRule::None => Vec::new(),
        BodyRule::All => from_json(&input, body, "")?,
        BodyRule::Field(field) => {
            let Kind::Message(part) = field.kind() else {
                return Err(Status::internal("a body that is no message"));
            };
            let mut encoded = Vec::new();
            let content = from_json(&part, body, field.name())?;
            prost::encoding::bytes::encode(field.number(), &content, &mut encoded);
            encoded
        }
    };
    let mut bound = DynamicMessage::new(input);
    query.bind(&mut bound).map_err(Status::invalid_argument)?;
    for (path, value) in variables {
        bind(&mut bound, path, value).map_err(Status::invalid_argument)?;
    }
    bound.encode(&mut encoded).map_err(|_| Status::internal("a message that is not encoded"))?;
    Ok(encoded)
}

/// Reads JSON; an empty body is an empty message. So is an empty text, which Google's Node client sends where
/// everything of the body has gone into the path.
fn from_json(descriptor: &MessageDescriptor, body: &[u8], at: &str) -> Result<Vec<u8>, Status> {
    if matches!(body.trim_ascii(), b"" | b"\"\"") {
        return Ok(Vec::new());
    }
    decode(descriptor, body, at)
        .map_err(|text| Status::new(base_status::Code::InvalidArgument, "invalid-json", text))
}

/// The call as a gRPC client would make it, with the caller's metadata and what the layers found out about it.
pub(super) fn call(binding: &Binding, parts: Parts, message: &[u8]) -> Result<Request, Status> {
    let body = Body::from(frame(message));
    call_of(&binding.method, parts.headers, &parts.extensions, body)
}

/// A call of a method with a body of frames. Of the headers, those about the HTTP message are left out.
pub(crate) fn call_of(
    method: &MethodDescriptor,
    headers: HeaderMap,
    extensions: &Extensions,
    body: Body,
) -> Result<Request, Status> {
    let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
    let mut request = Request::new(body);
    *request.method_mut() = Method::POST;
    *request.uri_mut() =
        Uri::try_from(path).map_err(|_| Status::internal("a method that is no path"))?;
    *request.version_mut() = Version::HTTP_2;
    *request.headers_mut() = headers;
    *request.extensions_mut() = of_the_caller(extensions);
    let headers = request.headers_mut();
    for name in OF_THE_TRANSPORT {
        headers.remove(name);
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    headers.insert(TE, HeaderValue::from_static("trailers"));
    Ok(request)
}

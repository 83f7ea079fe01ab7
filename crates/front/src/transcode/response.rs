//! From a service's answer to an HTTP response.

use axum::body::Body;
use axum::response::Response;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use prost_reflect::{DynamicMessage, MessageDescriptor};
use serde_json::{Value, json};

use super::json::{Style, write};
use crate::frames::{Frames, Next};
use crate::status::{error_object, http_code, json_response, status_from_tonic};

/// The answer of a method that answers once.
pub(super) async fn unary(mut frames: Frames, output: MessageDescriptor, style: Style) -> Response {
    let failure = match frames.next().await {
        Next::Message(message) => match frames.next().await {
            Next::End(Ok(())) => match to_json(&output, &message, style) {
                Ok(mut body) => {
                    body.push(b'\n');
                    return json_response(StatusCode::OK, body);
                }
                Err(status) => status,
            },
            Next::End(Err(status)) => status,
            Next::Message(_) => tonic::Status::internal("more than one answer"),
        },
        Next::End(Err(status)) => status,
        Next::End(Ok(())) => tonic::Status::internal("no answer"),
    };
    let (code, error) = error(&failure, &output);
    json_response(code, error.to_string())
}

/// The answer of a streaming method: an array, written as the messages come. A failure before the first message is
/// told by the HTTP status and an array that holds the error alone; a later one is the array's last element.
pub(super) async fn stream(
    mut frames: Frames,
    output: MessageDescriptor,
    style: Style,
) -> Response {
    let first = match frames.next().await {
        Next::Message(message) => to_json(&output, &message, style),
        Next::End(Ok(())) => return json_response(StatusCode::OK, "[]\n"),
        Next::End(Err(status)) => Err(status),
    };
    let first = match first {
        Ok(first) => first,
        Err(status) => {
            let (code, error) = error(&status, &output);
            return json_response(code, json!([error]).to_string());
        }
    };
    let head = stream::iter([[b"[", first.as_slice()].concat()]);
    let rest = stream::unfold(Some(Elements { frames, output, style }), Elements::next);
    let chunks = futures_util::StreamExt::chain(head, rest);
    let chunks = futures_util::StreamExt::map(chunks, |chunk| {
        Ok::<_, std::convert::Infallible>(Bytes::from(chunk))
    });
    json_response(StatusCode::OK, Body::from_stream(chunks))
}

/// The elements behind the first one.
struct Elements {
    frames: Frames,
    output: MessageDescriptor,
    style: Style,
}

impl Elements {
    /// The next piece of the array: everything that is here already, or its end.
    async fn next(this: Option<Self>) -> Option<(Vec<u8>, Option<Self>)> {
        let mut this = this?;
        let mut out = Vec::new();
        let mut next = this.frames.next().await;
        loop {
            let failure = match next {
                Next::Message(message) => {
                    match to_json(&this.output, &message, this.style) {
                        Ok(element) => {
                            this.separate(&mut out);
                            out.extend(element);
                        }
                        Err(status) => return Some((this.end(out, Some(&status)), None)),
                    }
                    match this.frames.buffered() {
                        Some(message) => next = Next::Message(message),
                        None => return Some((out, Some(this))),
                    }
                    continue;
                }
                Next::End(end) => end.err(),
            };
            return Some((this.end(out, failure.as_ref()), None));
        }
    }

    fn separate(&self, out: &mut Vec<u8>) {
        out.extend(match self.style {
            Style::Pretty => b", ".as_slice(),
            Style::Compact => b",",
        });
    }

    fn end(&self, mut out: Vec<u8>, failure: Option<&tonic::Status>) -> Vec<u8> {
        if let Some(status) = failure {
            self.separate(&mut out);
            out.extend(error(status, &self.output).1.to_string().into_bytes());
        }
        out.extend(b"]\n");
        out
    }
}

/// The answer to a body that is larger than we take.
pub(super) fn too_large(limit: usize) -> Response {
    let code = StatusCode::PAYLOAD_TOO_LARGE;
    let error = json!({ "error": {
        "code": code.as_u16(),
        "message": format!("Request payload size exceeds the limit: {limit} bytes."),
        "status": "INVALID_ARGUMENT",
    }});
    json_response(code, error.to_string())
}

/// The answer to a body that does not go on.
pub(super) fn silent() -> Response {
    let code = StatusCode::REQUEST_TIMEOUT;
    let error = json!({ "error": {
        "code": code.as_u16(),
        "message": "The rest of the request's body did not come in time.",
        "status": "DEADLINE_EXCEEDED",
    }});
    json_response(code, error.to_string())
}

pub(crate) fn to_json(
    output: &MessageDescriptor,
    message: &[u8],
    style: Style,
) -> Result<Vec<u8>, tonic::Status> {
    write(output, message, style).map_err(|error| {
        tracing::error!(%error, message = output.full_name(), "an answer cannot be written as JSON");
        tonic::Status::internal("the answer cannot be written as JSON")
    })
}

/// The HTTP status and the error object of a failed call.
pub(crate) fn error(status: &tonic::Status, output: &MessageDescriptor) -> (StatusCode, Value) {
    let details = details(status.details(), output);
    let status = status_from_tonic(status);
    (http_code(status.code), error_object(&status, details))
}

/// The `details` of an encoded `google.rpc.Status`, where the descriptors know it.
fn details(encoded: &[u8], output: &MessageDescriptor) -> Option<Value> {
    if encoded.is_empty() {
        return None;
    }
    let status = output.parent_pool().get_message_by_name("google.rpc.Status")?;
    let status = DynamicMessage::decode(status, encoded).ok()?;
    let field = status.get_field_by_name("details")?;
    let details: Vec<Value> = field.as_list()?.iter().filter_map(detail).collect();
    (!details.is_empty()).then_some(Value::Array(details))
}

/// One `Any`. A type that the descriptors do not know is passed on encoded.
fn detail(any: &prost_reflect::Value) -> Option<Value> {
    let any = any.as_message()?;
    if let Ok(json) = serde_json::to_value(any) {
        return Some(json);
    }
    let url = any.get_field_by_name("type_url")?.as_str()?.to_owned();
    let value = STANDARD.encode(any.get_field_by_name("value")?.as_bytes()?);
    Some(json!({ "@type": url, "value": value }))
}

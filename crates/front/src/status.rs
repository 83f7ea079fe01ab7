//! The one table of statuses: [`Status`], gRPC and HTTP JSON, each from the other.

use axum::body::Body;
use axum::response::Response;
use base_status::{Code, Status};
use bytes::Bytes;
use futures_util::stream;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use serde_json::{Value, json};

use crate::limits::MESSAGE_BYTES_MAX;

const GRPC: HeaderValue = HeaderValue::from_static("application/grpc");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A status as tonic's handlers return it. A message that is longer than clients take is cut.
pub fn status_to_tonic(status: Status) -> tonic::Status {
    let Status { code, mut message, .. } = status;
    cut(&mut message);
    tonic::Status::new(tonic::Code::from_i32(code.as_i32()), message)
}

/// Cuts a message that would be longer than [`MESSAGE_BYTES_MAX`] as a header.
fn cut(message: &mut String) {
    // Few are long.
    if message.len() * ESCAPED_BYTES <= MESSAGE_BYTES_MAX {
        return;
    }
    let (mut escaped, mut end) = (0, None);
    for (at, character) in message.char_indices() {
        if escaped + CUT.len() <= MESSAGE_BYTES_MAX {
            end = Some(at);
        }
        escaped += match character {
            // As tonic escapes it.
            ' '..='~' if !"\"#%<>`?{}".contains(character) && character != ' ' => 1,
            _ => character.len_utf8() * ESCAPED_BYTES,
        };
        if escaped > MESSAGE_BYTES_MAX {
            message.truncate(end.unwrap_or(0));
            message.push_str(CUT);
            return;
        }
    }
}

/// What stands for the rest of a message.
const CUT: &str = "...";

/// What an escaped byte takes.
const ESCAPED_BYTES: usize = 3;

/// A status as it came back from a gRPC handler; the reason is gone on the way.
pub fn status_from_tonic(status: &tonic::Status) -> Status {
    // A handler that fails with OK has failed all the same.
    let code = Code::from_i32(status.code().into()).unwrap_or(Code::Unknown);
    Status::new(code, "grpc", status.message())
}

/// A status as Google's REST APIs send it.
pub fn status_to_http(status: &Status) -> Response {
    json_response(http_code(status.code), error_object(status, None).to_string())
}

/// Refuses a request in the protocol it speaks, which its content type tells.
pub fn refuse(request: &HeaderMap, status: Status) -> Response {
    refuse_in(Protocol::of(request), status)
}

/// What a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Grpc,
    Json,
}

impl Protocol {
    pub(crate) fn of(request: &HeaderMap) -> Self {
        match request.get(CONTENT_TYPE) {
            Some(value) if value.as_bytes().starts_with(b"application/grpc") => Self::Grpc,
            _ => Self::Json,
        }
    }
}

pub(crate) fn refuse_in(protocol: Protocol, status: Status) -> Response {
    match protocol {
        Protocol::Grpc => grpc_response(&status_to_tonic(status)),
        Protocol::Json => status_to_http(&status),
    }
}

/// `{"error":{"code":404,"message":"...","status":"NOT_FOUND"}}`, and `details` where there are any.
pub(crate) fn error_object(status: &Status, details: Option<Value>) -> Value {
    let mut error = json!({
        "code": http_code(status.code).as_u16(),
        "message": status.message,
        "status": status.code.name(),
    });
    if let (Some(details), Some(members)) = (details, error.as_object_mut()) {
        members.insert("details".to_owned(), details);
    }
    json!({ "error": error })
}

pub(crate) fn http_code(code: Code) -> StatusCode {
    StatusCode::from_u16(code.http()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}

pub(crate) fn json_response(code: StatusCode, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    *response.status_mut() = code;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// Headers first and the status in trailers. Google's Node SDK takes a status in the headers of a streaming call for
/// a stream that never began, and tries again even where the code says not to.
pub(crate) fn grpc_response(status: &tonic::Status) -> Response {
    let mut response = Response::new(trailers_body(status_trailers(status)));
    response.headers_mut().insert(CONTENT_TYPE, GRPC);
    response
}

pub(crate) fn status_trailers(status: &tonic::Status) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    if status.add_header(&mut trailers).is_err() {
        // The message does not fit a header even when escaped; the code alone always does.
        trailers.insert(tonic::Status::GRPC_STATUS, i32::from(status.code()).into());
    }
    trailers
}

pub(crate) fn trailers_body(trailers: HeaderMap) -> Body {
    let frame: Result<Frame<Bytes>, axum::Error> = Ok(Frame::trailers(trailers));
    Body::new(StreamBody::new(stream::iter([frame])))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_survives_grpc_and_has_its_http_status() {
        let table = [
            (Code::Cancelled, 499),
            (Code::Unknown, 500),
            (Code::InvalidArgument, 400),
            (Code::DeadlineExceeded, 504),
            (Code::NotFound, 404),
            (Code::AlreadyExists, 409),
            (Code::PermissionDenied, 403),
            (Code::ResourceExhausted, 429),
            (Code::FailedPrecondition, 400),
            (Code::Aborted, 409),
            (Code::OutOfRange, 400),
            (Code::Unimplemented, 501),
            (Code::Internal, 500),
            (Code::Unavailable, 503),
            (Code::DataLoss, 500),
            (Code::Unauthenticated, 401),
        ];
        for (code, http) in table {
            let status = Status::new(code, "test", "text");
            assert_eq!(status_to_http(&status).status().as_u16(), http, "{code}");
            let tonic = status_to_tonic(status);
            assert_eq!(i32::from(tonic.code()), code.as_i32());
            let trailers = status_trailers(&tonic);
            let back = tonic::Status::from_header_map(&trailers).unwrap();
            assert_eq!(status_from_tonic(&back).code, code);
        }
    }

    #[test]
    fn messages_survive_trailers() {
        for message in ["", "plain", "two\nlines", "100% \u{fc}nicode \u{1f525}", "quote \" \\"] {
            let status = Status::not_found(message);
            let back = tonic::Status::from_header_map(&status_trailers(&status_to_tonic(status)));
            assert_eq!(back.unwrap().message(), message);
        }
    }

    #[test]
    fn a_message_is_no_longer_than_clients_take() {
        #[track_caller]
        fn check(character: &str, count: usize, kept: Option<usize>) {
            let message = character.repeat(count);
            let tonic = status_to_tonic(Status::not_found(message.clone()));
            let header = status_trailers(&tonic).remove("grpc-message").expect("it has a message");
            assert!(header.len() <= MESSAGE_BYTES_MAX, "{character}: {}", header.len());
            match kept {
                None => assert_eq!(tonic.message(), message),
                Some(kept) => assert_eq!(tonic.message(), character.repeat(kept) + "..."),
            }
        }
        check("a", MESSAGE_BYTES_MAX, None);
        check("a", MESSAGE_BYTES_MAX + 1, Some(MESSAGE_BYTES_MAX - 3));
        check("a", 17 * 1024 * 1024, Some(MESSAGE_BYTES_MAX - 3));
        check("%", MESSAGE_BYTES_MAX / 3, None);
        check("%", MESSAGE_BYTES_MAX, Some((MESSAGE_BYTES_MAX - 3) / 3));
        check("\n", MESSAGE_BYTES_MAX, Some((MESSAGE_BYTES_MAX - 3) / 3));
        check("\u{1f525}", MESSAGE_BYTES_MAX, Some((MESSAGE_BYTES_MAX - 3) / 12));
        for character in (0..128u8).map(char::from) {
            let text = character.to_string().repeat(MESSAGE_BYTES_MAX);
            let tonic = status_to_tonic(Status::not_found(text));
            let header = status_trailers(&tonic).remove("grpc-message").expect("it has a message");
            let room = MESSAGE_BYTES_MAX - header.len();
            assert!(room < 2 * ESCAPED_BYTES, "{character:?}: {}", header.len());
        }
    }

    #[test]
    fn error_objects() {
        let status = Status::not_found("Document \"x\" not found.");
        assert_eq!(
            error_object(&status, None).to_string(),
            r#"{"error":{"code":404,"message":"Document \"x\" not found.","status":"NOT_FOUND"}}"#
        );
        let details = error_object(&status, Some(json!([{"@type": "t"}])));
        assert_eq!(details["error"]["details"][0]["@type"], "t");
    }
}

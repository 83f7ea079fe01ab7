//! A panic ends the request it belongs to, and nothing else: we live in the user's process.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use base_status::Status;
use bytes::Bytes;
use http::Uri;
use http_body::{Body as _, Frame, SizeHint};

use crate::status::{Protocol, refuse_in, status_to_tonic, status_trailers};

/// What a client is told; the log has the rest.
fn bug() -> Status {
    Status::internal("a bug in firelet: its log says where; please report it")
}

fn log(panic: &(dyn Any + Send), uri: &Uri) {
    let text = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("no text");
    tracing::error!(
        path = uri.path(),
        panic = text,
        "a request handler panicked: this is a bug in firelet"
    );
}

/// The answer in place of a handler that panicked.
pub(super) fn answer(panic: &(dyn Any + Send), uri: &Uri, protocol: Protocol) -> Response {
    log(panic, uri);
    refuse_in(protocol, bug())
}

/// Guards what is still to come of an answer: streams run when they are polled, long after their handler returned.
pub(super) fn guard(response: Response, uri: &Uri, protocol: Protocol) -> Response {
    if response.body().is_end_stream() {
        return response;
    }
    let uri = uri.clone();
    response.map(|body| Body::new(Guarded { body, uri, protocol, over: false }))
}

struct Guarded {
    body: Body,
    uri: Uri,
    protocol: Protocol,
    over: bool,
}

impl http_body::Body for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if self.over {
            return Poll::Ready(None);
        }
        let body = &mut self.body;
        match catch_unwind(AssertUnwindSafe(|| Pin::new(body).poll_frame(cx))) {
            Ok(frame) => frame,
            Err(panic) => {
                self.over = true;
                log(&*panic, &self.uri);
                Poll::Ready(Some(match self.protocol {
                    Protocol::Grpc => Ok(Frame::trailers(status_trailers(&status_to_tonic(bug())))),
                    Protocol::Json => Err(axum::Error::new(bug())),
                }))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.over || self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

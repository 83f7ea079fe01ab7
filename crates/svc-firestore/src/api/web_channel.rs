//! The browser SDKs' transport for Listen and Write, which firelet does not have yet. It is refused by
//! name, because what a browser would make of a gRPC answer says nothing; and as the SDK keeps the refusal
//! to itself, the developer is told once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::routing::any;
use base_status::{Code, Status};
use svc_kit::Log;

const TEXT: &str = "firelet does not have WebChannel yet, which `firebase/firestore` needs in browsers; \
                    `firebase/firestore/lite` works in browsers, and both work in Node";

/// Answers every WebChannel request with UNIMPLEMENTED.
pub(crate) fn router(log: Log) -> Router {
    let told = Arc::new(AtomicBool::new(false));
    let refuse = move || {
        if !told.swap(true, Ordering::Relaxed) {
            log.warn("firestore", TEXT);
        }
        std::future::ready(front::status_to_http(&Status::new(
            Code::Unimplemented,
            "no-web-channel",
            TEXT,
        )))
    };
    Router::new()
        .route("/google.firestore.v1.Firestore/Listen/channel", any(refuse.clone()))
        .route("/google.firestore.v1.Firestore/Write/channel", any(refuse))
}

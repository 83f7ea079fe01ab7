//! The browser SDKs' transport for Listen and Write, which firelet does not have yet. It is refused by
//! name, because what a browser would make of a gRPC answer says nothing.

use axum::Router;
use axum::routing::any;
use base_status::{Code, Status};

/// Answers every WebChannel request with UNIMPLEMENTED.
pub(crate) fn router() -> Router {
    let refuse = || async {
        front::status_to_http(&Status::new(
            Code::Unimplemented,
            "no-web-channel",
            "firelet does not have WebChannel yet, which `firebase/firestore` needs in browsers; \
             `firebase/firestore/lite` works in browsers, and both work in Node",
        ))
    };
    Router::new()
        .route("/google.firestore.v1.Firestore/Listen/channel", any(refuse))
        .route("/google.firestore.v1.Firestore/Write/channel", any(refuse))
}

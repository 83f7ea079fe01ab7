//! The browser SDKs' way to the Listen and Write streams.

use axum::Router;
use front::web_channel::{self, ChannelOptions};

use crate::limits::REQUEST_BYTES_MAX;
use crate::state::State;

/// The WebChannel routes, answered by the methods that `grpc` serves.
pub(crate) fn router(grpc: Router, state: &State) -> Router {
    let options = ChannelOptions {
        pool: base_wire::descriptor_pool,
        service: "google.firestore.v1.Firestore",
        methods: &["Listen", "Write"],
        // What SDKs over gRPC name the database in.
        parameters: &[("database", "google-cloud-resource-prefix")],
        message_bytes_max: REQUEST_BYTES_MAX,
        env: state.env.clone(),
        stopping: state.stopping(),
    };
    web_channel::router(grpc, options)
}

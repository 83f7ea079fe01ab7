//! Firestore: `google.firestore.v1` over gRPC and REST on one port, and the emulator's own routes.
//!
//! One method is one file in `ops/`; wire types are seen in `api/` only; everything kept is in the
//! engine's stores, one per database (`state.rs`).
#![forbid(unsafe_code)]

mod access;
mod admin;
mod api;
mod config;
mod error;
mod indexes;
mod limits;
mod ops;
mod state;

use std::sync::Arc;

use axum::Router;
use base_status::Status;
use base_wire::google::firestore::v1::firestore_server::FirestoreServer;
use svc_kit::{Context, Service};

pub use config::Config;

use crate::api::Grpc;
use crate::state::State;

/// The Firestore service of one suite.
pub struct Firestore {
    state: Arc<State>,
}

impl Firestore {
    /// A service without any data.
    #[must_use]
    pub fn new(config: Config, context: Context) -> Arc<Firestore> {
        let Config {} = config;
        Arc::new(Firestore { state: Arc::new(State::new(context.env)) })
    }
}

impl Service for Firestore {
    fn name(&self) -> &'static str {
        "firestore"
    }

    fn router(&self) -> Router {
        let server = FirestoreServer::new(Grpc::new(Arc::clone(&self.state)))
            .max_decoding_message_size(limits::REQUEST_BYTES_MAX)
            .max_encoding_message_size(limits::RESPONSE_BYTES_MAX);
        let grpc = front::grpc::router(tonic::service::Routes::new(server));
        let rest = api::rest(grpc.clone());
        // Old clients call the same methods by the name of an older package.
        let old = front::grpc::alias(
            grpc.clone(),
            "google.firestore.v1beta1.Firestore",
            "google.firestore.v1.Firestore",
        );
        let admin = admin::router(Arc::clone(&self.state));
        let routes = grpc.merge(old).merge(rest).merge(api::web_channel()).merge(admin);
        front::layers::standard(routes)
    }

    fn clear(&self, project: Option<&str>) -> Result<(), Status> {
        Ok(self.state.clear(project)?)
    }

    fn shutdown(&self) {
        self.state.stop();
    }
}

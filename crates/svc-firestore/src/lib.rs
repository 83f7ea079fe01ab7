//! Firestore: `google.firestore.v1` over gRPC and REST on one port, and the emulator's own routes.
//!
//! One method is one file in `ops/`; wire types are seen in `api/` only; everything kept is in the
//! engine's stores, one per database (`databases.rs`).
#![forbid(unsafe_code)]

mod access;
mod admin;
mod api;
mod catalog;
mod config;
mod databases;
mod error;
mod feed;
mod hubs;
mod indexes;
mod kept;
mod limits;
mod moment;
mod operations;
mod ops;
mod state;
mod transfer;
mod ttl;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use axum::Router;
use base_status::Status;
use base_wire::google::firestore::v1::firestore_server::FirestoreServer;
use serde_json::Value;
use svc_kit::{Context, Data, Exported, Import, Progress, Saved, Service};

pub use access::{BAD_RULES, StartRules};
pub use base_value::LimitPolicy;
pub use config::{Config, DatabaseConfig};
pub use indexes::{IndexPolicy, Indexes, MissingIndex, Recorder};
pub use kept::{KeptDatabase, kept_databases};
pub use transfer::BAD_EXPORT;

use crate::api::Grpc;
use crate::state::State;

/// The Firestore service of one suite.
pub struct Firestore {
    state: Arc<State>,
}

impl Firestore {
    /// A service with the data of the context's place, which is none in memory.
    ///
    /// # Errors
    /// What is kept cannot be opened.
    pub fn open(config: Config, context: Context) -> Result<Arc<Firestore>, Status> {
        let state = State::open(context, config)?;
        Ok(Arc::new(Firestore { state: Arc::new(state) }))
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
        let grpc = grpc.merge(api::admin(&self.state));
        let rest = api::rest(grpc.clone());
        // Old clients call the same methods by the name of an older package.
        let old = front::grpc::alias(
            grpc.clone(),
            "google.firestore.v1beta1.Firestore",
            "google.firestore.v1.Firestore",
        );
        let channels = api::web_channel(grpc.clone(), &self.state);
        let admin = admin::router(Arc::clone(&self.state));
        let routes = grpc.merge(old).merge(rest).merge(channels).merge(admin);
        front::layers::standard(routes)
    }

    fn has_web_socket(&self) -> bool {
        true
    }

    fn data(&self) -> Option<&dyn Data> {
        Some(self)
    }

    fn clock_moved(&self) -> Result<(), Status> {
        for (_, database) in self.state.databases.all() {
            database.expire_transactions();
        }
        self.state.sweeper.sweep()
    }

    fn idle(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(self.state.hubs.idle())
    }

    fn control(&self, name: &str, argument: &Value) -> Result<Value, Status> {
        match name {
            "setRules" => access::set_rules(&self.state, argument),
            "coverage" => access::coverage(&self.state, argument),
            "explain" => access::explain(&self.state, argument),
            other => Err(Status::unimplemented(format!("firestore has no `{other}`"))),
        }
    }

    fn shutdown(&self) {
        self.state.stop();
    }
}

impl Data for Firestore {
    fn clear(&self, project: Option<&str>) -> Result<(), Status> {
        self.state.databases.clear(project)
    }

    fn save(&self, project: Option<&str>) -> Saved {
        self.state.databases.save(project)
    }

    fn restore(&self, saved: &Saved) -> Result<(), Status> {
        self.state.databases.restore(saved)
    }

    fn write(&self, saved: &Saved, dir: &Path, cancelled: &AtomicBool) -> Result<(), Status> {
        self.state.databases.write(saved, dir, cancelled)
    }

    fn find(&self, project: Option<&str>, dir: &Path) -> Result<Saved, Status> {
        self.state.databases.find(project, dir)
    }

    fn compact(&self) -> Result<(), Status> {
        self.state.databases.compact()
    }

    fn fork(&self, from: &str, to: &str) -> Result<(), Status> {
        self.state.fork(from, to)
    }

    fn is_empty(&self) -> bool {
        self.state.databases.all().iter().all(|(_, database)| database.snapshot().is_empty())
    }

    fn import(&self, import: &Import, progress: &Progress) -> Result<(), Status> {
        transfer::import(&self.state, import, progress)
    }

    fn export(&self, into: &Path, progress: &Progress) -> Result<Exported, Status> {
        transfer::export(&self.state, into, progress)
    }

    fn close(&self) -> Result<(), Status> {
        self.state.sweeper.end();
        self.state.databases.close()
    }
}

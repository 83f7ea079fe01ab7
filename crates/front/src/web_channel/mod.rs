//! WebChannel: streaming gRPC methods for browsers, which cannot send a stream. As with REST the service is called in
//! process as a gRPC client would call it, so there is one path below this line.
//!
//! A session is one call. Its client posts messages as forms, and reads answers from a long GET: a stream of chunks,
//! or where something in between holds streams back, one chunk a request. Answers are numbered, and kept until they
//! are acknowledged; every request says what was received. Facts about the protocol come from Closure's client
//! (`labs/net/webChannel`), which Firebase's web SDKs contain, and from what the official emulator sends.

mod back;
mod chunk;
mod driver;
mod forward;
mod handle;
mod outbox;
mod session;
mod sessions;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::routing::any;
use base_env::Env;
use base_status::Status;
use prost_reflect::{DescriptorPool, MethodDescriptor};
use tokio::sync::watch;

use crate::layers;
use sessions::Sessions;

/// What is to be served.
#[derive(Clone, Debug)]
pub struct ChannelOptions {
    /// The descriptors of the service. Called at the first request: decoding them costs milliseconds.
    pub pool: fn() -> &'static DescriptorPool,
    /// The full name of the service.
    pub service: &'static str,
    /// The methods that are served, each streaming both ways.
    pub methods: &'static [&'static str],
    /// Query parameters that are passed on as metadata, with its name.
    pub parameters: &'static [(&'static str, &'static str)],
    /// The largest message of a client.
    pub message_bytes_max: usize,
    /// Where the ids of sessions come from.
    pub env: Env,
    /// Becomes true when the service stops: every session ends.
    pub stopping: watch::Receiver<bool>,
}

/// What the handlers share.
struct Shared {
    grpc: Router,
    options: ChannelOptions,
    sessions: Sessions,
    methods: OnceLock<Vec<Option<MethodDescriptor>>>,
}

impl Shared {
    /// The method at a place of [`ChannelOptions::methods`].
    fn method(&self, index: usize) -> Result<&MethodDescriptor, Status> {
        let methods = self.methods.get_or_init(|| {
            let service = (self.options.pool)().get_service_by_name(self.options.service);
            let find = |name| service.as_ref()?.methods().find(|method| method.name() == name);
            self.options.methods.iter().map(|name| find(*name)).collect()
        });
        methods.get(index).and_then(Option::as_ref).ok_or_else(|| {
            tracing::error!(index, "no such method to channel: this is a bug in firelet");
            Status::internal("the channels of this service cannot be built")
        })
    }
}

/// The routes `/package.Service/Method/channel`, which call `grpc` (see [`crate::grpc::router`]).
pub fn router(grpc: Router, options: ChannelOptions) -> Router {
    let methods = options.methods;
    let service = options.service;
    let shared = Arc::new(Shared {
        // A call runs beside the requests that feed and read it, so it has layers of its own.
        grpc: layers::standard(grpc),
        options,
        sessions: Sessions::default(),
        methods: OnceLock::new(),
    });
    let mut router = Router::new();
    for (index, method) in methods.iter().enumerate() {
        let shared = Arc::clone(&shared);
        let handler = move |request: Request| handle::handle(Arc::clone(&shared), index, request);
        router = router.route(&format!("/{service}/{method}/channel"), any(handler));
    }
    router
}

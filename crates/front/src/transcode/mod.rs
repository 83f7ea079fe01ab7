//! REST for gRPC services, derived from their `google.api.http` annotations: a request's path, query and JSON body
//! become one message, the service is called in process as a client would call it, and its answer becomes JSON.

mod bind;
mod decode;
mod json;
mod request;
mod response;
mod table;
mod template;
mod wire;

use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use base_status::Status;
use prost_reflect::DescriptorPool;
use tower::ServiceExt;

use crate::body::{self, BodyError};
use crate::fallback::{not_found, unknown_route};
use crate::frames::Frames;
use crate::limits;
use crate::status::{Protocol, status_to_http};
use table::Table;

pub use table::{Candidate, ExtraRule, TableError};

pub(crate) use decode::decode;
pub(crate) use json::Style;
pub(crate) use request::call_of;
pub(crate) use response::{error, to_json};

/// Picks one of several RPCs that one HTTP method and path can mean; `None` answers 404. The candidates come in the
/// order of the service's declaration, each RPC once.
pub type Choose = fn(&[Candidate<'_>]) -> Option<usize>;

/// What is to be served.
#[derive(Clone, Debug)]
pub struct TranscodeOptions {
    /// The descriptors of the services, with options. Called at the first request: decoding them costs milliseconds.
    pub pool: fn() -> &'static DescriptorPool,
    /// Full names of the services.
    pub services: &'static [&'static str],
    /// The first segments of all paths of these services, for example `v1`.
    pub prefixes: &'static [&'static str],
    /// Other first segments, and the prefix each stands for, for example `("v1beta1", "v1")`.
    pub aliases: &'static [(&'static str, &'static str)],
    /// Paths beyond those of the annotations.
    pub extra: &'static [ExtraRule],
    /// Decides between RPCs that share a path; see [`first`].
    pub choose: Choose,
    /// The largest request body.
    pub body_bytes_max: usize,
}

impl TranscodeOptions {
    /// Options for services below `/v1`, with the first RPC of a path taken and the usual bound of a body.
    pub fn new(pool: fn() -> &'static DescriptorPool, services: &'static [&'static str]) -> Self {
        Self {
            pool,
            services,
            prefixes: &["v1"],
            aliases: &[],
            extra: &[],
            choose: first,
            body_bytes_max: limits::JSON_BODY_BYTES_MAX,
        }
    }
}

/// Takes the RPC that is declared first.
pub fn first(candidates: &[Candidate<'_>]) -> Option<usize> {
    (!candidates.is_empty()).then_some(0)
}

/// The transcoder of one or more services.
#[derive(Clone, Debug)]
pub struct Transcoder {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    grpc: Router,
    options: TranscodeOptions,
    table: OnceLock<Result<Table, TableError>>,
    /// Who is asked for what is not in the table.
    next: Option<Transcoder>,
}

impl Transcoder {
    /// A transcoder that calls `grpc` (see [`crate::grpc::router`]) with paths like `/package.Service/Method`.
    pub fn new(grpc: Router, options: TranscodeOptions) -> Self {
        Self::with(grpc, options, None)
    }

    /// Same as [`Transcoder::new`], with `next` asked for what this one does not know. Its descriptors are decoded
    /// then, and not before.
    pub fn before(grpc: Router, options: TranscodeOptions, next: Transcoder) -> Self {
        Self::with(grpc, options, Some(next))
    }

    fn with(grpc: Router, options: TranscodeOptions, next: Option<Transcoder>) -> Self {
        Self { shared: Arc::new(Shared { grpc, options, table: OnceLock::new(), next }) }
    }

    /// Builds the table of routes now instead of at the first request.
    ///
    /// # Errors
    ///
    /// When a service is not in the pool or an annotation cannot be served.
    pub fn prepare(&self) -> Result<(), TableError> {
        self.shared.table().map(|_| ()).map_err(Clone::clone)
    }

    /// One route per prefix and alias. Paths below them that mean no RPC are answered as unknown.
    pub fn into_router(self) -> Router {
        let options = &self.shared.options;
        let aliases = options.aliases.iter().map(|(alias, _)| alias);
        let prefixes: Vec<_> = options.prefixes.iter().chain(aliases).copied().collect();
        let mut router = Router::new();
        for prefix in prefixes {
            let shared = Arc::clone(&self.shared);
            let handler = move |request: Request| handle(Arc::clone(&shared), request);
            router = router.route(&format!("/{prefix}/{{*path}}"), any(handler.clone()));
            router = router.route(&format!("/{prefix}/"), any(handler));
        }
        router
    }
}

impl Shared {
    fn table(&self) -> Result<&Table, &TableError> {
        let build = || Table::new((self.options.pool)(), self.options.services, self.options.extra);
        self.table.get_or_init(build).as_ref()
    }
}

async fn handle(shared: Arc<Shared>, request: Request) -> Response {
    if Protocol::of(request.headers()) == Protocol::Grpc {
        return unknown_route(request).await;
    }
    match transcode(&shared, request).await {
        Ok(response) => response,
        Err(Refusal::Unknown) => not_found(),
        Err(Refusal::Status(status)) => status_to_http(&status),
        Err(Refusal::TooLarge) => response::too_large(shared.options.body_bytes_max),
        Err(Refusal::Silent) => response::silent(),
    }
}

/// Why a request did not reach the service.
enum Refusal {
    Unknown,
    TooLarge,
    /// The client has stopped in the middle of its body.
    Silent,
    Status(Status),
}

impl From<BodyError> for Refusal {
    fn from(error: BodyError) -> Self {
        match error {
            BodyError::TooLarge => Self::TooLarge,
            BodyError::Silent => Self::Silent,
            BodyError::Broken(_) => Self::Status(Status::invalid_argument(error.to_string())),
        }
    }
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Self {
        Self::Status(status)
    }
}

async fn transcode(shared: &Shared, request: Request) -> Result<Response, Refusal> {
    let table = shared.table().map_err(|error| {
        tracing::error!(%error, "the REST routes cannot be built: this is a bug in firelet");
        Status::internal("the REST routes of this service cannot be built")
    })?;
    let options = &shared.options;
    let found = table
        .find(request.method(), request.uri().path(), options.aliases, options.choose)
        .map_err(Status::invalid_argument)?;
    let Some(found) = found else {
        let next = shared.next.as_ref().ok_or(Refusal::Unknown)?;
        return Box::pin(transcode(&next.shared, request)).await;
    };
    let (parts, body) = request.into_parts();
    let query = bind::Query::parse(parts.uri.query().unwrap_or_default())
        .map_err(Status::invalid_argument)?;
    let style = query.style();
    let json = match found.binding.body {
        table::BodyRule::None => bytes::Bytes::new(),
        _ => body::read(body, options.body_bytes_max).await?,
    };
    let message = request::message(found.binding, &found.variables, &query, &json)?;
    drop(json);
    let call = request::call(found.binding, parts, &message)?;
    let answer = match shared.grpc.clone().oneshot(call).await {
        Ok(answer) => answer,
        Err(never) => match never {},
    };
    let frames = Frames::new(answer);
    let method = &found.binding.method;
    Ok(match method.is_server_streaming() {
        true => response::stream(frames, method.output(), style).await,
        false => response::unary(frames, method.output(), style).await,
    })
}

//! The layer itself.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use futures_util::FutureExt;
use tower::{Layer, Service};

use super::cors::Cors;
use super::identity::identify;
use super::{catch_panic, errors};
use crate::fallback::unknown_route;
use crate::status::{Protocol, refuse_in};

/// Gives a service's routes everything that all services share: the answer to unknown paths, CORS, the caller's
/// [`base_token::Identity`] among the request's extensions, INTERNAL in place of a panic, and gRPC errors in trailers.
///
/// `router` must not have a fallback of its own.
pub fn standard(router: Router) -> Router {
    router.fallback(unknown_route).method_not_allowed_fallback(unknown_route).layer(Standard)
}

#[derive(Clone, Copy, Debug)]
struct Standard;

impl<S> Layer<S> for Standard {
    type Service = StandardService<S>;

    fn layer(&self, inner: S) -> StandardService<S> {
        StandardService { inner }
    }
}

#[derive(Clone, Debug)]
struct StandardService<S> {
    inner: S,
}

type Answer = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

impl<S> Service<Request> for StandardService<S>
where
    S: Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Answer;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Answer {
        let cors = Cors::of(request.headers());
        let protocol = Protocol::of(request.headers());
        if let Some(response) = cors.preflight(request.method(), request.headers()) {
            return Box::pin(ready(Ok(response)));
        }
        match identify(request.headers()) {
            Ok(identity) => request.extensions_mut().insert(identity),
            Err(status) => {
                let response = cors.mark(refuse_in(protocol, status));
                return Box::pin(ready(Ok(response)));
            }
        };
        // All that is needed of the request when something goes wrong; cheap to keep.
        let uri = request.uri().clone();
        let inner = &mut self.inner;
        let future = match catch_unwind(AssertUnwindSafe(|| inner.call(request))) {
            Ok(future) => future,
            Err(panic) => {
                let response = catch_panic::answer(&*panic, &uri, protocol);
                return Box::pin(ready(Ok(cors.mark(response))));
            }
        };
        Box::pin(async move {
            let response = match AssertUnwindSafe(future).catch_unwind().await {
                Ok(Ok(response)) => catch_panic::guard(response, &uri, protocol),
                Ok(Err(never)) => match never {},
                Err(panic) => catch_panic::answer(&*panic, &uri, protocol),
            };
            let response = match protocol {
                Protocol::Grpc => errors::to_trailers(response, uri.path()),
                Protocol::Json => response,
            };
            Ok(cors.mark(response))
        })
    }
}

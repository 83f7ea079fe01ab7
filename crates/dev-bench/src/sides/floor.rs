//! The floor: an empty gRPC method and an empty HTTP route, served by the same code that serves
//! firelet. Nothing built on this stack can answer sooner.

use std::convert::Infallible;
use std::future::{Future, ready};
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::Result;
use axum::Router;
use axum::routing::get;
use front::{Bound, ServeOptions, Serving};
use http::Method;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService};
use tonic::service::Routes;
use tonic_prost::ProstCodec;
use tower::{Service, service_fn};

use super::home::Home;
use crate::client::{Request, Transport};

const METHOD: &str = "/firelet.bench.Floor/Empty";
const ROUTE: &str = "/empty";

/// As the suite gives its services.
const STOP_GRACE: Duration = Duration::from_secs(1);

pub(super) struct Floor {
    serving: Serving,
    home: Home,
}

impl Floor {
    pub(super) async fn open() -> Result<(String, Self)> {
        let home = Home::open()?;
        let serving = home.run(async { serve() }).await??;
        Ok((format!("127.0.0.1:{}", serving.port()), Self { serving, home }))
    }

    pub(super) async fn close(self) -> Result<()> {
        let Self { serving, home } = self;
        home.run(serving.stop(STOP_GRACE)).await?;
        home.close().await
    }
}

/// The request that takes the place of a workload's on the floor.
pub(crate) fn request(transport: Transport) -> Request {
    match transport {
        Transport::Grpc => Request::grpc(METHOD, &()),
        Transport::Rest => Request::rest(Method::GET, ROUTE, ""),
    }
}

/// Its routes, with everything around them that a service has.
pub(crate) fn router() -> Router {
    let grpc = front::grpc::router(Routes::new(Empty));
    let routes = Router::new().route(ROUTE, get(|| ready(())));
    front::layers::standard(grpc.merge(routes))
}

fn serve() -> Result<Serving> {
    Ok(Bound::bind("localhost", 0)?.serve(router(), ServeOptions::default())?)
}

/// A service of one method that takes nothing and answers nothing, as tonic's generator would write it.
#[derive(Clone, Copy, Debug)]
struct Empty;

impl NamedService for Empty {
    const NAME: &'static str = "firelet.bench.Floor";
}

impl Service<http::Request<Body>> for Empty {
    type Response = http::Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        Box::pin(async move {
            let mut grpc = Grpc::new(ProstCodec::<(), ()>::default());
            let method = service_fn(|_: tonic::Request<()>| {
                ready(Ok::<_, tonic::Status>(tonic::Response::new(())))
            });
            Ok(grpc.unary(method, request).await)
        })
    }
}

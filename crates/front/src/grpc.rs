//! Routes of tonic services, made fit to live beside other routes on one port.

use axum::Router;
use axum::extract::Request;
use base_token::Identity;
use http::{Extensions, Uri};
use tonic::service::Routes;
use tower::ServiceExt;

use crate::tasks::ListenerTasks;

/// The routes of gRPC services, without the fallback of tonic (which would answer every unknown path as gRPC).
pub fn router(routes: Routes) -> Router {
    routes.prepare().into_axum_router().reset_fallback()
}

/// Routes that serve the service `from` with what `grpc` answers for the service `to` (full names both), for
/// clients that speak an older version of a package.
pub fn alias(grpc: Router, from: &str, to: &'static str) -> Router {
    let path = format!("/{from}/{{*method}}");
    let handler = move |mut request: Request| {
        let grpc = grpc.clone();
        async move {
            let method = request.uri().path().rsplit('/').next().unwrap_or_default();
            if let Ok(uri) = Uri::try_from(format!("/{to}/{method}")) {
                *request.uri_mut() = uri;
            }
            let extensions = std::mem::take(request.extensions_mut());
            *request.extensions_mut() = of_the_caller(&extensions);
            match grpc.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        }
    };
    Router::new().route(&path, axum::routing::post(handler))
}

/// What a request keeps when it enters a second router: who sent it and by which listener, and nothing of the first
/// router's own notes.
pub(crate) fn of_the_caller(extensions: &Extensions) -> Extensions {
    let mut kept = Extensions::new();
    if let Some(identity) = extensions.get::<Identity>() {
        kept.insert(identity.clone());
    }
    kept.insert(ListenerTasks::of(extensions));
    kept
}

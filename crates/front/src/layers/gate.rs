//! Requests that come before their service is ready wait for it.

use std::time::Duration;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use base_status::Status;
use tokio::sync::watch;

use crate::limits::READY_WAIT_MAX;
use crate::status::refuse;

/// Opens the way to a service. Without it, when this is dropped, whoever waits is refused.
#[derive(Debug)]
pub struct Gate {
    is_open: watch::Sender<bool>,
}

impl Gate {
    /// A router in front of which requests wait until the gate is opened, and the gate.
    #[must_use]
    pub fn before(router: Router) -> (Router, Gate) {
        Gate::waiting(router, READY_WAIT_MAX)
    }

    fn waiting(router: Router, wait_max: Duration) -> (Router, Gate) {
        let (is_open, seen) = watch::channel(false);
        let wait = move |request: Request, next: Next| {
            let mut seen = seen.clone();
            async move {
                if !*seen.borrow() {
                    let opened = seen.wait_for(|is_open| *is_open);
                    let waited = tokio::time::timeout(wait_max, opened).await;
                    if !matches!(waited, Ok(Ok(_))) {
                        return not_ready(&request);
                    }
                }
                next.run(request).await
            }
        };
        (router.layer(from_fn(wait)), Gate { is_open })
    }

    /// Lets all requests through from now on.
    pub fn open(self) {
        self.is_open.send_replace(true);
    }
}

fn not_ready(request: &Request) -> Response {
    let text = "the data of this suite is still being imported: try again in a moment";
    refuse(request.headers(), Status::unavailable(text))
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use http::StatusCode;
    use tower::ServiceExt;

    use super::*;

    fn gate(wait_max: Duration) -> (Router, Gate) {
        Gate::waiting(Router::new().route("/", get(|| async { "ready" })), wait_max)
    }

    async fn ask(router: Router) -> StatusCode {
        router.oneshot(Request::new(Body::empty())).await.unwrap().status()
    }

    #[tokio::test]
    async fn requests_wait_until_it_opens() {
        let (router, gate) = gate(Duration::from_secs(60));
        let early = tokio::spawn(ask(router.clone()));
        tokio::task::yield_now().await;
        assert!(!early.is_finished());
        gate.open();
        assert_eq!(early.await.unwrap(), StatusCode::OK);
        assert_eq!(ask(router).await, StatusCode::OK);
    }

    #[tokio::test]
    async fn nobody_waits_for_ever() {
        let (router, gate) = gate(Duration::ZERO);
        assert_eq!(ask(router).await, StatusCode::SERVICE_UNAVAILABLE);
        drop(gate);
        let (router, gate) = super::Gate::before(Router::new());
        let early = tokio::spawn(ask(router));
        tokio::task::yield_now().await;
        drop(gate);
        assert_eq!(early.await.unwrap(), StatusCode::SERVICE_UNAVAILABLE);
    }
}

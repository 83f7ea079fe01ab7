//! The same requests without sockets: a service's routes called in place. What is left is what our own
//! code costs; the difference to the request rows is the network stack's and the client's part.

use anyhow::{Context, Result, ensure};
use axum::Router;
use axum::body::Body;
use base_env::Env;
use http::header::{AUTHORIZATION, CONTENT_TYPE, TE};
use http_body_util::BodyExt;
use svc_kit::Service as _;
use tower::ServiceExt as _;

use super::{RequestWorkload, data};
use crate::client::{OWNER, Request, Transport};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{SideKind, floor};
use crate::stats::Samples;

/// Requests per unmeasured turn before a row is measured.
const WARM_UP: u64 = 1_000;

/// Measures the workloads that send one request after the other, one row each.
///
/// # Errors
/// A request is refused.
pub async fn measure_in_process(
    workloads: &[&RequestWorkload],
    counts: Counts,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Row>> {
    let clock = Env::real();
    let context = svc_kit::Context::new(Env::real(), data::PROJECT);
    let firestore = svc_firestore::Firestore::open(svc_firestore::Config::default(), context)?;
    let mut lines = [
        Line { kind: SideKind::Floor, router: floor::router(), next: 0 },
        Line { kind: SideKind::Firelet, router: firestore.router(), next: 0 },
    ];
    for line in lines.iter().filter(|line| line.kind == SideKind::Firelet) {
        line.call(Transport::Grpc, data::seed()).await?;
    }
    progress("without sockets");
    let mut rows = Vec::new();
    for workload in workloads.iter().filter(|workload| workload.at_once == 1) {
        let mut samples = [Samples::default(), Samples::default()];
        for line in &mut lines {
            line.turn(workload, WARM_UP, &mut Samples::default(), &clock).await?;
        }
        for round in 0..counts.rounds {
            for index in rounds::order(lines.len(), round) {
                if let (Some(line), Some(samples)) = (lines.get_mut(index), samples.get_mut(index))
                {
                    line.turn(workload, counts.requests, samples, &clock).await?;
                }
            }
        }
        let summaries = samples.into_iter().map(Samples::summary);
        let cells = lines.iter().map(|line| line.kind.name()).zip(summaries);
        rows.push(Row::new(workload.name, cells));
    }
    firestore.shutdown();
    Ok(rows)
}

/// The routes of one side.
struct Line {
    kind: SideKind,
    router: Router,
    next: u64,
}

impl Line {
    async fn turn(
        &mut self,
        workload: &RequestWorkload,
        requests: u64,
        samples: &mut Samples,
        clock: &Env,
    ) -> Result<()> {
        let first = self.next;
        self.next += requests;
        for number in first..self.next {
            let request = match self.kind {
                SideKind::Floor => floor::request(workload.transport),
                SideKind::Firelet | SideKind::Official => (workload.request)(number),
            };
            let started = clock.monotonic();
            self.call(workload.transport, request).await.context(workload.name)?;
            samples.single(clock.monotonic().saturating_sub(started));
        }
        Ok(())
    }

    async fn call(&self, transport: Transport, request: Request) -> Result<()> {
        let kind = match transport {
            Transport::Grpc => "application/grpc",
            Transport::Rest => "application/json",
        };
        let Request { method, target, body } = request;
        let request = http::Request::builder()
            .method(method)
            .uri(target)
            .header(AUTHORIZATION, OWNER)
            .header(CONTENT_TYPE, kind)
            .header(TE, "trailers")
            .body(Body::from(body))?;
        let Ok(response) = self.router.clone().oneshot(request).await;
        let (head, body) = response.into_parts();
        let body = body.collect().await?;
        let trailers = body.trailers().unwrap_or(&head.headers);
        let refused = trailers.get("grpc-status").is_some_and(|status| status != "0");
        ensure!(head.status.is_success() && !refused, "answered {} {trailers:?}", head.status);
        Ok(())
    }
}

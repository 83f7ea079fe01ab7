//! A client that asks for anything: random valid and nearly valid requests from a seed, over REST and gRPC.
//!
//! Each session has a project of its own: some documents, then requests that read and write them. Asked of
//! firelet alone, a request must be answered in time and never with an internal failure. Asked of the
//! official emulator too, both must answer the same code and, where they succeed, the same rows; what is
//! known to differ is named in [`known`].

mod ask;
mod compare;
mod documents;
mod draw;
mod known;
mod query;
mod report;
mod requests;
mod send;
mod session;
mod values;

pub use report::Report;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use tokio::task::JoinSet;

/// What to ask, and whom.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Where the random requests come from.
    pub seed: u64,
    /// How many requests in all, about.
    pub requests: usize,
    /// How many sessions at once.
    pub workers: usize,
    /// The address of firelet, `host:port`.
    pub firelet: String,
    /// The address of the official emulator, to compare with.
    pub oracle: Option<String>,
}

/// Asks everything and reports what came of it. A seed gives the same requests every time, whatever the
/// number of workers.
///
/// # Errors
/// A server cannot be reached at all.
pub async fn run(plan: &Plan) -> Result<Report> {
    let next = Arc::new(AtomicUsize::new(0));
    let sessions = plan.requests.div_ceil(session::REQUESTS);
    let mut workers = JoinSet::new();
    for _ in 0..plan.workers {
        let (plan, next) = (plan.clone(), Arc::clone(&next));
        workers.spawn(async move {
            let mut report = Report::default();
            let mut servers = session::Servers::connect(&plan).await?;
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= sessions {
                    return Ok::<_, anyhow::Error>(report);
                }
                session::run(&plan, number, &mut servers, &mut report).await?;
            }
        });
    }
    let mut report = Report::default();
    while let Some(part) = workers.join_next().await {
        report.add(part??);
    }
    Ok(report)
}

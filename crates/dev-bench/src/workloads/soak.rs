//! The soak: everything at once for minutes, to see whether memory stays flat and answers stay quick.
//!
//! Writers and readers work on one collection, a query goes over it, and beside them projects are forked,
//! written, cleared, and put back to a snapshot. Everything runs in this process, the client included.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base_env::Env;
use base_value::Value;
use base_wire::google::firestore::v1 as wire;
use host_suite::{Caller, ConfigChoice, Machine, StartOptions, Suite};
use tokio::task::LocalSet;
use wire::run_query_request::QueryType;

use super::data::{self, DATABASE, PROJECT, WRITTEN};
use super::shapes::{Query, encoded};
use crate::client::{Grpc, Request};
use crate::process::own_resident_bytes;
use crate::sides::Home;
use crate::stats::{Samples, Summary};

/// Documents that are written and read over and over.
const DOCUMENTS: u64 = 50_000;
/// Projects that are forks, each put back again and again.
const FORKS: u64 = 8;
/// How often something is done with whole projects.
const PROJECTS_INTERVAL: Duration = Duration::from_millis(500);
/// One slice of the table.
const MINUTE: Duration = Duration::from_secs(60);

/// What is measured of each kind of request in the minute that runs.
type Measured = Rc<RefCell<BTreeMap<&'static str, Samples>>>;

/// What one minute showed.
#[derive(Debug)]
pub struct Minute {
    /// Its number, from 0.
    pub number: u64,
    /// The kinds of requests, by name.
    pub kinds: Vec<(&'static str, Summary)>,
    /// Resident memory at its end, in bytes.
    pub resident: u64,
}

/// The minutes as a table, and under it the last one against the first.
#[must_use]
pub fn soak_markdown(minutes: &[Minute]) -> String {
    let mut text = String::from("| minute | resident MiB |");
    let (Some(first), Some(last)) = (minutes.first(), minutes.last()) else { return text };
    for (kind, _) in &first.kinds {
        text += &format!(" {kind} p50 / p99 ms, per second |");
    }
    text += &format!("\n|{}\n", " --- |".repeat(first.kinds.len() + 2));
    for minute in minutes {
        text += &format!("| {} | {} |", minute.number + 1, minute.resident / 1024 / 1024);
        for (_, seen) in &minute.kinds {
            let (p50, p99) = (seen.p50_us / 1_000.0, seen.p99_us / 1_000.0);
            text += &format!(" {p50:.3} / {p99:.3}, {:.0} |", seen.per_second);
        }
        text.push('\n');
    }
    text += "\nThe last minute's p99 against the first's:";
    for ((kind, first), (_, last)) in first.kinds.iter().zip(&last.kinds) {
        text += &format!(" {kind} {:.2}x", last.p99_us / first.p99_us);
    }
    text
}

/// What all workers share.
#[derive(Clone)]
struct Soak {
    clock: Env,
    end: Duration,
    authority: String,
    samples: Measured,
}

/// Runs for some minutes; `note` hears of each when it is over.
///
/// # Errors
/// A request fails, or an answer is wrong.
pub async fn soak(minutes: u32, note: impl Fn(&str)) -> Result<Vec<Minute>> {
    let home = Home::open()?;
    let mut options = StartOptions::new(Caller::Program, Machine::of_process()?);
    options.project = Some(PROJECT.to_owned());
    options.config = ConfigChoice::Nothing;
    let suite = home.run(Suite::start(options)).await??;
    let services = suite.services();
    let firestore = services.iter().find(|info| info.name == "firestore");
    let authority = firestore.context("the suite has no Firestore")?.authority.clone();
    let clock = Env::real();
    fill(&authority).await?;
    let end = clock.monotonic() + MINUTE * minutes;
    let shared = Soak { clock, end, authority, samples: Rc::default() };
    let work = LocalSet::new();
    let mut workers = Vec::new();
    for number in 0..2 {
        workers.push(work.spawn_local(shared.clone().repeat("write", number, write)));
        workers.push(work.spawn_local(shared.clone().repeat("get", number, get)));
    }
    workers.push(work.spawn_local(shared.clone().repeat("query", 0, query)));
    workers.push(work.spawn_local(shared.clone().projects(suite.clone())));
    let watched = work.run_until(async {
        let mut seen = Vec::new();
        for number in 0..u64::from(minutes) {
            tokio::time::sleep(MINUTE).await;
            let resident = own_resident_bytes().unwrap_or_default();
            note(&format!("minute {}: {} MiB resident", number + 1, resident / 1024 / 1024));
            // What was measured is kept in short, so that it is not the memory that grows.
            let kinds = std::mem::take(&mut *shared.samples.borrow_mut()).into_iter();
            let kinds = kinds.filter_map(|(kind, samples)| Some((kind, samples.summary()?)));
            seen.push(Minute { number, resident, kinds: kinds.collect() });
        }
        for worker in workers {
            worker.await??;
        }
        anyhow::Ok(seen)
    });
    let minutes = watched.await?;
    home.run(async move { suite.stop().await }).await??;
    home.close().await?;
    Ok(minutes)
}

async fn fill(authority: &str) -> Result<()> {
    let mut line = Grpc::connect(authority).await?;
    for first in (0..DOCUMENTS).step_by(500) {
        let documents = (first..first + 500).map(|number| (WRITTEN, number, number, number));
        line.send(data::commit(documents)).await?;
    }
    Ok(())
}

impl Soak {
    /// Sends one request after the other until the end.
    async fn repeat(
        self,
        kind: &'static str,
        worker: u64,
        request: fn(u64) -> Request,
    ) -> Result<()> {
        let mut line = Grpc::connect(&self.authority).await?;
        // Far apart, so that no two workers do the same.
        let mut number = worker << 32;
        while self.clock.monotonic() < self.end {
            let asked = self.clock.monotonic();
            line.send(request(number)).await.context(kind)?;
            let answered = self.clock.monotonic();
            let mut samples = self.samples.borrow_mut();
            samples.entry(kind).or_default().single(answered.saturating_sub(asked));
            number += 1;
        }
        Ok(())
    }

    /// Forks, writes to forks, clears, and puts back.
    async fn projects(self, suite: Suite) -> Result<()> {
        let mut line = Grpc::connect(&self.authority).await?;
        for number in 0.. {
            if self.clock.monotonic() >= self.end {
                break;
            }
            let project = format!("demo-fork-{}", number % FORKS);
            suite.fork(&project, None)?;
            let of_fork = |name: String| name.replacen(PROJECT, &project, 1);
            let snapshot = suite.snapshot(Some(&project))?;
            for id in 0..20 {
                let name = of_fork(data::name(WRITTEN, id));
                let request = wire::DeleteDocumentRequest { name, current_document: None };
                let path = "/google.firestore.v1.Firestore/DeleteDocument";
                line.send(Request::grpc(path, &request)).await.context("a write to a fork")?;
            }
            suite.restore(&snapshot)?;
            let name = of_fork(data::name(WRITTEN, 7));
            let request = wire::GetDocumentRequest { name, ..wire::GetDocumentRequest::default() };
            let path = "/google.firestore.v1.Firestore/GetDocument";
            line.send(Request::grpc(path, &request)).await.context("a restored document")?;
            if number % 2 == 1 {
                suite.clear(Some(&project))?;
                let gone = line.send(Request::grpc(path, &request)).await;
                ensure!(gone.is_err(), "a cleared document is there");
            }
            tokio::time::sleep(PROJECTS_INTERVAL).await;
        }
        Ok(())
    }
}

/// A number that looks like chance and is the same every time.
fn scattered(number: u64) -> u64 {
    number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(31) % DOCUMENTS
}

fn write(number: u64) -> Request {
    data::commit([(WRITTEN, scattered(number), number % DOCUMENTS, number)])
}

fn get(number: u64) -> Request {
    let name = data::name(WRITTEN, scattered(number));
    let request = wire::GetDocumentRequest { name, ..wire::GetDocumentRequest::default() };
    Request::grpc("/google.firestore.v1.Firestore/GetDocument", &request)
}

/// Twenty documents behind some rank.
fn query(number: u64) -> Request {
    let rank = Value::Integer(i64::try_from(scattered(number)).unwrap_or_default());
    let query = Query::of(WRITTEN).ascending("rank").after(vec![encoded(&rank)]).limit(20);
    let request = wire::RunQueryRequest {
        parent: format!("{DATABASE}/documents"),
        query_type: Some(QueryType::StructuredQuery(query.wire())),
        ..wire::RunQueryRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/RunQuery", &request)
}

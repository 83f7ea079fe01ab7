//! Running workloads that are requests: warm-up of everything, then each workload in rounds.

use std::time::Duration;

use anyhow::{Context, Result};
use base_env::Env;
use futures_util::stream::{FuturesUnordered, TryStreamExt};

use super::data;
use crate::client::{Answer, Connection, Request, Transport};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{Side, SideKind, floor};
use crate::stats::Samples;

/// One row of a group: what is asked, and how an answer is known to be right.
#[derive(Clone, Copy, Debug)]
pub struct RequestWorkload {
    /// The row's name.
    pub name: &'static str,
    /// How its requests travel.
    pub transport: Transport,
    /// Connections that send at once, each one request after the other.
    pub at_once: usize,
    /// The request of a number. No number comes twice.
    pub request: fn(u64) -> Request,
    /// Checks the answer to the request of a number.
    pub check: fn(u64, &Answer) -> Result<()>,
}

/// Unmeasured requests on every new connection.
const SETTLE: u64 = 50;

/// Measures the workloads on all sides, one row each.
///
/// # Errors
/// A side fails or answers wrongly.
pub async fn measure_requests(
    workloads: &[&RequestWorkload],
    sides: &[Side],
    counts: Counts,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Row>> {
    let clock = Env::real();
    let mut runners: Vec<Runner<'_>> =
        sides.iter().map(|side| Runner { side, clock: &clock, next: 0 }).collect();
    for runner in &runners {
        progress(&format!("warming up {}", runner.side.kind().name()));
        runner.seed().await?;
    }
    // Everything is warmed up before anything is measured: shared paths get warm at different times.
    for workload in workloads {
        for runner in &mut runners {
            let mut line = Line::open(runner.side, workload).await?;
            let connections = u64::try_from(workload.at_once).unwrap_or(1).max(1);
            runner.turn(workload, counts.warm_up / connections, &mut line).await?;
        }
    }
    let mut rows = Vec::new();
    for workload in workloads {
        progress(workload.name);
        rows.push(measure(workload, &mut runners, counts).await?);
    }
    Ok(rows)
}

async fn measure(
    workload: &RequestWorkload,
    runners: &mut [Runner<'_>],
    counts: Counts,
) -> Result<Row> {
    let mut lines = Vec::new();
    for runner in runners.iter_mut() {
        let mut line = Line::open(runner.side, workload).await?;
        runner.turn(workload, SETTLE, &mut line).await?;
        line.samples = Samples::default();
        lines.push(line);
    }
    for round in 0..counts.rounds {
        for index in rounds::order(runners.len(), round) {
            let (Some(runner), Some(line)) = (runners.get_mut(index), lines.get_mut(index)) else {
                continue;
            };
            let requests = match runner.side.kind() {
                SideKind::Floor | SideKind::Firelet => counts.requests,
                SideKind::Official => counts.requests_official,
            };
            runner.turn(workload, requests, line).await?;
        }
    }
    let kinds = runners.iter().map(|runner| runner.side.kind().name());
    let summaries = lines.into_iter().map(|line| line.samples.summary());
    Ok(Row::new(workload.name, kinds.zip(summaries)))
}

/// The connections of one workload to one side, and what was measured on them.
struct Line {
    connections: Vec<Connection>,
    samples: Samples,
}

impl Line {
    async fn open(side: &Side, workload: &RequestWorkload) -> Result<Self> {
        let mut connections = Vec::new();
        for _ in 0..workload.at_once {
            connections.push(Connection::open(side.authority(), workload.transport).await?);
        }
        Ok(Self { connections, samples: Samples::default() })
    }
}

/// Sends one side its requests.
struct Runner<'a> {
    side: &'a Side,
    clock: &'a Env,
    /// The number of the next request, whatever the workload: no content is ever written twice.
    next: u64,
}

impl Runner<'_> {
    async fn seed(&self) -> Result<()> {
        if self.side.kind() != SideKind::Floor {
            let mut connection = Connection::open(self.side.authority(), Transport::Grpc).await?;
            connection.send(data::seed()).await?;
        }
        Ok(())
    }

    /// One turn: `requests` on every connection, made before the clock starts. The first answer of each
    /// connection is checked after it has stopped, all others by their status.
    async fn turn(
        &mut self,
        workload: &RequestWorkload,
        requests: u64,
        line: &mut Line,
    ) -> Result<()> {
        let mut prepared = Vec::new();
        for connection in &mut line.connections {
            let first = self.next;
            self.next += requests;
            let numbers = first..self.next;
            let batch: Vec<_> = numbers.map(|number| self.request(workload, number)).collect();
            prepared.push((connection, first, batch));
        }
        let clock = self.clock;
        let started = clock.monotonic();
        let running: FuturesUnordered<_> = prepared
            .into_iter()
            .map(|(connection, first, batch)| async move {
                let (each, answer) = send_all(connection, batch, clock).await?;
                anyhow::Ok((first, each, answer))
            })
            .collect();
        let done: Vec<_> = running
            .try_collect()
            .await
            .with_context(|| format!("{}: {}", self.side.kind().name(), workload.name))?;
        let wall = clock.monotonic().saturating_sub(started);
        let mut all = Vec::new();
        for (first, each, answer) in done {
            if let Some(answer) = answer.filter(|_| self.side.kind() != SideKind::Floor) {
                (workload.check)(first, &answer)
                    .with_context(|| format!("{}: {}", self.side.kind().name(), workload.name))?;
            }
            all.extend(each);
        }
        line.samples.turn(all, wall);
        Ok(())
    }

    fn request(&self, workload: &RequestWorkload, number: u64) -> Request {
        match self.side.kind() {
            SideKind::Floor => floor::request(workload.transport),
            SideKind::Firelet | SideKind::Official => (workload.request)(number),
        }
    }
}

async fn send_all(
    connection: &mut Connection,
    batch: Vec<Request>,
    clock: &Env,
) -> Result<(Vec<Duration>, Option<Answer>)> {
    let mut each = Vec::with_capacity(batch.len());
    let mut first = None;
    for request in batch {
        let started = clock.monotonic();
        let answer = connection.send(request).await?;
        each.push(clock.monotonic().saturating_sub(started));
        first.get_or_insert(answer);
    }
    Ok((each, first))
}

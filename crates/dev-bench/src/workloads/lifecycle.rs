//! Starting and stopping: from the call to the first document written, and from the call until nothing
//! is left.

use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base_env::{Env, process::shell};
use clap::ValueEnum;
use tokio::time::sleep;

use super::data::{self, WRITTEN};
use crate::client::{Connection, Request, Transport};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{Install, PATIENCE, RETRY, Side, SideKind, floor};
use crate::stats::Samples;

/// What a fresh process of this program is asked to start, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColdStart {
    /// The floor, asked over gRPC.
    FloorGrpc,
    /// The floor, asked over REST.
    FloorRest,
    /// A suite, asked over gRPC.
    FireletGrpc,
    /// A suite, asked over REST.
    FireletRest,
}

impl ColdStart {
    /// Starts, asks once, and answers how long that took.
    ///
    /// # Errors
    /// The side does not start or does not answer.
    pub async fn run(self) -> Result<Duration> {
        let (kind, transport) = match self {
            Self::FloorGrpc => (SideKind::Floor, Transport::Grpc),
            Self::FloorRest => (SideKind::Floor, Transport::Rest),
            Self::FireletGrpc => (SideKind::Firelet, Transport::Grpc),
            Self::FireletRest => (SideKind::Firelet, Transport::Rest),
        };
        Ok(cycle(kind, transport, None).await?.start)
    }
}

/// The rows of this group.
///
/// # Errors
/// A side does not start, answer or stop.
pub async fn measure_lifecycle(
    counts: Counts,
    install: Option<&Install>,
    mut progress: impl FnMut(&str),
) -> Result<Vec<Row>> {
    let mut cold = [Cells::default(), Cells::default()];
    let (mut again, mut stop) = (Cells::default(), Cells::default());
    progress("start and stop");
    for round in 0..counts.starts {
        for (cells, transport) in cold.iter_mut().zip([Transport::Grpc, Transport::Rest]) {
            for index in rounds::order(2, round) {
                match (index, transport) {
                    (0, Transport::Grpc) => cells.floor.single(fresh("floor-grpc").await?),
                    (0, Transport::Rest) => cells.floor.single(fresh("floor-rest").await?),
                    (_, Transport::Grpc) => cells.firelet.single(fresh("firelet-grpc").await?),
                    (_, Transport::Rest) => cells.firelet.single(fresh("firelet-rest").await?),
                }
            }
            if install.is_some() && rounds::is_due(round, counts.starts, counts.starts_official) {
                let took = cycle(SideKind::Official, transport, install).await?;
                cells.official.single(took.start);
                stop.official.single(took.stop);
            }
        }
        for index in rounds::order(2, round) {
            let kind = if index == 0 { SideKind::Floor } else { SideKind::Firelet };
            let took = cycle(kind, Transport::Grpc, None).await?;
            again.of(kind).single(took.start);
            stop.of(kind).single(took.stop);
        }
    }
    let [grpc, rest] = cold;
    Ok(vec![
        grpc.row("start in a fresh process to the first gRPC write"),
        rest.row("start in a fresh process to the first REST write"),
        again.row("start again in the same process to the first gRPC write"),
        stop.row("stop, one client connected"),
    ])
}

#[derive(Default)]
struct Cells {
    floor: Samples,
    firelet: Samples,
    official: Samples,
}

impl Cells {
    fn of(&mut self, kind: SideKind) -> &mut Samples {
        match kind {
            SideKind::Floor => &mut self.floor,
            SideKind::Firelet => &mut self.firelet,
            SideKind::Official => &mut self.official,
        }
    }

    fn row(self, name: &str) -> Row {
        let Self { floor, firelet, official } = self;
        let cells = [
            (SideKind::Floor, floor),
            (SideKind::Firelet, firelet),
            (SideKind::Official, official),
        ];
        let cells = cells.map(|(kind, samples)| (kind.name(), samples.summary()));
        Row::new(name, cells)
    }
}

struct Took {
    start: Duration,
    stop: Duration,
}

/// Starts a side, writes one document, and stops it while the client is still connected.
async fn cycle(kind: SideKind, transport: Transport, install: Option<&Install>) -> Result<Took> {
    let clock = Env::real();
    let request = match (kind, transport) {
        (SideKind::Floor, _) => floor::request(transport),
        (_, Transport::Grpc) => data::commit([(WRITTEN, 0, 0, 0)]),
        (_, Transport::Rest) => {
            let target = format!("/v1/{}", data::name(WRITTEN, 0));
            Request::rest(http::Method::PATCH, target, data::json_body(0, 0))
        }
    };
    let begun = clock.monotonic();
    let mut side = Side::open(kind, install).await?;
    let connection = loop {
        let failed = match ask(&side, transport, request.clone()).await {
            Ok(connection) => break connection,
            Err(failed) => failed,
        };
        side.check()?;
        match kind {
            SideKind::Floor | SideKind::Firelet => return Err(failed),
            SideKind::Official if clock.monotonic() > PATIENCE => {
                return Err(failed.context("the official emulator does not answer"));
            }
            SideKind::Official => sleep(RETRY).await,
        }
    };
    let answered = clock.monotonic();
    side.close().await?;
    let stopped = clock.monotonic();
    drop(connection);
    Ok(Took { start: answered.saturating_sub(begun), stop: stopped.saturating_sub(answered) })
}

async fn ask(side: &Side, transport: Transport, request: Request) -> Result<Connection> {
    let mut connection = Connection::open(side.authority(), transport).await?;
    connection.send(request).await?;
    Ok(connection)
}

/// Lets a fresh process of this program start a side, and reads how long it took.
async fn fresh(what: &str) -> Result<Duration> {
    let program = std::env::current_exe().context("this program does not know its own file")?;
    let script = format!("exec '{}' --cold-start {what}", program.display());
    let output = shell(&script).stderr(Stdio::inherit()).output().await?;
    ensure!(output.status.success(), "a fresh process ended with {}", output.status);
    let text = String::from_utf8_lossy(&output.stdout);
    match text.trim().parse() {
        Ok(micros) => Ok(Duration::from_micros(micros)),
        Err(_) => bail!("a fresh process answered `{text}`"),
    }
}

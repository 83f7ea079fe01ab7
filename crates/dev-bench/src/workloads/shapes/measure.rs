//! Running shapes: warm-up, then rounds in which each side has its turn, with every answer compared.

use std::time::Duration;

use anyhow::{Context, Result, ensure};
use base_env::Env;
use tokio::time::timeout;

use super::ask::{Ask, Found};
use super::table::Shape;
use crate::client::Grpc;
use crate::dataset::Sizes;
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::sides::{Apart, SideKind};
use crate::stats::{Cell, Samples};

/// How long one answer may take. The slowest query of the official emulator takes some ten seconds.
const ANSWER_WAIT_MAX: Duration = Duration::from_secs(120);

/// How long the runs of one shape on one side may take together. A side whose heap is full answers in minutes: the
/// runs that it got through are what is known of it.
const RUNS_TIME_MAX: Duration = Duration::from_secs(120);

/// Numbers of runs that are not measured begin here, so that no measured one asks the same.
const UNMEASURED: u64 = 1_000_000;

/// A side with its one connection.
pub(crate) struct Line {
    pub(crate) side: Apart,
    grpc: Grpc,
}

impl Line {
    pub(crate) async fn open(side: Apart) -> Result<Self> {
        let grpc = Grpc::connect(side.authority()).await?;
        Ok(Self { side, grpc })
    }

    pub(crate) fn kind(&self) -> SideKind {
        self.side.kind()
    }

    async fn ask(&mut self, ask: &Ask) -> Result<(Duration, Found)> {
        let answer = timeout(ANSWER_WAIT_MAX, ask.send(&mut self.grpc)).await;
        let answer = answer.context("no answer").and_then(|answer| answer);
        self.side.check()?;
        answer.with_context(|| self.kind().name())
    }
}

/// Asks every side once and compares the answers whole, documents included.
pub(crate) async fn once(shape: &Shape, sizes: Sizes, lines: &mut [Line]) -> Result<()> {
    let ask = (shape.ask)(sizes, UNMEASURED);
    let mut first: Option<Found> = None;
    for line in lines {
        let (_, found) = line.ask(&ask).await?;
        let expected = first.get_or_insert_with(|| found.clone());
        same_names(expected, &found)?;
        ensure!(expected.fields()? == found.fields()?, "the documents differ");
    }
    Ok(())
}

fn same_names(expected: &Found, found: &Found) -> Result<()> {
    let (expected, found) = (expected.names(), found.names());
    ensure!(!found.is_empty(), "an answer without documents");
    ensure!(expected == found, "the answers differ: {expected:?} and {found:?}");
    Ok(())
}

/// Measures one shape on every side.
pub(crate) async fn shape(
    shape: &Shape,
    sizes: Sizes,
    counts: Counts,
    lines: &mut [Line],
) -> Result<Row> {
    let name = shape.name;
    for line in lines.iter_mut() {
        warm_up(shape, sizes, counts, line).await.with_context(|| name)?;
    }
    let mut samples: Vec<Samples> = lines.iter().map(|_| Samples::default()).collect();
    let mut spent = vec![Duration::ZERO; lines.len()];
    for round in 0..counts.shape_rounds {
        let runs = round * counts.shape_runs..(round + 1) * counts.shape_runs;
        let mut answers: Vec<Option<Found>> = runs.clone().map(|_| None).collect();
        for index in rounds::order(lines.len(), round) {
            let (Some(line), Some(samples), Some(spent)) =
                (lines.get_mut(index), samples.get_mut(index), spent.get_mut(index))
            else {
                continue;
            };
            for (run, answer) in runs.clone().zip(&mut answers) {
                if *spent > RUNS_TIME_MAX {
                    break;
                }
                let (took, found) =
                    line.ask(&(shape.ask)(sizes, run)).await.with_context(|| name)?;
                samples.single(took);
                *spent += took;
                let expected = answer.get_or_insert_with(|| found.clone());
                same_names(expected, &found).with_context(|| format!("{name}, run {run}"))?;
            }
        }
    }
    let sides = lines.iter().map(|line| line.kind().name());
    Ok(Row::new(name, sides.zip(samples.into_iter().map(Samples::summary))))
}

/// Runs that are not measured: many where they are quick, as a JIT needs many, and few where they are not.
async fn warm_up(shape: &Shape, sizes: Sizes, counts: Counts, line: &mut Line) -> Result<()> {
    let clock = Env::real();
    for run in 0..counts.shape_warm_up {
        let warm_after = match run >= counts.shape_warm_up_min {
            true => counts.shape_warm_up_time,
            false => RUNS_TIME_MAX,
        };
        if clock.monotonic() > warm_after {
            break;
        }
        line.ask(&(shape.ask)(sizes, UNMEASURED + 1 + run)).await?;
    }
    Ok(())
}

/// A row in one line, for whoever watches.
pub(crate) fn told(row: &Row) -> String {
    let cells = row.cells.iter().map(|(side, cell)| match cell {
        Some(Cell::Times(summary)) => {
            format!("{side} {:.3} / {:.3} ms", summary.p50_us / 1e3, summary.p99_us / 1e3)
        }
        Some(Cell::Failed { failed }) => format!("{side} {failed}"),
        Some(Cell::Amount(_)) | None => format!("{side} -"),
    });
    format!("{}: {}", row.name, cells.collect::<Vec<_>>().join(", "))
}

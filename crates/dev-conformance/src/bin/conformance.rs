//! Runs the cases from a terminal: against firelet, the official emulator, or any server.
#![forbid(unsafe_code)]

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Parser;
use dev_conformance::case::{self, Topic};
use dev_conformance::client::Client;
use dev_conformance::firelet::Firelet;
use dev_conformance::oracle::Oracle;
use dev_conformance::recorded::{self, Recordings};
use dev_conformance::report;
use dev_conformance::run::{Outcome, Side, against_server};

const SERVICE: &str = "firestore";

/// Runs conformance cases and prints what was not as expected.
#[derive(Debug, Parser)]
struct Arguments {
    /// Address of the server to ask, `host:port`; without it one is started.
    #[arg(long)]
    target: Option<String>,
    /// Ask the official emulator, whose own expectations hold, instead of firelet.
    #[arg(long)]
    oracle: bool,
    /// Start firelet, print its address and serve until the process is ended.
    #[arg(long)]
    serve: bool,
    /// Only cases whose `topic/case` contains this text.
    #[arg(long)]
    only: Option<String>,
    /// Print every answer.
    #[arg(long)]
    answers: bool,
    /// Write the answers as recordings of the official emulator.
    #[arg(long, requires = "oracle", conflicts_with = "only")]
    record: bool,
    /// The folder that holds `cases` and `recorded`.
    #[arg(long, default_value = concat!(env!("CARGO_MANIFEST_DIR")))]
    folder: PathBuf,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if arguments.serve {
        return serve().await;
    }
    let topics =
        selected(case::load(&arguments.folder.join("cases/firestore"))?, arguments.only.as_deref());
    let side = if arguments.oracle { Side::Oracle } else { Side::Firelet };
    let outcomes = match &arguments.target {
        Some(target) => against_server(&topics, &Client::new(target), side).await?,
        None if arguments.oracle => match Oracle::start().await? {
            Ok(oracle) => against_server(&topics, oracle.client(), side).await?,
            Err(reason) => bail!(reason),
        },
        None => {
            let firelet = Firelet::start(SERVICE).await?;
            against_server(&topics, firelet.client(), side).await?
        }
    };
    let mut out = std::io::stdout().lock();
    if arguments.answers {
        for outcome in &outcomes {
            for (step, answer) in outcome.recording.answers.iter().enumerate() {
                writeln!(out, "{} step {step}: {} {}", outcome.name, answer.status, answer.body)?;
            }
        }
    }
    if arguments.record {
        record(&arguments.folder, &topics, &outcomes)?;
    }
    write!(out, "{}", report::failures(&outcomes))?;
    let failed = outcomes.iter().filter(|outcome| !outcome.failures.is_empty()).count();
    writeln!(out, "{} passed, {failed} failed", outcomes.len() - failed)?;
    if failed > 0 {
        bail!("{failed} cases failed")
    }
    Ok(())
}

async fn serve() -> Result<()> {
    let firelet = Firelet::start(SERVICE).await?;
    writeln!(std::io::stdout(), "{}", firelet.client().authority())?;
    std::future::pending().await
}

fn selected(mut topics: Vec<Topic>, only: Option<&str>) -> Vec<Topic> {
    if let Some(only) = only {
        for topic in &mut topics {
            let name = topic.name.clone();
            topic.cases.retain(|case| format!("{name}/{}", case.name).contains(only));
        }
        topics.retain(|topic| !topic.cases.is_empty());
    }
    topics
}

fn record(folder: &Path, topics: &[Topic], outcomes: &[Outcome]) -> Result<()> {
    let folder = folder.join("recorded/firestore");
    for topic in topics {
        let prefix = format!("{}/", topic.name);
        let recordings: Recordings = outcomes
            .iter()
            .filter_map(|outcome| {
                Some((outcome.name.strip_prefix(&prefix)?.to_owned(), outcome.recording.clone()))
            })
            .collect();
        recorded::save(&folder, &topic.name, &recordings)?;
    }
    Ok(())
}

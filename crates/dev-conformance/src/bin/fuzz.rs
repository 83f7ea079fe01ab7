//! Asks random requests of firelet, and with `--oracle` of the official emulator side by side.
#![forbid(unsafe_code)]

use std::io::Write as _;

use anyhow::{Result, bail, ensure};
use clap::Parser;
use dev_conformance::firelet::Firelet;
use dev_conformance::fuzz::{self, Plan};
use dev_conformance::oracle::Oracle;

/// Asks random valid and nearly valid requests.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the random requests come from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many requests, about.
    #[arg(long, default_value_t = 100_000)]
    requests: usize,
    /// How many sessions at once.
    #[arg(long, default_value_t = 4)]
    workers: usize,
    /// Compare with the official emulator, which is started.
    #[arg(long)]
    oracle: bool,
    /// Compare with a server that runs already, `host:port`.
    #[arg(long, conflicts_with = "oracle")]
    beside: Option<String>,
}

#[tokio::main]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let firelet = Firelet::start("firestore").await?;
    let oracle = match arguments.oracle {
        false => None,
        true => match Oracle::start().await? {
            Ok(oracle) => Some(oracle),
            Err(reason) => bail!(reason),
        },
    };
    let started = oracle.as_ref().map(|oracle| oracle.client().authority().to_owned());
    let plan = Plan {
        seed: arguments.seed,
        requests: arguments.requests,
        workers: arguments.workers,
        firelet: firelet.client().authority().to_owned(),
        oracle: started.or(arguments.beside),
    };
    let report = fuzz::run(&plan).await;
    firelet.stop().await?;
    if let Some(oracle) = oracle {
        oracle.stop().await?;
    }
    let report = report?;
    writeln!(std::io::stdout(), "{report}")?;
    let (faults, unjudged) = (report.faults().len(), report.unjudged());
    ensure!(faults == 0 && unjudged == 0, "{faults} faults, {unjudged} kinds of disagreement");
    Ok(())
}

//! The command: measures, prints the tables, and keeps them when asked to.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use dev_bench::machine::Machine;
use dev_bench::profile::{Counts, Profile};
use dev_bench::report::{Measure, Ratio, Report, Row, Show, Table};
use dev_bench::sides::{Install, Side, SideKind};
use dev_bench::workloads::lifecycle::{ColdStart, measure_lifecycle};
use dev_bench::workloads::{REQUEST_GROUPS, RequestWorkload, measure_in_process, measure_requests};

/// Measures firelet, Google's emulator and the floor side by side.
#[derive(Debug, Parser)]
struct Arguments {
    /// How much to measure.
    #[arg(long, value_enum, default_value_t = Profile::Small)]
    profile: Profile,
    /// Keep the results in docs/benchmarks.
    #[arg(long)]
    write: bool,
    /// Only workloads whose name contains this text.
    #[arg(long, conflicts_with = "write")]
    only: Option<String>,
    /// Leave the official emulator out, even where it is installed.
    #[arg(long)]
    without_official: bool,
    /// Start one side once and print the microseconds: how a fresh process is measured.
    #[arg(long, value_enum, hide = true)]
    cold_start: Option<ColdStart>,
}

/// Where results are kept.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks");

const LIFECYCLE: &str = "start and stop";

// The client has one thread of its own, so that it costs every side the same.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(cold_start) = arguments.cold_start {
        return say(&cold_start.run().await?.as_micros().to_string());
    }
    let report = run(&arguments).await?;
    say(&report.markdown())?;
    if arguments.write {
        keep(Path::new(FOLDER), &report)?;
    }
    Ok(())
}

async fn run(arguments: &Arguments) -> Result<Report> {
    let official = match arguments.without_official {
        true => Err("left out by the caller".to_owned()),
        false => Install::find().await,
    };
    let install = official.as_ref().ok();
    let machine = Machine::this();
    let counts = arguments.profile.counts();
    let wanted = |name: &str| arguments.only.as_deref().is_none_or(|text| name.contains(text));

    let workloads: Vec<_> =
        REQUEST_GROUPS.into_iter().flatten().filter(|workload| wanted(workload.name)).collect();
    let mut tables = Vec::new();
    if !workloads.is_empty() {
        tables = requests(&workloads, counts, install).await?;
        let rows = measure_in_process(&workloads, counts, note).await?;
        let sides = [SideKind::Floor, SideKind::Firelet];
        if !rows.is_empty() {
            let title = "The same without sockets";
            tables.push(table(title, &sides, Show::Latency, &AGAINST_FLOOR, rows));
        }
    }
    if wanted(LIFECYCLE) {
        let rows = measure_lifecycle(counts, install, note).await?;
        tables.push(table("Start and stop", &SideKind::ALL, Show::Latency, &AGAINST, rows));
    }
    ensure!(!tables.is_empty(), "no workload has this name");
    Ok(Report {
        profile: arguments.profile,
        machine,
        firelet: host_suite::VERSION,
        official: official.map(|install| install.version),
        tables,
    })
}

async fn requests(
    workloads: &[&RequestWorkload],
    counts: Counts,
    install: Option<&Install>,
) -> Result<Vec<Table>> {
    let mut sides = Vec::new();
    for kind in SideKind::ALL {
        if kind != SideKind::Official || install.is_some() {
            sides.push(Side::open_ready(kind, install).await?);
        }
    }
    let rows = measure_requests(workloads, &sides, counts, note).await?;
    for side in sides {
        side.close().await?;
    }
    let at_once = workloads.iter().zip(&rows).filter(|(workload, _)| workload.at_once > 1);
    let at_once: Vec<Row> = at_once.map(|(_, row)| row.clone()).collect();
    let mut tables = vec![table("Requests", &SideKind::ALL, Show::Latency, &AGAINST, rows)];
    if !at_once.is_empty() {
        tables.push(table("Throughput", &SideKind::ALL, Show::Rate, &AGAINST_RATE, at_once));
    }
    Ok(tables)
}

const fn ratio(
    head: &'static str,
    over: &'static str,
    under: &'static str,
    measure: Measure,
) -> Ratio {
    Ratio { head, over, under, measure }
}

/// Above 1: firelet is that many times faster than the official emulator; below 1: it is slower. And
/// how many times the floor it takes.
const AGAINST: [Ratio; 3] = [
    ratio("official / firelet p50", "official", "firelet", Measure::P50),
    ratio("official / firelet p99", "official", "firelet", Measure::P99),
    ratio("firelet / floor p50", "firelet", "floor", Measure::P50),
];

/// The same by requests per second.
const AGAINST_RATE: [Ratio; 2] = [
    ratio("firelet / official", "firelet", "official", Measure::PerSecond),
    ratio("floor / firelet", "floor", "firelet", Measure::PerSecond),
];

/// Where the official emulator cannot be: its code is behind sockets only.
const AGAINST_FLOOR: [Ratio; 1] = [ratio("firelet / floor p50", "firelet", "floor", Measure::P50)];

fn table(
    title: &'static str,
    sides: &[SideKind],
    show: Show,
    ratios: &'static [Ratio],
    rows: Vec<Row>,
) -> Table {
    let sides = sides.iter().map(|side| side.name()).collect();
    Table { title, sides, show, ratios, rows }
}

fn keep(folder: &Path, report: &Report) -> Result<()> {
    let write = |name: &str, text: String| {
        let file: PathBuf = folder.join(name);
        std::fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    let json = serde_json::to_string_pretty(&report.json())?;
    write("results.json", format!("{json}\n"))?;
    let head = "# Results\n\nWritten by `npm run bench -- --write`; see [README.md](README.md) \
                for what the columns mean.\n\n";
    write("results.md", format!("{head}{}", report.markdown()))
}

fn say(text: &str) -> Result<()> {
    Ok(writeln!(std::io::stdout().lock(), "{text}")?)
}

fn note(text: &str) {
    // A closed stderr is no reason to stop measuring.
    let _closed = writeln!(std::io::stderr().lock(), "{text}");
}

//! The command: measures, prints the tables, and keeps them when asked to.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Parser;
use dev_bench::profile::Profile;
use dev_bench::report::Report;
use dev_bench::run::{Options, run};
use dev_bench::sides;
use dev_bench::workloads::engine::Kept;
use dev_bench::workloads::lifecycle::ColdStart;
use dev_bench::workloads::listeners::Listen;
use dev_bench::workloads::soak::{soak, soak_markdown};

/// Measures firelet, Google's emulator and the floor side by side.
#[derive(Debug, Parser)]
struct Arguments {
    /// How much to measure.
    #[arg(long, value_enum, default_value_t = Profile::Small)]
    profile: Profile,
    /// Keep the results in docs/benchmarks.
    #[arg(long)]
    write: bool,
    /// Only workloads whose name, or whose group's name, contains this text.
    #[arg(long, conflicts_with = "write")]
    only: Option<String>,
    /// Leave the official emulator out, even where it is installed.
    #[arg(long)]
    without_official: bool,
    /// Documents of the grown collection, instead of the profile's number.
    #[arg(long)]
    grown: Option<u64>,
    /// Listeners of one query, ten times as many of other collections, and a hundred times as many changes that nobody
    /// reads, instead of the profile's numbers.
    #[arg(long)]
    listeners: Option<u64>,
    /// GiB of heap for the official emulator's data sets, instead of Java's default.
    #[arg(long)]
    official_heap: Option<u32>,
    /// Run everything at once for so many minutes, and show whether memory and answers stay as they are.
    #[arg(long, value_name = "MINUTES", conflicts_with = "write")]
    soak: Option<u32>,
    /// Start one side once and print the microseconds: how a fresh process is measured.
    #[arg(long, value_enum, hide = true)]
    cold_start: Option<ColdStart>,
    /// Do one thing with a folder of kept data: how restarts are measured.
    #[arg(long, value_enum, hide = true, requires_all = ["kept_folder", "kept_documents"])]
    kept: Option<Kept>,
    #[arg(long, hide = true)]
    kept_folder: Option<PathBuf>,
    #[arg(long, hide = true)]
    kept_documents: Option<u64>,
    /// Listen there until standard input ends: how listeners get processes of their own.
    #[arg(long, hide = true, requires = "listen_streams")]
    listen: Option<String>,
    #[arg(long, hide = true)]
    listen_streams: Option<u64>,
    #[arg(long, hide = true)]
    listen_elsewhere: Option<u64>,
    /// Be a suite until standard input ends: how a side gets a process of its own.
    #[arg(long, hide = true)]
    serve: bool,
}

/// Where results are kept.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/benchmarks");

// The client has one thread of its own, so that it costs every side the same.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments = Arguments::parse();
    if let Some(cold_start) = arguments.cold_start {
        return say(&cold_start.run().await?.as_micros().to_string());
    }
    if let (Some(kept), Some(folder), Some(documents)) =
        (arguments.kept, &arguments.kept_folder, arguments.kept_documents)
    {
        return kept.run(folder, documents).await;
    }
    if let (Some(authority), Some(streams)) = (arguments.listen, arguments.listen_streams) {
        return Listen { authority, streams, elsewhere: arguments.listen_elsewhere }.run().await;
    }
    if arguments.serve {
        return sides::serve().await;
    }
    if let Some(minutes) = arguments.soak {
        let minutes = soak(minutes, note).await?;
        return say(&soak_markdown(&minutes));
    }
    let options = Options {
        profile: arguments.profile,
        only: arguments.only,
        without_official: arguments.without_official,
        grown: arguments.grown,
        listeners: arguments.listeners,
        official_heap_gib: arguments.official_heap,
    };
    let report = run(&options, note).await?;
    say(&report.markdown())?;
    if arguments.write {
        keep(Path::new(FOLDER), &report)?;
    }
    Ok(())
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

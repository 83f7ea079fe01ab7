//! Kept data opened again: after a clean end, and after the process was killed. Each step has a process of its own.

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base_env::Env;
use base_env::process::{Recipient, Signal, send, shell};
use clap::ValueEnum;
use engine_store::StoreOptions;
use engine_txn::Database;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::FIRELET;
use super::states::fill;
use super::stores::open;
use crate::process;
use crate::profile::Counts;
use crate::report::Row;
use crate::stats::Cell;

/// What a process of this program does with a folder of kept data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Kept {
    /// Fills it with documents, closes it, and says how long closing took.
    Fill,
    /// Fills it, says so, and waits to be killed.
    FillAndWait,
    /// Opens it, and says how long that took and what it needs in memory then.
    Open,
}

/// How long a child that waits to be killed waits at most.
const KILL_WAIT_MAX: Duration = Duration::from_secs(600);

impl Kept {
    fn flag(self) -> &'static str {
        match self {
            Self::Fill => "fill",
            Self::FillAndWait => "fill-and-wait",
            Self::Open => "open",
        }
    }

    /// Does it, and says two numbers: microseconds and bytes.
    ///
    /// # Errors
    /// The store fails, or holds something else than it was filled with.
    pub async fn run(self, folder: &Path, documents: u64) -> Result<()> {
        let clock = Env::real();
        let bare = process::own_resident_bytes().unwrap_or_default();
        let begun = clock.monotonic();
        let database: Database = open(StoreOptions::kept(Env::real(), folder))?;
        let mut took = clock.monotonic().saturating_sub(begun);
        match self {
            Self::Open => {
                let found = u64::try_from(database.snapshot().len())?;
                ensure!(found == documents, "{found} documents are there");
            }
            Self::Fill => {
                fill(&database, documents)?;
                let begun = clock.monotonic();
                database.close()?;
                took = clock.monotonic().saturating_sub(begun);
            }
            Self::FillAndWait => fill(&database, documents)?,
        }
        let bytes = process::own_resident_bytes().unwrap_or_default().saturating_sub(bare);
        writeln!(std::io::stdout().lock(), "{} {bytes}", took.as_micros())?;
        if self == Self::FillAndWait {
            tokio::time::sleep(KILL_WAIT_MAX).await;
            bail!("nobody killed this process");
        }
        Ok(())
    }
}

/// Measures stops and starts on [`Counts::engine_documents`] kept documents.
///
/// # Errors
/// A process fails, or documents are missing.
pub async fn measure_restart(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let documents = counts.engine_documents;
    let folder = tempfile::tempdir()?;
    let (clean, killed) = (folder.path().join("clean"), folder.path().join("killed"));
    progress(&format!("restart on {documents} kept documents"));
    let closed = child(Kept::Fill, &clean, documents).await?;
    let opened = child(Kept::Open, &clean, documents).await?;
    progress("restart after a kill");
    child(Kept::FillAndWait, &killed, documents).await?;
    let recovered = child(Kept::Open, &killed, documents).await?;
    let row = |name: &str, cell| {
        Row::new(format!("{name}, {documents} documents"), [(FIRELET, Some(cell))])
    };
    Ok(vec![
        row("close", Cell::seconds(closed.took)),
        row("open again", Cell::seconds(opened.took)),
        row("memory once open", Cell::mebibytes(opened.bytes)),
        row("open after kill -9", Cell::seconds(recovered.took)),
        row("memory once open after kill -9", Cell::mebibytes(recovered.bytes)),
    ])
}

struct Said {
    took: Duration,
    bytes: u64,
}

async fn child(kept: Kept, folder: &Path, documents: u64) -> Result<Said> {
    let program = std::env::current_exe().context("this program does not know its own file")?;
    let script = format!(
        "exec '{}' --kept {} --kept-folder '{}' --kept-documents {documents}",
        program.display(),
        kept.flag(),
        folder.display()
    );
    let mut child = shell(&script).stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("the child has no output")?;
    let line = BufReader::new(output).lines().next_line().await?;
    let line = line.context("a process with kept data failed")?;
    if kept == Kept::FillAndWait {
        let id = child.id().context("the child has ended already")?;
        send(Signal::Kill, Recipient::Process(id))?;
    }
    let status = child.wait().await?;
    ensure!(status.success() || kept == Kept::FillAndWait, "a process ended with {status}");
    let (micros, bytes) = line.split_once(' ').context("the child says something else")?;
    Ok(Said { took: Duration::from_micros(micros.parse()?), bytes: bytes.parse()? })
}

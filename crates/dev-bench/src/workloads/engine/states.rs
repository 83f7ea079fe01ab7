//! What must cost the same however much there is: snapshot, fork, clear, restore.

use std::hint::black_box;
use std::time::Duration;

use anyhow::{Result, ensure};
use base_env::Env;
use engine_store::StoreOptions;
use engine_txn::{Database, Limits};

use super::FIRELET;
use super::records::Supply;
use super::stores::{commit_all, open};
use crate::profile::Counts;
use crate::report::Row;
use crate::stats::Samples;

/// Documents in one commit while there come to be many.
pub(super) const LOAD_BATCH: u64 = 500;

/// Measures a database in memory of [`Counts::engine_documents`], folded.
///
/// # Errors
/// The store fails.
pub fn measure_states(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let documents = counts.engine_documents;
    progress(&format!("snapshot, fork, clear, restore of {documents} documents"));
    let database = open(StoreOptions::memory(Env::real()))?;
    fill(&database, documents)?;
    database.fold_now()?;
    let full = database.snapshot();
    let times = counts.starts;
    let rows = vec![
        row("snapshot", documents, times, || {
            black_box(database.snapshot());
            Ok(())
        })?,
        row("fork", documents, times, || {
            black_box(Database::fork(Env::real(), Limits::default(), &full));
            Ok(())
        })?,
        row("clear, then restore", documents, times, || {
            database.clear()?;
            database.restore(&full)?;
            Ok(())
        })?,
    ];
    let restored = u64::try_from(database.snapshot().len())?;
    ensure!(restored == documents, "{restored} documents were restored");
    database.close()?;
    Ok(rows)
}

pub(super) fn fill(database: &Database, documents: u64) -> Result<()> {
    let mut supply = Supply::default();
    for first in (0..documents).step_by(usize::try_from(LOAD_BATCH)?) {
        commit_all(database, &supply.take(LOAD_BATCH.min(documents - first))?)?;
    }
    Ok(())
}

fn row(
    name: &str,
    documents: u64,
    times: u64,
    mut work: impl FnMut() -> Result<()>,
) -> Result<Row> {
    let clock = Env::real();
    let mut samples = Samples::default();
    for _ in 0..times {
        let begun: Duration = clock.monotonic();
        work()?;
        samples.single(clock.monotonic().saturating_sub(begun));
    }
    Ok(Row::new(format!("{name}, {documents} documents"), [(FIRELET, samples.summary())]))
}

//! What must cost the same however much there is: snapshot, fork, clear, restore.

use std::hint::black_box;

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
    let clock = Env::real();
    let mut samples: [Samples; 4] = Default::default();
    let mut timed = |index: usize, work: &mut dyn FnMut() -> Result<()>| {
        let begun = clock.monotonic();
        work()?;
        let took = clock.monotonic().saturating_sub(begun);
        if let Some(samples) = samples.get_mut(index) {
            samples.single(took);
        }
        anyhow::Ok(())
    };
    for _ in 0..times {
        timed(0, &mut || {
            black_box(database.snapshot());
            Ok(())
        })?;
        timed(1, &mut || {
            black_box(Database::fork(Env::real(), Limits::default(), &full));
            Ok(())
        })?;
        timed(2, &mut || Ok(database.clear().map(drop)?))?;
        ensure!(database.snapshot().is_empty(), "something was left");
        timed(3, &mut || Ok(database.restore(&full).map(drop)?))?;
        ensure!(database.snapshot().len() == full.len(), "something was not restored");
    }
    let names = ["snapshot", "fork", "clear", "restore"];
    let rows = names.into_iter().zip(samples).map(|(name, samples)| {
        Row::new(format!("{name}, {documents} documents"), [(FIRELET, samples.summary())])
    });
    let rows = rows.collect();
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

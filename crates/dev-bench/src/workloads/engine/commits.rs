//! One commit of a small document, whatever runs beside it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Result, anyhow};
use base_env::{Env, thread};
use engine_store::StoreOptions;
use engine_txn::Database;
use redb::Durability;

use super::records::Supply;
use super::stores::{Redb, Store, commit_all, open};
use super::{FIRELET, REDB_NONE};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::stats::Samples;

/// Documents there are before anything is measured.
const BEFORE: u64 = 10_000;
/// Commits in a turn of the engine's, and of redb's, which takes longer for each.
const TURN: (u64, u64) = (1_000, 200);
/// Documents that are unfolded when a fold begins that commits are measured beside.
const FOLDED: u64 = 20_000;
/// Commits that are measured beside one fold at most.
const BESIDE_FOLD: u64 = 20_000;

/// Measures commits of documents of 200 bytes, one row for each place they go to.
///
/// # Errors
/// A store fails.
pub fn measure_commits(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let folder = tempfile::tempdir()?;
    let in_memory = open(StoreOptions::memory(Env::real()))?;
    let kept = open(StoreOptions::kept(Env::real(), folder.path().join("kept")))?;
    let mut rows = Vec::new();
    for (name, database) in [("in memory", &in_memory), ("kept, write-behind", &kept)] {
        progress(&format!("commits, {name}"));
        let redb = Redb::open(&folder.path().join(name), Durability::None)?.with_entries();
        let cells = beside_redb(counts, database, &redb)?;
        rows.push(Row::new(format!("commit, {name}"), cells));
    }
    progress("commits, while folds run");
    let beside_folds = while_folding(counts, &kept)?.summary();
    rows.push(Row::new("commit, kept, while a fold runs", [(FIRELET, beside_folds)]));
    in_memory.close()?;
    kept.close()?;
    Ok(rows)
}

type Measured = [(&'static str, Option<crate::stats::Summary>); 2];

fn beside_redb(counts: Counts, database: &Database, redb: &Redb) -> Result<Measured> {
    let clock = Env::real();
    let mut supply = Supply::default();
    for batch in supply.take(BEFORE)?.chunks(500) {
        commit_all(database, batch)?;
        // One transaction each here, too, but as cheap as redb has it.
        batch.iter().take(100).try_for_each(|put| redb.put(put))?;
    }
    let mut samples = [Samples::default(), Samples::default()];
    for round in 0..counts.rounds {
        for index in rounds::order(2, round) {
            let (store, count): (&dyn Store, u64) =
                if index == 0 { (database, TURN.0) } else { (redb, TURN.1) };
            let puts = supply.take(count)?;
            let begun = clock.monotonic();
            let mut each = Vec::with_capacity(puts.len());
            for put in &puts {
                let begun = clock.monotonic();
                store.put(put)?;
                each.push(clock.monotonic().saturating_sub(begun));
            }
            let wall = clock.monotonic().saturating_sub(begun);
            if let Some(samples) = samples.get_mut(index) {
                samples.turn(each, wall);
            }
        }
    }
    let [firelet, redb] = samples.map(Samples::summary);
    Ok([(FIRELET, firelet), (REDB_NONE, redb)])
}

/// Commits while another thread folds, in as many rounds as there are storms.
fn while_folding(counts: Counts, database: &Database) -> Result<Samples> {
    let clock = Env::real();
    let mut supply = Supply::starting_at(1 << 40);
    let mut samples = Samples::default();
    for _ in 0..counts.storm_rounds {
        for batch in supply.take(FOLDED)?.chunks(500) {
            commit_all(database, batch)?;
        }
        let puts = supply.take(BESIDE_FOLD)?;
        let done = Arc::new(AtomicBool::new(false));
        let fold = {
            let (database, done) = (database.clone(), Arc::clone(&done));
            thread::spawn("bench-fold", move || {
                let folded = database.fold_now();
                done.store(true, Ordering::Release);
                folded
            })?
        };
        let begun = clock.monotonic();
        let mut each = Vec::with_capacity(puts.len());
        for put in &puts {
            if done.load(Ordering::Acquire) {
                break;
            }
            let begun = clock.monotonic();
            Store::put(database, put)?;
            each.push(clock.monotonic().saturating_sub(begun));
        }
        samples.turn(each, clock.monotonic().saturating_sub(begun));
        fold.join().map_err(|_| anyhow!("the fold panicked"))??;
    }
    Ok(samples)
}

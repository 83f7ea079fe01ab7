//! Commits that are on the disk before they are acknowledged, from eight writers at once.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow};
use base_env::{Env, thread};
use engine_store::{Durability, StoreOptions};
use engine_txn::Database;
use tokio::runtime::Builder;

use super::records::{Put, Supply};
use super::stores::{Redb, Store, commit, open};
use super::{FIRELET, REDB};
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::stats::Samples;

const WRITERS: u64 = 8;

/// One side of it.
#[derive(Clone)]
enum Side {
    Firelet(Database),
    Redb(Arc<Redb>),
}

/// Measures eight writers that sync every commit.
///
/// # Errors
/// A store fails.
pub fn measure_durable(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let name = "eight writers, every commit synced";
    progress(name);
    let clock = Env::real();
    let folder = tempfile::tempdir()?;
    let kept = StoreOptions::kept(Env::real(), folder.path().join("firelet"));
    let database = open(StoreOptions { durability: Durability::PerCommit, ..kept })?;
    let redb = Redb::open(&folder.path().join("redb"), redb::Durability::Immediate)?;
    let sides = [Side::Firelet(database.clone()), Side::Redb(Arc::new(redb))];
    let mut samples = [Samples::default(), Samples::default()];
    let mut supply = Supply::default();
    for round in 0..=counts.storm_rounds {
        for index in rounds::order(sides.len(), round) {
            let (Some(side), Some(samples)) = (sides.get(index), samples.get_mut(index)) else {
                continue;
            };
            let mut running = Vec::new();
            let shares = (0..WRITERS).map(|_| supply.take(counts.storm_puts / 10 / WRITERS));
            let shares = shares.collect::<Result<Vec<_>>>()?;
            let begun = clock.monotonic();
            for puts in shares {
                let (side, clock) = (side.clone(), clock.clone());
                running.push(thread::spawn("bench-writer", move || side.put_all(&clock, &puts))?);
            }
            let mut each = Vec::new();
            for thread in running {
                each.extend(thread.join().map_err(|_| anyhow!("a writer panicked"))??);
            }
            let wall = clock.monotonic().saturating_sub(begun);
            // The first round is not measured: files are created and grow there.
            if round > 0 {
                samples.turn(each, wall);
            }
        }
    }
    drop(sides);
    database.close()?;
    let [firelet, redb] = samples.map(Samples::summary);
    Ok(vec![Row::new(name, [(FIRELET, firelet), (REDB, redb)])])
}

impl Side {
    fn put_all(&self, clock: &Env, puts: &[Put]) -> Result<Vec<Duration>> {
        // Only to wait with: a runtime without threads.
        let runtime = Builder::new_current_thread().build()?;
        let mut each = Vec::with_capacity(puts.len());
        for put in puts {
            let begun = clock.monotonic();
            match self {
                Self::Firelet(database) => {
                    let committed = commit(database, put)?;
                    runtime.block_on(database.durable(&committed))?;
                }
                Self::Redb(redb) => redb.put(put)?,
            }
            each.push(clock.monotonic().saturating_sub(begun));
        }
        Ok(each)
    }
}

//! Storms of puts and gets, as in the comparison of redb and fjall that set the bar.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use base_env::{Env, thread};
use engine_store::StoreOptions;
use redb::Durability;

use super::records::{Put, Supply};
use super::stores::{Fjall, Redb, Store, open};
use super::{FIRELET, FJALL, REDB, REDB_NONE};
use crate::dataset::number;
use crate::profile::Counts;
use crate::report::Row;
use crate::rounds;
use crate::stats::Samples;

/// Threads of the concurrent storm.
const THREADS: usize = 4;
/// Keys that are read, again and again in random order.
const READ_KEYS: usize = 1_000;

/// One of the stores, and what was measured on it.
struct Contestant {
    name: &'static str,
    store: Arc<dyn Store>,
    /// Puts in a turn: fewer where each one is synced, or a run would take an hour.
    puts: u64,
    samples: Samples,
}

/// Measures the storms, one row each.
///
/// # Errors
/// A store fails.
pub fn measure_storms(counts: Counts, mut progress: impl FnMut(&str)) -> Result<Vec<Row>> {
    let clock = Env::real();
    let folder = tempfile::tempdir()?;
    let kept = StoreOptions::kept(Env::real(), folder.path().join("firelet"));
    let database = open(kept)?;
    let named = |name, store: Arc<dyn Store>, puts| Contestant {
        name,
        store,
        puts,
        samples: Samples::default(),
    };
    let immediate = Redb::open(&folder.path().join("immediate"), Durability::Immediate)?;
    let none = Redb::open(&folder.path().join("none"), Durability::None)?;
    let mut all = [
        named(FIRELET, Arc::new(database.clone()), counts.storm_puts),
        named(REDB, Arc::new(immediate), counts.storm_puts / 10),
        named(REDB_NONE, Arc::new(none), counts.storm_puts / 2),
        named(FJALL, Arc::new(Fjall::open(folder.path())?), counts.storm_puts),
    ];
    let mut supply = Supply::default();
    let mut rows = Vec::new();
    for (name, threads) in [("write_storm", 1), ("concurrent_write_storm x4", THREADS)] {
        progress(name);
        for round in 0..=counts.storm_rounds {
            for index in rounds::order(all.len(), round) {
                let Some(one) = all.get_mut(index) else { continue };
                let puts = supply.take(one.puts)?;
                let (each, wall) = storm(&clock, &one.store, puts, threads)?;
                // The first round is not measured: files are created and grow there.
                if round > 0 {
                    one.samples.turn(each, wall);
                }
            }
        }
        rows.push(row(name, &mut all));
    }
    progress("read_storm");
    rows.push(read_storm(&clock, counts, &mut all, &mut supply)?);
    drop(all);
    database.close()?;
    Ok(rows)
}

fn row(name: &str, all: &mut [Contestant]) -> Row {
    let cells = all.iter_mut().map(|one| (one.name, std::mem::take(&mut one.samples).summary()));
    Row::new(name, cells.collect::<Vec<_>>())
}

/// Puts, from so many threads at once; the durations of each, and of all together.
fn storm(
    clock: &Env,
    store: &Arc<dyn Store>,
    mut puts: Vec<Put>,
    threads: usize,
) -> Result<(Vec<Duration>, Duration)> {
    let share = puts.len() / threads;
    let mut running = Vec::new();
    let begun = clock.monotonic();
    for _ in 1..threads {
        let (clock, store) = (clock.clone(), Arc::clone(store));
        let part = puts.split_off(puts.len() - share);
        running.push(thread::spawn("storm", move || put_all(&clock, &*store, &part))?);
    }
    let mut each = put_all(clock, &**store, &puts)?;
    for thread in running {
        each.extend(thread.join().map_err(|_| anyhow!("a writer panicked"))??);
    }
    Ok((each, clock.monotonic().saturating_sub(begun)))
}

fn put_all(clock: &Env, store: &dyn Store, puts: &[Put]) -> Result<Vec<Duration>> {
    let mut each = Vec::with_capacity(puts.len());
    for put in puts {
        let begun = clock.monotonic();
        store.put(put)?;
        each.push(clock.monotonic().saturating_sub(begun));
    }
    Ok(each)
}

fn read_storm(
    clock: &Env,
    counts: Counts,
    all: &mut [Contestant],
    supply: &mut Supply,
) -> Result<Row> {
    let puts = supply.take(u64::try_from(READ_KEYS)?)?;
    for one in all.iter() {
        puts.iter().try_for_each(|put| one.store.put(put))?;
    }
    for round in 0..=counts.storm_rounds {
        let picked = (0..counts.storm_reads).map(|read| number("read_storm", read + (round << 32)));
        let picked = picked.map(|at| puts.get(usize::try_from(at).unwrap_or_default() % READ_KEYS));
        let reads: Vec<&Put> = picked.flatten().collect();
        for index in rounds::order(all.len(), round) {
            let Some(one) = all.get_mut(index) else { continue };
            let mut each = Vec::with_capacity(reads.len());
            let begun = clock.monotonic();
            for put in &reads {
                let begun = clock.monotonic();
                let found = one.store.get(&put.key)?;
                each.push(clock.monotonic().saturating_sub(begun));
                ensure!(found == Some(put.value.len()), "{} lost a value", one.name);
            }
            let wall = clock.monotonic().saturating_sub(begun);
            if round > 0 {
                one.samples.turn(each, wall);
            }
        }
    }
    Ok(row("read_storm, 1,000 keys", all))
}

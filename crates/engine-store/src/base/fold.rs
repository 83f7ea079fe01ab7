//! Writing the base: one fold, in one transaction, as one more run that takes in older ones.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use base_env::UnixMicros;
use bytes::Bytes;
use redb::{ReadableTable, Table, WriteTransaction};

use super::build::{Build, Counted, Watched};
use super::encode::{COUNTERS, META, RUNS};
use super::file::BaseFile;
use super::layer::Base;
use super::run::{BytesDefinition, Part, Run};
use super::sorter::Sorter;
use crate::derive::Derive;
use crate::disk::Scratch;
use crate::error::StoreError;
use crate::limits::{DERIVED_SORT_BYTES, RUNS_MAX};
use crate::record::Version;
use crate::table::Table as Records;

/// What a fold brings into the base.
pub(crate) struct Fold<'a> {
    /// What became of keys since the base.
    pub(crate) records: &'a Records,
    /// The state to which they lead.
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    pub(crate) len: usize,
    pub(crate) derive: &'a dyn Derive,
    /// Where temporary files go.
    pub(crate) scratch: &'a Scratch,
    /// Set when the fold is no longer wanted: it ends then, and has changed nothing.
    pub(crate) cancelled: &'a AtomicBool,
}

/// What a fold does with what was there.
struct Plan<'a> {
    file: &'a Arc<BaseFile>,
    /// The state that the records change.
    before: Option<&'a Base>,
    /// The runs that are taken in, the newest first.
    taken: Vec<&'a Run>,
    /// Whether what the file holds is of no use any more.
    clears: bool,
    /// Whether the tables that `taken` are of are removed from the file.
    replaces: bool,
    derives_all: bool,
    /// Counters to begin with, of the state itself; those of the file where it goes on.
    counters: Option<&'a Base>,
    under: Option<Arc<Base>>,
    /// Whether there are runs below the new one.
    shadows: bool,
}

impl Fold<'_> {
    /// Folds over `base`, which is the newest state of a file that is ours to write to.
    pub(crate) fn onto(&self, base: &Base) -> Result<Arc<Base>, StoreError> {
        let runs: Vec<&Run> = base.tables.runs.iter().collect();
        let lens: Vec<u64> = runs.iter().map(|run| run.len).collect();
        let taken = taken_in(&lens, self.records.len() as u64);
        let shadows = taken < runs.len() || base.under().is_some();
        self.write(Plan {
            before: Some(base),
            taken: runs.into_iter().take(taken).collect(),
            replaces: true,
            under: base.under().cloned(),
            shadows,
            ..Plan::new(base.file())
        })
    }

    /// Folds over `base`, which was derived in another way, and derives everything anew: into the file of `base`, if it
    /// is the newest state of it and lies over no other, or into a new one.
    pub(crate) fn deriving(
        &self,
        file: &Arc<BaseFile>,
        base: &Base,
    ) -> Result<Arc<Base>, StoreError> {
        self.write(Plan {
            taken: base.all_runs().collect(),
            clears: true,
            derives_all: true,
            ..Plan::new(file)
        })
    }

    /// Folds over nothing, into a file whose content is no longer wanted.
    pub(crate) fn onto_nothing(&self, file: &Arc<BaseFile>) -> Result<Arc<Base>, StoreError> {
        self.write(Plan { clears: true, ..Plan::new(file) })
    }

    /// Folds over a state that is not ours to write to, into a new file.
    pub(crate) fn over(
        &self,
        file: &Arc<BaseFile>,
        base: &Arc<Base>,
    ) -> Result<Arc<Base>, StoreError> {
        let plan = Plan { before: Some(base), clears: true, shadows: true, ..Plan::new(file) };
        self.write(match base.under() {
            None => Plan { under: Some(Arc::clone(base)), ..plan },
            // Two files deep is enough: the nearer one's own part comes along.
            Some(under) => Plan {
                under: Some(Arc::clone(under)),
                taken: base.tables.runs.iter().collect(),
                counters: Some(base),
                ..plan
            },
        })
    }

    /// Folds over `base` with all that its file holds of it: into a new file, or into that one in place of
    /// whatever else is in it.
    pub(crate) fn moving(
        &self,
        file: &Arc<BaseFile>,
        base: &Base,
    ) -> Result<Arc<Base>, StoreError> {
        self.write(Plan {
            before: Some(base),
            taken: base.tables.runs.iter().collect(),
            clears: true,
            counters: Some(base),
            shadows: base.under().is_some(),
            under: base.under().cloned(),
            ..Plan::new(file)
        })
    }

    fn write(&self, plan: Plan<'_>) -> Result<Arc<Base>, StoreError> {
        let file = plan.file;
        // What an earlier one left comes first, and where there is no room for that nothing is begun.
        file.settle()?;
        let commit = || -> Result<(), redb::Error> {
            let mut transaction = file.database.begin_write()?;
            // Opening after a kill must not walk the whole file. Nobody opens a temporary one again.
            transaction.set_quick_repair(!file.is_temporary());
            self.fill(&transaction, &plan)?;
            file.check_room()?;
            transaction.commit()?;
            Ok(())
        };
        commit().map_err(|error| file.error(error))?;
        // Also where the new state cannot be read below: what folds go on from is never a state that the file
        // has already left behind.
        let generation = {
            let mut tip = file.tip.lock();
            *tip += 1;
            *tip
        };
        let newest = file.newest(generation, plan.under)?;
        newest.map(Arc::new).ok_or_else(|| {
            file.error(redb::Error::Corrupted("what was just written is missing".to_owned()))
        })
    }

    fn fill(&self, transaction: &WriteTransaction, plan: &Plan<'_>) -> Result<(), redb::Error> {
        let mut runs = transaction.open_table(RUNS)?;
        let last = runs.last()?.map_or(0, |(number, _)| number.value());
        let build = Build {
            records: self.records,
            taken: &plan.taken,
            before: plan.before,
            shadows: plan.shadows,
            derives_all: plan.derives_all,
            derive: self.derive,
            watched: Watched { file: plan.file, cancelled: self.cancelled },
        };
        let number = last + 1;
        let sorter = Sorter::new(self.scratch.clone(), DERIVED_SORT_BYTES);
        let (size, counted) = build.write(transaction, number, sorter)?;
        let mut removed = Vec::new();
        if plan.clears {
            for run in runs.iter()? {
                removed.push(run?.0.value());
            }
            transaction.delete_table(COUNTERS)?;
        } else if plan.replaces {
            removed.extend(plan.taken.iter().map(|run| run.number));
        }
        for number in removed {
            runs.remove(number)?;
            for part in Part::ALL {
                transaction.delete_table(BytesDefinition::new(&part.table_name(number)))?;
            }
        }
        runs.insert(number, (size.len, size.bytes))?;
        let mut counters = transaction.open_table(COUNTERS)?;
        if let Some(base) = plan.counters {
            for row in base.tables.counters.iter()? {
                let (key, value) = row?;
                counters.insert(key.value(), value.value())?;
            }
        }
        count(&mut counters, counted, plan.under.as_deref())?;
        let mut meta = transaction.open_table(META)?;
        meta.insert("store", plan.file.store())?;
        meta.insert("version", self.version.get())?;
        meta.insert("time", self.time.0.cast_unsigned())?;
        meta.insert("len", self.len as u64)?;
        meta.insert("fingerprint", self.derive.fingerprint())?;
        Ok(())
    }
}

impl<'a> Plan<'a> {
    /// Nothing taken in, nothing below.
    fn new(file: &'a Arc<BaseFile>) -> Plan<'a> {
        Plan {
            file,
            before: None,
            taken: Vec::new(),
            clears: false,
            replaces: false,
            derives_all: false,
            counters: None,
            under: None,
            shadows: false,
        }
    }
}

/// How many of the newest runs a fold of `len` records takes in: those that are no longer than what comes
/// together, so that a record is written again only as often as the whole has doubled, and as many as the
/// bound on runs demands.
fn taken_in(lens: &[u64], len: u64) -> usize {
    let mut total = len;
    let mut taken = 0;
    for run in lens {
        if *run > total && lens.len() - taken < RUNS_MAX {
            break;
        }
        total += run;
        taken += 1;
    }
    taken
}

/// Adds to counters what was counted.
fn count(
    counters: &mut Table<'_, &'static [u8], u64>,
    counted: Counted,
    under: Option<&Base>,
) -> Result<(), redb::Error> {
    let mut counted: Vec<(Bytes, i64)> = counted.into_iter().collect();
    counted.sort_unstable();
    for (key, change) in counted {
        let stored = counters.get(key.as_ref())?.map(|value| value.value());
        let before = match (stored, under) {
            (Some(value), _) => value,
            (None, Some(under)) => under.try_counter(&key)?,
            (None, None) => 0,
        };
        let after = before.saturating_add_signed(change);
        if after == 0 && under.is_none() {
            counters.remove(key.as_ref())?;
        } else {
            counters.insert(key.as_ref(), after)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_taken_in_by_their_length() {
        #[track_caller]
        fn check(lens: &[u64], len: u64, taken: usize) {
            assert_eq!(taken_in(lens, len), taken);
        }
        check(&[], 5, 0);
        check(&[5], 5, 1);
        check(&[6], 5, 0);
        check(&[1, 2, 4], 1, 3);
        check(&[1, 3, 9], 1, 1);
        check(&[2, 2, 4], 1, 0);
        // The bound on runs.
        check(&[2, 4, 8, 16], 1, 1);
        check(&[2, 3, 8, 16], 1, 2);
    }
}

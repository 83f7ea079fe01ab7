//! `Engine`: what a pipeline runs on.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use base_value::{DatabaseName, Timestamp};
use engine_query::Indexer;
use engine_store::Snapshot;
use regex::Regex;

use crate::budget::Budget;
use crate::error::PipelineError;
use crate::expression::compile_regex;
use crate::limits::{MEMORY_MAX_BYTES, REGEXES_KEPT_MAX, ROWS_PER_CHECK};

/// What differs from run to run.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The time `current_timestamp` answers.
    pub now: Timestamp,
    /// What random numbers and samples follow from.
    pub seed: u64,
    /// Bytes that rows held at one time may take; at most [`MEMORY_MAX_BYTES`].
    pub memory_max: usize,
}

impl Default for EngineOptions {
    fn default() -> Self {
        EngineOptions { now: Timestamp::default(), seed: 1, memory_max: MEMORY_MAX_BYTES }
    }
}

/// What a pipeline runs on: one state of one database. Made for one run.
pub struct Engine<'s> {
    pub(crate) snapshot: &'s Snapshot,
    pub(crate) database: DatabaseName,
    pub(crate) indexer: Indexer,
    pub(crate) budget: Budget,
    options: EngineOptions,
    random: Cell<u64>,
    regexes: RefCell<HashMap<String, Regex>>,
    is_cancelled: Box<dyn Fn() -> bool + 's>,
    seen: Cell<usize>,
    unfolded: Cell<usize>,
}

impl<'s> Engine<'s> {
    /// An engine on a snapshot of a database that derives with `indexer`. It asks `is_cancelled` now and then
    /// whether to go on.
    pub fn new(
        snapshot: &'s Snapshot,
        database: &DatabaseName,
        indexer: &Indexer,
        options: EngineOptions,
        is_cancelled: impl Fn() -> bool + 's,
    ) -> Self {
        Engine {
            snapshot,
            database: database.clone(),
            indexer: indexer.clone(),
            budget: Budget::new(options.memory_max.min(MEMORY_MAX_BYTES)),
            random: Cell::new(options.seed),
            options,
            regexes: RefCell::default(),
            is_cancelled: Box::new(is_cancelled),
            seen: Cell::new(0),
            unfolded: Cell::new(0),
        }
    }

    /// How many documents sources have given so far.
    pub fn documents_read(&self) -> usize {
        self.seen.get()
    }

    /// How many documents were matched one by one so far that a fold would let an index find.
    pub fn unfolded(&self) -> usize {
        self.unfolded.get()
    }

    pub(crate) fn add_unfolded(&self, documents: usize) {
        self.unfolded.set(self.unfolded.get().saturating_add(documents));
    }

    /// Counts a document that a source gives.
    pub(crate) fn count_document(&self) -> Result<(), PipelineError> {
        let seen = self.seen.get().wrapping_add(1);
        self.seen.set(seen);
        if seen.is_multiple_of(ROWS_PER_CHECK) && (self.is_cancelled)() {
            return Err(PipelineError::Cancelled);
        }
        Ok(())
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.now
    }

    /// The next random number (splitmix64: every seed gives numbers that look like any other's).
    pub(crate) fn random(&self) -> u64 {
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A random number of at least 0 and below 1.
    pub(crate) fn random_unit(&self) -> f64 {
        const STEPS: f64 = (1_u64 << 53) as f64;
        (self.random() >> 11) as f64 / STEPS
    }

    /// A compiled regular expression.
    pub(crate) fn regex(&self, pattern: &str) -> Result<Regex, PipelineError> {
        if let Some(regex) = self.regexes.borrow().get(pattern) {
            return Ok(regex.clone());
        }
        let regex = compile_regex(pattern)?;
        let mut regexes = self.regexes.borrow_mut();
        if regexes.len() >= REGEXES_KEPT_MAX {
            regexes.clear();
        }
        regexes.insert(pattern.to_owned(), regex.clone());
        Ok(regex)
    }
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("database", &self.database).finish_non_exhaustive()
    }
}

//! `Engine`: what a pipeline runs on.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use base_value::{DatabaseName, Timestamp};
use engine_query::Indexer;
use engine_store::Snapshot;

use crate::budget::{Budget, Held};
use crate::error::PipelineError;
use crate::expression::Pattern;
use crate::limits::{BYTES_PER_UNIT, MEMORY_MAX_BYTES, REGEXES_KEPT_MAX, UNITS_PER_LOOK};

/// What differs from run to run.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// The time `current_timestamp` answers.
    pub now: Timestamp,
    /// What random numbers and samples follow from.
    pub seed: u64,
    /// Bytes that rows and values held at one time may take; at most [`MEMORY_MAX_BYTES`].
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
    pub(crate) budget: Arc<Budget>,
    options: EngineOptions,
    random: Cell<u64>,
    patterns: RefCell<HashMap<String, Arc<Pattern>>>,
    may_go_on: Box<dyn Fn() -> Result<(), PipelineError> + 's>,
    /// Units of work since the last look at whether to go on.
    units: Cell<usize>,
    seen: Cell<usize>,
    unfolded: Cell<usize>,
}

impl<'s> Engine<'s> {
    /// An engine on a snapshot of a database that derives with `indexer`. Again and again while it is at work,
    /// whatever it works on, it asks `may_go_on`, and ends with the error that this answers.
    pub fn new(
        snapshot: &'s Snapshot,
        database: &DatabaseName,
        indexer: &Indexer,
        options: EngineOptions,
        may_go_on: impl Fn() -> Result<(), PipelineError> + 's,
    ) -> Self {
        Engine {
            snapshot,
            database: database.clone(),
            indexer: indexer.clone(),
            budget: Arc::new(Budget::new(options.memory_max.min(MEMORY_MAX_BYTES))),
            random: Cell::new(options.seed),
            options,
            patterns: RefCell::default(),
            may_go_on: Box::new(may_go_on),
            units: Cell::new(0),
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
    pub(crate) fn count_document(&self) {
        self.seen.set(self.seen.get().wrapping_add(1));
    }

    /// Counts a unit of work: an expression, or a row of a stage.
    ///
    /// # Errors
    /// The pipeline is not to go on.
    pub(crate) fn tick(&self) -> Result<(), PipelineError> {
        self.work(1)
    }

    /// Counts so many units of work.
    ///
    /// # Errors
    /// The pipeline is not to go on.
    pub(crate) fn work(&self, units: usize) -> Result<(), PipelineError> {
        let done = self.units.get().saturating_add(units);
        if done < UNITS_PER_LOOK {
            self.units.set(done);
            return Ok(());
        }
        self.units.set(0);
        (self.may_go_on)()
    }

    /// Counts a unit of work, and the bytes it reads or writes.
    ///
    /// # Errors
    /// The pipeline is not to go on.
    pub(crate) fn work_on(&self, bytes: usize) -> Result<(), PipelineError> {
        self.work(1 + bytes / BYTES_PER_UNIT)
    }

    /// Nothing yet of the memory, for what may outlive the engine.
    pub(crate) fn hold(&self) -> Held<Arc<Budget>> {
        Held::new(Arc::clone(&self.budget))
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

    /// A compiled regular expression, which is to look at a text.
    ///
    /// # Errors
    /// It is none, or it is too much work for that text.
    pub(crate) fn pattern(&self, written: &str, text: &str) -> Result<Arc<Pattern>, PipelineError> {
        let known = self.patterns.borrow().get(written).map(Arc::clone);
        let pattern = match known {
            Some(pattern) => pattern,
            None => {
                // Compiling takes as long as a look is away.
                self.work(UNITS_PER_LOOK)?;
                let pattern = Arc::new(Pattern::compile(written)?);
                let mut patterns = self.patterns.borrow_mut();
                if patterns.len() >= REGEXES_KEPT_MAX {
                    patterns.clear();
                }
                patterns.insert(written.to_owned(), Arc::clone(&pattern));
                pattern
            }
        };
        pattern.check(text)?;
        Ok(pattern)
    }
}

impl std::fmt::Debug for Engine<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("database", &self.database).finish_non_exhaustive()
    }
}

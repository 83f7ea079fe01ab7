//! What is told of a query that is explained: its plan, and what executing it took.

use std::time::Duration;

use base_env::Env;
use engine_query::{Charge, Explain, Scanned, UsedIndex};

/// What is told of a query.
#[derive(Debug)]
pub(crate) struct Explained {
    pub(crate) indexes: Vec<UsedIndex>,
    /// Absent where nothing was executed.
    pub(crate) stats: Option<Stats>,
}

/// What executing a query took.
#[derive(Debug)]
pub(crate) struct Stats {
    pub(crate) results: u64,
    pub(crate) took: Duration,
    pub(crate) scanned: Scanned,
    pub(crate) charge: Charge,
}

/// Measures how long a query is at work, where somebody wants to know.
pub(crate) struct Stopwatch {
    clock: Option<Env>,
    took: Duration,
}

impl Stopwatch {
    pub(crate) fn new(env: &Env, explain: Explain) -> Stopwatch {
        let clock = match explain {
            Explain::Off | Explain::Plan => None,
            Explain::Analyze => Some(env.clone()),
        };
        Stopwatch { clock, took: Duration::ZERO }
    }

    /// Whether it measures.
    pub(crate) fn is_on(&self) -> bool {
        self.clock.is_some()
    }

    /// Does some of the work.
    pub(crate) fn time<T>(&mut self, work: impl FnOnce() -> T) -> T {
        let Some(clock) = &self.clock else { return work() };
        let began = clock.monotonic();
        let done = work();
        self.took += clock.monotonic().saturating_sub(began);
        done
    }

    /// How long the query was at work so far.
    pub(crate) fn took(&self) -> Duration {
        self.took
    }
}

//! What is told of a query that is explained: its plan, and what executing it took.

use std::time::Duration;

use base_env::{Env, UnixMicros};
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

/// Measures how long a query is at work by the suite's clock, where somebody wants to know.
pub(crate) struct Stopwatch {
    running: Option<(Env, UnixMicros)>,
    waited: Duration,
}

impl Stopwatch {
    /// Begins to measure.
    pub(crate) fn new(env: &Env, explain: Explain) -> Stopwatch {
        let running = match explain {
            Explain::Off | Explain::Plan => None,
            Explain::Analyze => Some((env.clone(), env.now())),
        };
        Stopwatch { running, waited: Duration::ZERO }
    }

    /// Whether it measures.
    pub(crate) fn is_on(&self) -> bool {
        self.running.is_some()
    }

    /// Waits for somebody else, which does not count.
    pub(crate) fn wait<T>(&mut self, waiting: impl FnOnce() -> T) -> T {
        let Some((clock, _)) = &self.running else { return waiting() };
        let began = clock.now();
        let done = waiting();
        self.waited += clock.now().since(began);
        done
    }

    /// How long the query was at work so far.
    pub(crate) fn took(&self) -> Duration {
        let Some((clock, began)) = &self.running else { return Duration::ZERO };
        clock.now().since(*began).saturating_sub(self.waited)
    }
}

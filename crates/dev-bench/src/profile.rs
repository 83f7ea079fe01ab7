//! How much is measured.

use std::time::Duration;

use clap::ValueEnum;
use serde::Serialize;

use crate::dataset::Sizes;

/// The size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// Some five minutes: enough for p50, and for a p99 to compare within the run.
    Small,
    /// Some ten minutes, for figures that are written down.
    Full,
}

/// The numbers behind a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Unmeasured requests per workload and side before anything is measured.
    pub warm_up: u64,
    /// Rounds; in each one every side has its turn.
    pub rounds: u64,
    /// Requests per round and connection, for the sides of this process.
    pub requests: u64,
    /// The same for the official emulator, which is slower and already has a JIT to warm up.
    pub requests_official: u64,
    /// Starts and stops, for the sides of this process.
    pub starts: u64,
    /// Starts and stops of the official emulator: seconds each.
    pub starts_official: u64,
    /// Rounds of each engine storm.
    pub storm_rounds: u64,
    /// Puts in one store's turn of a storm; fewer where each one is synced.
    pub storm_puts: u64,
    /// Gets in one store's turn of a storm.
    pub storm_reads: u64,
    /// Documents in the engine rows that are about size.
    pub engine_documents: u64,
    /// The data set of the query shapes.
    pub sizes: Sizes,
    /// Documents in the grown collection; nothing grows where there are none.
    pub grown: u64,
    /// Rounds of each query shape.
    pub shape_rounds: u64,
    /// Listeners of one query.
    pub listeners: u64,
    /// Listeners of other collections than the one that is written.
    pub listeners_elsewhere: u64,
    /// Changes that a listener does not read.
    pub unread_changes: u64,
    /// Rounds of each row about listeners.
    pub listener_rounds: u64,
    /// Writes in one side's turn of it.
    pub listener_writes: u64,
    /// Runs of a query shape in one side's turn.
    pub shape_runs: u64,
    /// Unmeasured runs of a query shape: at most,
    pub shape_warm_up: u64,
    /// at least,
    pub shape_warm_up_min: u64,
    /// and for how long in between.
    pub shape_warm_up_time: Duration,
}

impl Profile {
    /// What the profile means.
    #[must_use]
    pub fn counts(self) -> Counts {
        match self {
            Self::Small => Counts {
                warm_up: 2_000,
                rounds: 20,
                requests: 100,
                requests_official: 50,
                starts: 30,
                starts_official: 3,
                storm_rounds: 5,
                storm_puts: 5_000,
                storm_reads: 20_000,
                engine_documents: 100_000,
                sizes: Sizes::SMALL,
                grown: 0,
                listeners: 1_000,
                listeners_elsewhere: 10_000,
                unread_changes: 100_000,
                listener_rounds: 10,
                listener_writes: 20,
                shape_rounds: 5,
                shape_runs: 5,
                shape_warm_up: 200,
                shape_warm_up_min: 3,
                shape_warm_up_time: Duration::from_secs(1),
            },
            Self::Full => Counts {
                warm_up: 4_000,
                rounds: 50,
                requests: 200,
                requests_official: 100,
                starts: 100,
                starts_official: 10,
                storm_rounds: 10,
                storm_puts: 10_000,
                storm_reads: 50_000,
                engine_documents: 2_700_000,
                sizes: Sizes::FULL,
                grown: 2_500_000,
                listeners: 1_000,
                listeners_elsewhere: 10_000,
                unread_changes: 100_000,
                listener_rounds: 20,
                listener_writes: 50,
                shape_rounds: 5,
                shape_runs: 5,
                shape_warm_up: 400,
                shape_warm_up_min: 3,
                shape_warm_up_time: Duration::from_secs(2),
            },
        }
    }
}

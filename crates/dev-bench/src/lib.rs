//! dev-bench measures firelet, Google's emulator and the floor side by side, in one run on one machine.
//!
//! A *side* is something that is measured (`sides/`), a *workload* is what is asked of it
//! (`workloads/`, one file per group), and a *table* is what comes out (`report/`).
//! docs/benchmarks/README.md says how and what for.
#![forbid(unsafe_code)]

pub mod client;
pub mod dataset;
pub mod machine;
pub mod process;
pub mod profile;
pub mod report;
pub mod run;
pub mod sides;
pub mod stats;
pub mod workloads;

mod rounds;

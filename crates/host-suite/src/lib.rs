//! host-suite owns the suite: reading what the user configured, choosing services and ports, starting
//! them in order and stopping them, and the command line on top of it.
#![forbid(unsafe_code)]

pub mod cli;
pub mod config;
pub mod services;

mod data;
mod error;
mod exports;
mod limits;
mod machine;
mod nearest;
mod notice;
mod options;
mod plan;
mod ports;
mod snapshot;
mod suite;

pub use base_env::memory;
pub use data::{DataError, KeptSnapshot, Usage};
pub use error::{StartError, SuiteError};
pub use exports::{ExportError, ImportError};
pub use machine::Machine;
pub use notice::{Notice, NoticeLevel};
pub use options::{
    Caller, ConfigChoice, DataOptions, ImportOptions, Keep, Problem, ServiceOptions, StartOptions,
};
pub use plan::{Plan, PlannedData, PlannedService, PortWish};
pub use snapshot::Snapshot;
pub use suite::{ExportOptions, ServiceInfo, Suite};
pub use svc_firestore::{IndexPolicy, LimitPolicy};
pub use svc_kit::{Durability, Log};

/// The version of firelet.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

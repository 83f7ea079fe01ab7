//! host-suite owns the suite: reading what the user configured, choosing services and ports, starting
//! them in order and stopping them, and the command line on top of it.
#![forbid(unsafe_code)]

pub mod cli;
pub mod config;
pub mod services;

mod error;
mod limits;
mod machine;
mod nearest;
mod notice;
mod options;
mod plan;
mod ports;
mod suite;

pub use error::{StartError, SuiteError};
pub use machine::Machine;
pub use notice::{Notice, NoticeLevel};
pub use options::{Caller, ConfigChoice, Problem, ServiceOptions, StartOptions};
pub use plan::{Plan, PlannedService, PortWish};
pub use suite::{ServiceInfo, Suite};

/// The version of firelet.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

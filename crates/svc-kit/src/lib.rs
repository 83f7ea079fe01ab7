//! svc-kit owns what every service shares with the suite that runs it: the [`Service`] trait and the
//! [`Data`] behind it, the [`Context`] a service is built with, and the [`Directory`] of who listens where.
#![forbid(unsafe_code)]

mod context;
mod data;
mod directory;
mod exporter;
pub mod folder_name;
mod log;
mod service;
mod transfer;

pub use context::Context;
pub use data::{Data, Durability, Place, Saved};
pub use directory::{Directory, Listing};
pub use exporter::{ExportRequest, Exporter, Exporting};
pub use log::Log;
pub use service::Service;
pub use transfer::{Exported, Import, Progress};

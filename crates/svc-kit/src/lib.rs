//! svc-kit owns what every service shares with the suite that runs it: the [`Service`] trait, the
//! [`Context`] a service is built with, and the [`Directory`] of who listens where.
#![forbid(unsafe_code)]

mod context;
mod directory;
mod service;

pub use context::Context;
pub use directory::{Directory, Listing};
pub use service::Service;

//! svc-hub owns the emulator hub: the small HTTP service that says which services of the suite run
//! where and has the suite write exports, the locator file by which other programs find the hub, and the client
//! with which firelet's own commands ask it.
#![forbid(unsafe_code)]

mod api;
mod client;
mod config;
mod hub;
mod locator;
mod ops;

pub use client::{FoundHub, HubError};
pub use config::Config;
pub use hub::Hub;
pub use locator::{Claim, Locator};

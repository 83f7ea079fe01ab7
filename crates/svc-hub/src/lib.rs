//! svc-hub owns the emulator hub: the small HTTP service that says which services of the suite run
//! where, and the locator file by which other programs find the hub.
#![forbid(unsafe_code)]

mod api;
mod config;
mod hub;
mod locator;
mod ops;

pub use config::Config;
pub use hub::Hub;
pub use locator::{Claim, Locator};

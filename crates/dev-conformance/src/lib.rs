//! Cases as data: what a service answers on the wire, asked of firelet and of the official emulator.
//!
//! A case file (`cases/<service>/<topic>.json`) holds requests and the answers expected of firelet. Where
//! the official emulator answers otherwise, the step holds that answer too, with the reason. One run asks
//! both sides; where the emulator is not installed, its recorded answers (`recorded/`) stand in for it.
//! The totals are a committed snapshot (`snapshots/`), so that a change of parity is a diff.
//! The form of a case file is described in `cases/README.md`.
#![forbid(unsafe_code)]

pub mod answer;
pub mod case;
pub mod client;
pub mod expect;
pub mod firelet;
pub mod fuzz;
mod generate;
mod matcher;
pub mod oracle;
mod pipeline;
mod query;
pub mod recorded;
pub mod report;
mod request;
pub mod run;
pub mod scope;
mod time;
mod value;
mod write;

//! Query pipelines: stages over rows, and the expressions in them.
//!
//! A pipeline is stated by a client as [`RawStage`]s, checked once by [`Pipeline::parse`], opened against a
//! database's indexes by [`Pipeline::open`], and then run on any [`engine_store::Snapshot`]. Everything here
//! is pure and synchronous and knows no protocol.
#![forbid(unsafe_code)]

mod budget;
mod engine;
mod error;
mod expression;
pub mod limits;
mod pipeline;
mod pushdown;
mod row;
mod source;
mod stages;
mod term;

pub use engine::{Engine, EngineOptions};
pub use error::PipelineError;
pub use pipeline::{Opened, Pipeline, Reads};
pub use row::Row;
pub use term::{RawStage, Term};

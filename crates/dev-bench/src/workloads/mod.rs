//! What is asked of the sides. One file per group; to add a row, add a line to a group's table.
//!
//! A group of requests is a table of [`RequestWorkload`]: functions that make a request and check an
//! answer, run by `requests.rs` over sockets and by `in_process.rs` without. What is not a request (`lifecycle.rs`) makes its tables itself.

pub mod data;
pub mod engine;
pub mod lifecycle;
pub mod listeners;
pub mod rules;
pub mod shapes;
pub mod soak;

mod get;
mod in_process;
mod query;
mod requests;
mod write;

pub use in_process::measure_in_process;
pub use requests::{RequestWorkload, measure_requests};

/// The groups of request workloads, in the order of the report.
pub const REQUEST_GROUPS: [&[RequestWorkload]; 3] = [write::ROWS, get::ROWS, query::ROWS];

//! What engine-query promises, asked through its public surface.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests may do what tests may"
)]

mod access;
mod aggregates;
mod cancel;
mod cursors;
mod disjunctions;
mod explain;
mod filters;
mod lists;
mod naive;
mod nearest;
mod property;
mod random;
mod scopes;
mod support;
mod validation;

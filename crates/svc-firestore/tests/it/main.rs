//! The service as clients meet it: through its router with gRPC frames made by hand, in one process.
//!
//! A stream's operation runs only while its answer is read, so a test decides what comes first: what it
//! did before it read on is there when the operation looks.

#![expect(clippy::panic, reason = "helpers of tests report by panicking, as tests do")]

mod admin;
mod channel;
mod explain;
mod fields;
mod history;
mod large;
mod listen;
mod rest;
mod rules;
mod script;
mod server;
mod simulation;
mod socket;
mod transactions;
mod watcher;
mod wire;
mod write_stream;
mod writes;

//! front as a service uses it: a small library over real sockets, by REST and by gRPC.

#![expect(clippy::panic, reason = "helpers of tests report by panicking, as tests do")]

mod client;
mod grpc;
mod layers;
mod malformed;
mod pool;
mod rest;
mod service;
mod serving;

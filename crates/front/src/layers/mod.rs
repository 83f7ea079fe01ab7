//! What every request passes, in one layer: CORS, identity, caught panics, errors of gRPC streams in their trailers.

mod catch_panic;
mod cors;
mod errors;
mod identity;
mod standard;

pub use standard::standard;

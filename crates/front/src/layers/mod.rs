//! What every request passes, in one layer: CORS, identity, caught panics, errors of gRPC streams in their trailers.
//! And a gate for those that come too early.

mod catch_panic;
mod cors;
mod errors;
mod gate;
mod identity;
mod standard;

pub use gate::Gate;
pub use standard::standard;

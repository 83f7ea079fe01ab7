//! front owns sockets and protocols: listeners, the layers every request passes, the mapping of statuses, and REST
//! for gRPC services. It knows no product.

#![forbid(unsafe_code)]

mod body;
mod bound;
mod connection;
mod fallback;
mod form;
mod frames;
mod heard;
mod origin;
mod serving;
mod status;
mod tasks;

pub mod grpc;
pub mod layers;
pub mod limits;
pub mod transcode;
pub mod web_channel;

pub use bound::{BindError, Bound};
pub use fallback::unknown_route;
pub use origin::is_foreign_page;
pub use serving::{ServeOptions, Serving, stopped};
pub use status::{refuse, status_from_tonic, status_to_http, status_to_tonic};

#[cfg(test)]
#[path = "../tests/it/pool.rs"]
mod test_pool;

//! What clients see: the protocol's messages in and out. Nothing outside this folder knows a wire type.

mod driven;
mod from_wire;
mod grpc;
mod rest;
mod to_wire;
mod web_channel;

pub(crate) use grpc::Grpc;
pub(crate) use rest::router as rest;
pub(crate) use web_channel::router as web_channel;

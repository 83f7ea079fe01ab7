//! What clients see: the protocol's messages in and out. Nothing outside this folder knows a wire type.

mod admin;
mod driven;
mod from_wire;
mod grpc;
mod operations;
mod rest;
mod to_wire;
mod web_channel;

pub(crate) use admin::router as admin;
pub(crate) use grpc::Grpc;
pub(crate) use rest::router as rest;
pub(crate) use web_channel::router as web_channel;

//! Wire types to domain types: with `to_wire/` the only place that sees both.

pub(crate) mod admin;
mod consistency;
mod pipeline;
mod query;
pub(crate) mod requests;
pub(crate) mod streams;
mod times;
mod writes;

pub(crate) use consistency::transaction;

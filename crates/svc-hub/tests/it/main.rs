//! The hub over a real socket, and its locator file.
#![cfg(test)]

mod client;
mod locator;
mod routes;

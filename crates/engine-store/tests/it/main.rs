//! The store from outside: random operations against a naive model, times, concurrency.
#![cfg(test)]

mod concurrency;
mod derive;
mod model;
mod ops;
mod support;

//! The store from outside: random operations against a naive model, times, concurrency.
#![cfg(test)]

mod cancel;
mod concurrency;
mod crash;
mod derive;
mod disk;
mod faults;
mod full;
mod heads;
mod held;
mod killed;
mod model;
mod ops;
mod rederive;
mod saved;
mod segments;
mod support;

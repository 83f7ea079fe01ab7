//! host-suite from outside: configuration, a running suite, and the command line.
#![cfg(test)]

mod args;
mod config;
mod exec;
mod plan;
mod start;
mod suite;
mod support;

//! Transactions from outside: validation, contention, history, random interleavings.
#![cfg(test)]

mod contention;
mod history;
mod kept;
mod lifecycle;
mod serializable;
mod support;
mod validation;
mod waiting;

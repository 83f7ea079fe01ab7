//! Hubs from outside: what readers hear of commits, and what that costs.
#![cfg(test)]

mod feeds;
mod mirrors;
mod shape;

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DocumentPath, key};
use bytes::Bytes;
use engine_store::{Commit, WriteBatch};
use engine_txn::{CommitError, Database, Limits};

/// A database whose clock stands still.
fn database() -> Database {
    Database::new(Env::simulated(1, UnixMicros(1_000_000)), Limits::default())
}

fn key_of(path: &str) -> Bytes {
    key::document(&DocumentPath::parse(path).unwrap())
}

fn path_of(key: &[u8]) -> String {
    key::parse(key).unwrap().to_string()
}

/// `c/a=1 c/b-`: puts the first, deletes the second.
fn write(database: &Database, text: &str) -> Arc<Commit> {
    let mut batch = WriteBatch::new();
    for op in text.split_whitespace() {
        match op.split_once('=') {
            Some((path, value)) => {
                batch.put(key_of(path), Bytes::copy_from_slice(value.as_bytes()));
            }
            None => batch.delete(key_of(op.trim_end_matches('-'))),
        }
    }
    let planned = database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())));
    planned.unwrap().0
}

//! A small language for commits, and a simulated environment.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use bytes::Bytes;
use engine_store::{Commit, KeyRange, Snapshot, WriteBatch};
use engine_txn::{Begin, CommitError, Database, Limits, ReadScope, TxnError, TxnId, TxnView};

/// Where the clock of the tests stands at first.
pub(crate) const START: UnixMicros = UnixMicros(1_000_000_000);
/// A fresh read-write transaction.
pub(crate) const READ_WRITE: Begin = Begin::ReadWrite { retry: None };
/// A read-only transaction that reads now.
pub(crate) const READ_ONLY: Begin = Begin::ReadOnly { read_time: None };

pub(crate) fn env() -> Env {
    Env::simulated(1, START)
}

pub(crate) fn database() -> Database {
    Database::new(env(), Limits::default())
}

pub(crate) fn bytes(text: &str) -> Bytes {
    Bytes::copy_from_slice(text.as_bytes())
}

/// `a=1 b-`: puts the first, deletes the second.
pub(crate) fn batch(text: &str) -> WriteBatch {
    let mut batch = WriteBatch::new();
    for op in text.split_whitespace() {
        match op.split_once('=') {
            Some((key, value)) => batch.put(bytes(key), bytes(value)),
            None => batch.delete(bytes(op.trim_end_matches('-'))),
        }
    }
    batch
}

pub(crate) fn commit(
    database: &Database,
    txn: Option<TxnId>,
    text: &str,
) -> Result<Arc<Commit>, CommitError> {
    let batch = batch(text);
    database.commit(txn, |_, _| Ok((batch.clone(), ()))).map(|(commit, ())| commit)
}

/// A commit without a transaction.
pub(crate) fn write(database: &Database, text: &str) -> Arc<Commit> {
    commit(database, None, text).unwrap()
}

pub(crate) fn keys(text: &str) -> ReadScope {
    ReadScope::Keys(text.split_whitespace().map(bytes).collect())
}

/// The entries of `start..end` whose value begins with `value`.
pub(crate) fn range(start: &str, end: &str, value: &str) -> ReadScope {
    let value = value.to_owned();
    ReadScope::Range(
        KeyRange::new(bytes(start), bytes(end)),
        Arc::new(move |_, record| record.value.starts_with(value.as_bytes())),
    )
}

/// A read that need not wait, outside of any runtime.
pub(crate) fn read(database: &Database, txn: TxnId, scope: ReadScope) -> Result<TxnView, TxnError> {
    block_on(database.txn_read(txn, scope))
}

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(future)
}

pub(crate) fn show(snapshot: &Snapshot) -> String {
    let entries = snapshot.range(&KeyRange::all()).map(|entry| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        format!("{}={}", text(entry.key()), text(&entry.record().value))
    });
    entries.collect::<Vec<_>>().join(" ")
}

/// The number stored at `key`, zero when it is missing.
pub(crate) fn number(snapshot: &Snapshot, key: &str) -> u64 {
    snapshot.get(key.as_bytes()).map_or(0, |record| parse(&record.value))
}

pub(crate) fn parse(value: &[u8]) -> u64 {
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

/// Choices that a seed repeats.
pub(crate) struct Choices(Env);

impl Choices {
    /// Prints the seed, which a failing test shows.
    pub(crate) fn from_seed(seed: u64) -> Choices {
        println!("seed {seed}");
        Choices(Env::simulated(seed, UnixMicros(0)))
    }

    pub(crate) fn below(&mut self, bound: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.random(&mut bytes);
        usize::try_from(u64::from_le_bytes(bytes) % bound as u64).unwrap()
    }
}

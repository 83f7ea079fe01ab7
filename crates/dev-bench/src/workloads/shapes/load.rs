//! Filling a side with documents: commits over a few connections.

use std::time::Duration;

use anyhow::{Context, Result};
use base_env::Env;
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::timeout;
use wire::write::Operation;

use super::ask::name;
use crate::client::{Grpc, Request};
use crate::dataset::Document;
use crate::workloads::data::DATABASE;

/// Connections that write at once: enough to keep two processors busy.
const CONNECTIONS: usize = 4;
/// Writes in a commit: as many as production takes.
const WRITES_MAX: usize = 500;
/// Bytes in a commit: the official emulator refuses requests above 4 MiB.
const COMMIT_BYTES_MAX: usize = 3 * 1024 * 1024;
/// How long a commit may take. One that takes longer never comes: the official emulator's heap is full.
const COMMIT_WAIT_MAX: Duration = Duration::from_secs(120);

/// What a load came to.
#[derive(Debug)]
pub(crate) struct Loaded {
    /// How long it took.
    pub(crate) took: Duration,
    /// Documents written.
    pub(crate) documents: u64,
}

/// Writes all documents.
///
/// # Errors
/// A commit fails or is not answered; with how many documents were written until then.
pub(crate) async fn load(
    authority: &str,
    documents: impl Iterator<Item = Document>,
) -> Result<Loaded, (Loaded, anyhow::Error)> {
    let clock = Env::real();
    let mut written = 0;
    let done = write_all(authority, documents, &mut written).await;
    let loaded = Loaded { took: clock.monotonic(), documents: written };
    match done {
        Ok(()) => Ok(loaded),
        Err(error) => Err((loaded, error)),
    }
}

async fn write_all(
    authority: &str,
    documents: impl Iterator<Item = Document>,
    written: &mut u64,
) -> Result<()> {
    let mut commits = Commits { documents: documents.peekable() };
    let mut running = FuturesUnordered::new();
    for _ in 0..CONNECTIONS {
        let connection = Grpc::connect(authority).await?;
        if let Some((count, commit)) = commits.next() {
            running.push(send(connection, count, commit));
        }
    }
    while let Some(done) = running.next().await {
        let (connection, count) = done?;
        *written += count;
        if let Some((count, commit)) = commits.next() {
            running.push(send(connection, count, commit));
        }
    }
    Ok(())
}

async fn send(mut connection: Grpc, count: u64, commit: Request) -> Result<(Grpc, u64)> {
    let answer = timeout(COMMIT_WAIT_MAX, connection.send(commit)).await;
    answer.context("a commit is not answered")??;
    Ok((connection, count))
}

/// Commits of many documents each, with their number of writes.
struct Commits<I: Iterator<Item = Document>> {
    documents: std::iter::Peekable<I>,
}

impl<I: Iterator<Item = Document>> Iterator for Commits<I> {
    type Item = (u64, Request);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut writes, mut bytes) = (Vec::new(), 0);
        while writes.len() < WRITES_MAX {
            let fits =
                |next: &Document| writes.is_empty() || bytes + next.fields.len() < COMMIT_BYTES_MAX;
            let Some(document) = self.documents.next_if(fits) else { break };
            bytes += document.fields.len();
            writes.push(write(document));
        }
        let count = u64::try_from(writes.len()).unwrap_or_default();
        let request = wire::CommitRequest {
            database: DATABASE.to_owned(),
            writes,
            ..wire::CommitRequest::default()
        };
        (count > 0)
            .then(|| (count, Request::grpc("/google.firestore.v1.Firestore/Commit", &request)))
    }
}

fn write(document: Document) -> wire::Write {
    let Document { path, fields } = document;
    let document = WireDocument { name: name(&path), fields, ..WireDocument::default() };
    wire::Write { operation: Some(Operation::Update(document)), ..wire::Write::default() }
}

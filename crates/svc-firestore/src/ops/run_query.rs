//! RunQuery: the documents a query selects, in order.
//!
//! The query runs on a thread that may take its time, and hands its rows over in chunks: a slow reader
//! holds the query back, and a reader that goes away ends it.

use std::sync::Arc;

use base_env::UnixMicros;
use base_token::Identity;
use base_value::{DatabaseName, DocumentName};
use engine_query::{Prepared, Query, Row};
use engine_store::Snapshot;
use engine_txn::{ReadScope, TxnId};
use tokio::sync::mpsc;

use super::get_document::Document;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::indexes::prepare;
use crate::limits::{CHUNKS_IN_FLIGHT, ROWS_PER_CHUNK};
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) query: Query,
    pub(crate) consistency: Consistency,
}

/// A query that is running.
pub(crate) struct Run {
    pub(crate) read_time: UnixMicros,
    pub(crate) new_transaction: Option<TxnId>,
    pub(crate) chunks: mpsc::Receiver<Chunk>,
}

/// Some of the result, in order.
pub(crate) struct Chunk {
    /// How many results the offset has passed over; in the first chunk only.
    pub(crate) skipped: usize,
    pub(crate) documents: Vec<Document>,
}

/// Starts the query.
///
/// # Errors
/// Queries that production refuses, and those of the consistency asked for.
pub(crate) async fn run_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Run, Error> {
    access::check(caller, Access::Read)?;
    let database = state.database(&request.database)?;
    let prepared = Arc::new(prepare(&request.database, request.query)?);
    let view = view::open(state, &database, request.consistency, || scope(&prepared)).await?;
    let (out, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
    let (read_time, new_transaction) = (view.read_time(), view.new_transaction);
    tokio::task::spawn_blocking(move || run(&prepared, &view.snapshot, &out));
    Ok(Run { read_time, new_transaction, chunks })
}

/// What a transaction depends on that has run this query: every document that matches, whatever the
/// limit has left of them.
pub(crate) fn scope(prepared: &Arc<Prepared>) -> ReadScope {
    let matching = Arc::clone(prepared);
    let matches = Arc::new(move |key: &[u8], record: &_| matching.matches(key, record));
    ReadScope::Range(prepared.scope(), matches)
}

fn run(prepared: &Prepared, snapshot: &Snapshot, out: &mpsc::Sender<Chunk>) {
    let mut rows = prepared.run(snapshot);
    let mut first = true;
    loop {
        let documents: Vec<_> =
            rows.by_ref().take(ROWS_PER_CHUNK).map(|row| document(prepared, row)).collect();
        let done = documents.len() < ROWS_PER_CHUNK;
        let skipped = if first { rows.skipped() } else { 0 };
        first = false;
        // What an offset beyond the end has passed over is not told, as in production.
        if !documents.is_empty() && out.blocking_send(Chunk { skipped, documents }).is_err() {
            return;
        }
        if done {
            return;
        }
    }
}

fn document(prepared: &Prepared, row: Row) -> Document {
    let fields = prepared.project(&row.record.value);
    let name = DocumentName { database: prepared.database().clone(), path: row.path };
    Document { name, record: row.record, fields }
}

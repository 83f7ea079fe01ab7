//! RunQuery: the documents a query selects, in order.
//!
//! The query runs on a thread that may take its time, and hands its rows over in chunks: a slow reader
//! holds the query back, one that takes nothing for long loses it, and one that goes away ends it.

use std::sync::Arc;

use base_env::UnixMicros;
use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, DocumentName};
use engine_query::{Charge, Explain, Prepared, Query, Row, Rows};
use engine_store::Snapshot;
use engine_txn::{Database, ReadScope, TxnId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::Chunks;
use super::explain::{Explained, Stats, Stopwatch};
use super::get_document::Document;
use super::view::{self, Consistency};
use crate::access;
use crate::error::Error;
use crate::limits::{BYTES_PER_CHUNK, ROWS_PER_CHUNK, SLOW_READER_WAIT};
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) query: Query,
    pub(crate) consistency: Consistency,
    pub(crate) explain: Explain,
}

/// A query that is running.
pub(crate) struct Run {
    /// Absent where nothing is read.
    pub(crate) read_time: Option<UnixMicros>,
    pub(crate) new_transaction: Option<TxnId>,
    pub(crate) chunks: Chunks<Chunk>,
}

/// Some of the result, in order.
pub(crate) struct Chunk {
    /// How many results the offset has passed over; in the first chunk only.
    pub(crate) skipped: usize,
    pub(crate) documents: Vec<Document>,
    /// Whether this is the end. A result whose last chunk does not come is not complete.
    pub(crate) last: bool,
    /// In the last chunk only, where it was asked for.
    pub(crate) explained: Option<Box<Explained>>,
}

/// Starts the query.
///
/// # Errors
/// Queries that production or the rules refuse, and those of the consistency asked for.
pub(crate) async fn run_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Run, Error> {
    let guard = access::guard(state, caller, &request.database);
    let explain = request.explain;
    let stopwatch = Stopwatch::new(&state.env, explain);
    let database = state.database(&request.database)?;
    let prepared = Arc::new(state.preparer.prepare(&request.database, request.query)?);
    let reads = || match explain {
        Explain::Plan => ReadScope::Keys(Vec::new()),
        Explain::Off | Explain::Analyze => scope(&prepared),
    };
    let view = view::open(state, &database, request.consistency, reads).await?;
    if let Some(guard) = guard {
        guard.list(prepared.query(), &view.snapshot, view.kind)?;
    }
    let (read_time, new_transaction) = (view.read_time(), view.new_transaction);
    if explain == Explain::Plan {
        let explained = Explained { indexes: prepared.plan(&view.snapshot), stats: None };
        let explained = Some(Box::new(explained));
        let only = Chunk { skipped: 0, documents: Vec::new(), last: true, explained };
        return Ok(Run { read_time: None, new_transaction, chunks: Chunks::only(only) });
    }
    let chunks = Chunks::read(view.snapshot, move |snapshot, out| {
        run(&database, &prepared, snapshot, out, stopwatch);
    });
    Ok(Run { read_time: Some(read_time), new_transaction, chunks })
}

/// What a transaction depends on that has run this query: every document that matches, whatever the
/// limit has left of them.
pub(crate) fn scope(prepared: &Arc<Prepared>) -> ReadScope {
    let matching = Arc::clone(prepared);
    let matches = Arc::new(move |key: &[u8], record: &_| matching.matches(key, record));
    ReadScope::Range(prepared.scope(), matches)
}

fn run(
    database: &Database,
    prepared: &Prepared,
    snapshot: &Snapshot,
    out: &mpsc::Sender<Result<Chunk, Status>>,
    mut stopwatch: Stopwatch,
) {
    let runtime = Handle::current();
    let mut rows = prepared.run(snapshot);
    let mut first = true;
    let mut ahead = None;
    let mut results = 0;
    loop {
        let mut documents = Vec::new();
        documents.extend(ahead.take());
        let mut bytes = 0;
        let mut last = false;
        while !last && bytes < BYTES_PER_CHUNK && documents.len() < ROWS_PER_CHUNK {
            match rows.next().map(|row| document(prepared, row)) {
                Some(document) => {
                    bytes += document.fields.len();
                    documents.push(document);
                }
                None => last = true,
            }
        }
        results += documents.len() as u64;
        let mut explained = None;
        if stopwatch.is_on() {
            // What is told of a query comes with its last document.
            let next = if last { None } else { rows.next() };
            ahead = next.map(|row| document(prepared, row));
            last = ahead.is_none();
            explained =
                last.then(|| Box::new(told(prepared, snapshot, &rows, results, &stopwatch)));
        }
        let skipped = if first { rows.skipped() } else { 0 };
        first = false;
        let chunk = match snapshot.check() {
            Ok(()) => Ok(Chunk { skipped, documents, last, explained }),
            Err(error) => Err(Status::from(Error::Commit(error.into()))),
        };
        let ended = last || chunk.is_err();
        // A reader that takes nothing gives its thread up to others; that the last chunk never comes
        // tells it so.
        let sending = out.send_timeout(chunk, SLOW_READER_WAIT);
        let sent = stopwatch.wait(|| runtime.block_on(sending));
        if ended || sent.is_err() {
            break;
        }
    }
    super::fold_if_many(database, rows.unfolded());
}

/// What is told of a query that has been executed.
fn told(
    prepared: &Prepared,
    snapshot: &Snapshot,
    rows: &Rows<'_>,
    results: u64,
    stopwatch: &Stopwatch,
) -> Explained {
    let scanned = rows.scanned();
    let skipped = rows.skipped() as u64;
    let charge = Charge::of_query(prepared.query(), results, skipped, scanned);
    let stats = Stats { results, took: stopwatch.took(), scanned, charge };
    Explained { indexes: rows.used_indexes(snapshot), stats: Some(stats) }
}

fn document(prepared: &Prepared, row: Row) -> Document {
    let fields = prepared.project(&row.record.value);
    let name = DocumentName { database: prepared.database().clone(), path: row.path };
    Document { name, record: row.record, fields }
}

#[cfg(test)]
mod tests {
    use base_env::Env;
    use base_value::{DocumentPath, Fields, LimitPolicy, ParentPath, codec, key};
    use engine_query::From;
    use engine_store::WriteBatch;
    use engine_txn::{CommitError, Limits};
    use svc_kit::Log;
    use tokio::time::{Instant, advance};

    use super::*;
    use crate::indexes::{Indexes, Preparer};
    use crate::limits::CHUNKS_IN_FLIGHT;

    /// What fills the channel, and as much again.
    const DOCUMENTS: usize = 2 * CHUNKS_IN_FLIGHT * ROWS_PER_CHUNK;

    /// Runs a query over all documents of a collection on a thread of its own.
    fn start() -> (mpsc::Receiver<Result<Chunk, Status>>, std::thread::JoinHandle<()>) {
        let database = Database::new(Env::simulated(1, UnixMicros(1)), Limits::default());
        let mut batch = WriteBatch::new();
        for number in 0..DOCUMENTS {
            let path = DocumentPath::parse(&format!("c/{number:04}")).expect("it is a path");
            batch.put(key::document(&path), codec::encode_fields(&Fields::new()));
        }
        database
            .commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())))
            .expect("it commits");
        let name = DatabaseName::new("p", "(default)");
        let query = Query::new(ParentPath::root(), From::Collection("c".into()));
        let prepared = Preparer::new(Indexes::default(), LimitPolicy::Production, Log::default())
            .prepare(&name, query)
            .expect("the query is good");
        let snapshot = database.snapshot();
        let (out, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        // Not the runtime's own blocking pool: paused time stands still for as long as that works.
        let runtime = Handle::current();
        let thread = base_env::thread::spawn("query", move || {
            let _runtime = runtime.enter();
            let stopwatch = Stopwatch::new(&Env::real(), Explain::Off);
            run(&database, &prepared, &snapshot, &out, stopwatch);
        });
        (chunks, thread.expect("a thread starts"))
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_loses_the_query() {
        let (mut chunks, thread) = start();
        let began = Instant::now();
        // Time moves on when all wait: the query for its reader, and this for the query.
        while !thread.is_finished() {
            tokio::task::yield_now().await;
            advance(SLOW_READER_WAIT / 4).await;
        }
        assert!(began.elapsed() >= SLOW_READER_WAIT);
        let mut seen = Vec::new();
        while let Some(chunk) = chunks.recv().await {
            seen.push(chunk.map(|chunk| chunk.last).expect("nothing failed"));
        }
        assert_eq!(seen, [false; CHUNKS_IN_FLIGHT]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_its_time_gets_everything() {
        let (mut chunks, thread) = start();
        let mut documents = 0;
        let mut complete = false;
        while let Some(chunk) = chunks.recv().await {
            let chunk = chunk.expect("nothing failed");
            documents += chunk.documents.len();
            complete = chunk.last;
            tokio::time::sleep(SLOW_READER_WAIT / 2).await;
        }
        thread.join().expect("the query ended");
        assert_eq!((documents, complete), (DOCUMENTS, true));
    }
}

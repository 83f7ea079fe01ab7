//! ExecutePipeline: the rows that stages make of documents.
//!
//! As a query, a pipeline runs on a thread that may take its time, and hands its rows over in chunks.

use std::sync::Arc;

use base_env::UnixMicros;
use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, Timestamp, key};
use engine_pipeline::limits::MEMORY_MAX_BYTES;
use engine_pipeline::{
    Engine, EngineOptions, Opened, Pipeline, PipelineError, RawStage, Reads, Row,
};
use engine_query::Indexer;
use engine_store::{KeyRange, Record, Snapshot};
use engine_txn::{Database, ReadScope, TxnId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::view::{self, Consistency};
use crate::access::{self, Guard, ReadKind};
use crate::error::Error;
use crate::limits::{BYTES_PER_CHUNK, CHUNKS_IN_FLIGHT, ROWS_PER_CHUNK, SLOW_READER_WAIT};
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) stages: Vec<RawStage>,
    pub(crate) options: Options,
    pub(crate) consistency: Consistency,
}

/// How a pipeline is to be run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Options {
    pub(crate) explain: Option<Explain>,
    /// Bytes that rows held at one time may take.
    pub(crate) memory_limit: Option<usize>,
}

/// What is to be told of a pipeline.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Explain {
    pub(crate) mode: ExplainMode,
    pub(crate) format: ExplainFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExplainMode {
    /// How it would be run.
    Explain,
    /// How it was run, after its rows.
    Analyze,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExplainFormat {
    Text,
    Json,
}

/// A pipeline that is running.
pub(crate) struct Run {
    pub(crate) execution_time: UnixMicros,
    pub(crate) new_transaction: Option<TxnId>,
    pub(crate) chunks: mpsc::Receiver<Result<Chunk, Status>>,
}

/// Some of the rows, in order.
pub(crate) struct Chunk {
    pub(crate) rows: Vec<Row>,
    /// What is told of the pipeline; in the last chunk only.
    pub(crate) explained: Option<String>,
    /// Whether this is the end. A result whose last chunk does not come is not complete.
    pub(crate) last: bool,
}

/// All that a thread needs to run a pipeline.
struct Work {
    database: Database,
    name: DatabaseName,
    indexer: Indexer,
    pipeline: Pipeline,
    opened: Opened,
    options: Options,
    engine: EngineOptions,
    snapshot: Snapshot,
}

/// Starts the pipeline.
///
/// # Errors
/// Pipelines that are wrong, have what is not there, or read what the rules refuse, and the errors of the consistency asked for.
pub(crate) async fn execute_pipeline(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Run, Error> {
    let guard = access::guard(state, caller, &request.database);
    let Request { database: name, stages, options, consistency } = request;
    let database = state.database(&name)?;
    let indexer = state.preparer.indexer(&name);
    let pipeline = Pipeline::parse(&stages)?;
    let opened = pipeline.open(&name, &indexer)?;
    let reads = pipeline.reads(&opened, &name)?;
    let asked = guard.as_ref().map(|_| reads.clone());
    let view = view::open(state, &database, consistency, || scope(reads)).await?;
    if let (Some(guard), Some(asked)) = (guard, asked) {
        allowed(&guard, &asked, &view.snapshot, view.kind)?;
    }
    let (execution_time, new_transaction) = (view.read_time(), view.new_transaction);
    let mut seed = [0; 8];
    state.env.random(&mut seed);
    let engine = EngineOptions {
        now: Timestamp::from_micros(state.env.now().0),
        seed: u64::from_be_bytes(seed),
        memory_max: options.memory_limit.unwrap_or(MEMORY_MAX_BYTES),
    };
    let snapshot = view.snapshot;
    let work = Work { database, name, indexer, pipeline, opened, options, engine, snapshot };
    let (out, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
    tokio::task::spawn_blocking(move || run(&work, &out));
    Ok(Run { execution_time, new_transaction, chunks })
}

/// Decides a pipeline by what it reads, whatever it makes of it: documents as they are got, everything else as
/// queries.
fn allowed(
    guard: &Guard,
    reads: &[Reads],
    snapshot: &Snapshot,
    kind: ReadKind,
) -> Result<(), Error> {
    for read in reads {
        match read {
            Reads::Keys(keys) => {
                let paths: Vec<_> = keys.iter().filter_map(|key| key::parse(key)).collect();
                guard.get_all(&paths.iter().collect::<Vec<_>>(), snapshot, kind)?;
            }
            Reads::Query(prepared) => guard.list(prepared.query(), snapshot, kind)?,
        }
    }
    Ok(())
}

/// What a transaction depends on that has run this pipeline: all that its sources match, whatever its
/// stages have made of it.
fn scope(mut reads: Vec<Reads>) -> ReadScope {
    if reads.len() == 1 {
        match reads.pop() {
            Some(Reads::Keys(keys)) => return ReadScope::Keys(keys),
            Some(Reads::Query(prepared)) => return super::run_query::scope(&prepared),
            None => {}
        }
    }
    let matches = move |key: &[u8], record: &Record| {
        reads.iter().any(|read| match read {
            Reads::Keys(keys) => keys.iter().any(|it| it == key),
            Reads::Query(prepared) => prepared.matches(key, record),
        })
    };
    ReadScope::Range(KeyRange::all(), Arc::new(matches))
}

fn run(work: &Work, out: &mpsc::Sender<Result<Chunk, Status>>) {
    let runtime = Handle::current();
    let engine =
        Engine::new(&work.snapshot, &work.name, &work.indexer, work.engine.clone(), || {
            out.is_closed()
        });
    let send = |chunk: Result<Chunk, Error>| {
        let ended = chunk.as_ref().map_or(true, |chunk| chunk.last);
        let sent =
            runtime.block_on(out.send_timeout(chunk.map_err(Status::from), SLOW_READER_WAIT));
        // A reader that takes nothing gives its thread up to others; that the last chunk never comes
        // tells it so.
        !ended && sent.is_ok()
    };
    let mut returned = 0;
    let mut rows = work.pipeline.rows(&work.opened, &engine).peekable();
    let is_plan_only =
        work.options.explain.is_some_and(|explain| explain.mode == ExplainMode::Explain);
    loop {
        let mut chunk = Chunk { rows: Vec::new(), explained: None, last: is_plan_only };
        if !is_plan_only && let Err(error) = fill(&mut chunk, &mut rows) {
            send(Err(error.into()));
            break;
        }
        returned += chunk.rows.len();
        if chunk.last {
            chunk.explained = work.explained(&engine, returned);
        }
        // A read that the disk fails answers as if nothing was stored.
        let checked = work.snapshot.check();
        let chunk = checked.map_err(|error| Error::Commit(error.into())).map(|()| chunk);
        if !send(chunk) {
            break;
        }
    }
    drop(rows);
    super::fold_if_many(&work.database, engine.unfolded());
}

/// Fills a chunk. It is the last one where no row follows, so that the last one of a result has rows.
fn fill(
    chunk: &mut Chunk,
    rows: &mut std::iter::Peekable<impl Iterator<Item = Result<Row, PipelineError>>>,
) -> Result<(), PipelineError> {
    let mut bytes = 0;
    while bytes < BYTES_PER_CHUNK && chunk.rows.len() < ROWS_PER_CHUNK {
        match rows.next() {
            Some(row) => {
                let row = row?;
                bytes += row.weight();
                chunk.rows.push(row);
            }
            None => break,
        }
    }
    chunk.last = rows.peek().is_none();
    Ok(())
}

impl Work {
    /// What is told of the pipeline, if it is asked for.
    fn explained(&self, engine: &Engine<'_>, returned: usize) -> Option<String> {
        let explain = self.options.explain?;
        let stages = self.pipeline.describe(&self.opened);
        let read = engine.documents_read();
        let analyzed = explain.mode == ExplainMode::Analyze;
        Some(match explain.format {
            ExplainFormat::Text => {
                let mut text = String::from("Pipeline:\n");
                for stage in stages {
                    text.push_str(&format!("  {stage}\n"));
                }
                if analyzed {
                    text.push_str(&format!(
                        "Execution:\n  results returned: {returned}\n  documents read: {read}\n"
                    ));
                }
                text
            }
            ExplainFormat::Json => {
                let execution = serde_json::json!({
                    "resultsReturned": returned,
                    "documentsRead": read,
                });
                let execution = if analyzed { execution } else { serde_json::Value::Null };
                serde_json::json!({ "pipeline": stages, "execution": execution }).to_string()
            }
        })
    }
}

//! ExecutePipeline: the rows that stages make of documents.
//!
//! As a query, a pipeline runs on a thread that may take its time, and hands its rows over in chunks. It ends
//! when nobody reads them any more, when the suite stops, and when it has been at work for too long.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use base_env::{Env, UnixMicros};
use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, Timestamp, key};
use bytes::Bytes;
use engine_pipeline::limits::{MEMORY_MAX_BYTES, TIME_MAX};
use engine_pipeline::{
    Engine, EngineOptions, Opened, Pipeline, PipelineError, RawStage, Reads, Row,
};
use engine_query::Indexer;
use engine_store::{KeyRange, Record, Snapshot};
use engine_txn::{Database, ReadScope, TxnId};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, watch};

use super::Chunks;
use super::view::{self, Consistency};
use crate::access::{self, Guard, ReadKind};
use crate::error::Error;
use crate::limits::{BYTES_PER_CHUNK, ROWS_PER_CHUNK, SLOW_READER_WAIT};
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
    pub(crate) chunks: Chunks<Chunk>,
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
    env: Env,
    stopping: watch::Receiver<bool>,
    time_max: Duration,
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
    // A request may have some ten thousand expressions.
    let (of, with) = (name.clone(), indexer.clone());
    let (pipeline, opened, reads) = super::blocking(move || {
        let pipeline = Pipeline::parse(&stages)?;
        let opened = pipeline.open(&of, &with)?;
        let reads = pipeline.reads(&opened, &of)?;
        Ok::<_, PipelineError>((pipeline, opened, reads))
    })
    .await??;
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
    let work = Work {
        database,
        name,
        indexer,
        pipeline,
        opened,
        options,
        engine,
        env: state.env.clone(),
        stopping: state.stopping(),
        time_max: TIME_MAX,
    };
    let chunks = Chunks::read(view.snapshot, move |snapshot, out| run(&work, snapshot, out));
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
    // Every commit asks for every document it changes.
    let mut named: HashSet<Bytes> = HashSet::new();
    let mut queries = Vec::new();
    for read in reads {
        match read {
            Reads::Keys(keys) => named.extend(keys),
            Reads::Query(prepared) => queries.push(prepared),
        }
    }
    let matches = move |key: &[u8], record: &Record| {
        named.contains(key) || queries.iter().any(|prepared| prepared.matches(key, record))
    };
    ReadScope::Range(KeyRange::all(), Arc::new(matches))
}

fn run(work: &Work, snapshot: &Snapshot, out: &mpsc::Sender<Result<Chunk, Status>>) {
    let runtime = Handle::current();
    let began = work.env.monotonic();
    // Waiting for the reader is no work.
    let waited = Cell::new(Duration::ZERO);
    let may_go_on = || {
        if out.is_closed() || *work.stopping.borrow() {
            return Err(PipelineError::Cancelled);
        }
        let worked = work.env.monotonic().saturating_sub(began).saturating_sub(waited.get());
        if worked >= work.time_max { Err(PipelineError::Overdue) } else { Ok(()) }
    };
    let engine = Engine::new(snapshot, &work.name, &work.indexer, work.engine.clone(), may_go_on);
    let send = |chunk: Result<Chunk, Error>| {
        let ended = chunk.as_ref().map_or(true, |chunk| chunk.last);
        let waits = work.env.monotonic();
        let sent =
            runtime.block_on(out.send_timeout(chunk.map_err(Status::from), SLOW_READER_WAIT));
        waited.set(waited.get() + work.env.monotonic().saturating_sub(waits));
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
            let stopped = *work.stopping.borrow();
            send(Err(if stopped { super::stopping().into() } else { error.into() }));
            break;
        }
        returned += chunk.rows.len();
        if chunk.last {
            chunk.explained = work.explained(&engine, returned);
        }
        // A read that the disk fails answers as if nothing was stored.
        let checked = snapshot.check();
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

#[cfg(test)]
mod tests {
    use base_status::Code;
    use base_value::{DocumentPath, Fields, Value, codec, key};
    use engine_pipeline::Term;
    use engine_store::WriteBatch;
    use engine_txn::{CommitError, Limits};

    use super::*;
    use crate::limits::CHUNKS_IN_FLIGHT;

    /// Some 10^20 rows to count.
    fn endless() -> Vec<RawStage> {
        let stage =
            |name: &str, args| RawStage { name: name.to_owned(), args, ..RawStage::default() };
        let text = |text: &str| Term::Constant(Value::String(text.to_owned()));
        let hundred = Term::Constant(Value::Array(vec![Value::Integer(1); 100]));
        let count = Term::Function {
            name: "count".to_owned(),
            args: Vec::new(),
            options: Default::default(),
        };
        let mut stages = vec![stage("collection", vec![text("c")])];
        let x = || Term::Field("x".to_owned());
        stages.extend((0..10).map(|_| stage("unnest", vec![hundred.clone(), x()])));
        let counts = [("n".to_owned(), count)].into_iter().collect();
        stages.push(stage("aggregate", vec![Term::Map(counts)]));
        stages
    }

    /// Runs it on a thread of its own.
    fn start(
        stopping: watch::Receiver<bool>,
        time_max: Duration,
    ) -> (mpsc::Receiver<Result<Chunk, Status>>, std::thread::JoinHandle<()>) {
        let env = Env::simulated(1, UnixMicros(1));
        let database = Database::new(env.clone(), Limits::default());
        let mut batch = WriteBatch::new();
        let path = DocumentPath::parse("c/a").expect("it is a path");
        batch.put(key::document(&path), codec::encode_fields(&Fields::new()));
        database
            .commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())))
            .expect("it commits");
        let name = DatabaseName::new("p", "(default)");
        let indexer = Indexer::default();
        let pipeline = Pipeline::parse(&endless()).expect("the pipeline is good");
        let opened = pipeline.open(&name, &indexer).expect("it opens");
        let snapshot = database.snapshot();
        let work = Work {
            database,
            name,
            indexer,
            pipeline,
            opened,
            options: Options::default(),
            engine: EngineOptions::default(),
            env,
            stopping,
            time_max,
        };
        let (out, chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        let runtime = Handle::current();
        let thread = base_env::thread::spawn("pipeline", move || {
            let _runtime = runtime.enter();
            run(&work, &snapshot, &out);
        });
        (chunks, thread.expect("a thread starts"))
    }

    #[tokio::test]
    async fn it_ends_when_its_reader_goes() {
        let (_stop, stopping) = watch::channel(false);
        let (chunks, thread) = start(stopping, TIME_MAX);
        drop(chunks);
        thread.join().expect("it ended");
    }

    #[tokio::test]
    async fn it_ends_when_the_suite_stops() {
        let (stop, stopping) = watch::channel(false);
        let (mut chunks, thread) = start(stopping, TIME_MAX);
        stop.send_replace(true);
        let status = chunks.recv().await.expect("it is told").err().expect("it failed");
        assert_eq!(status.code, Code::Unavailable);
        thread.join().expect("it ended");
    }

    #[tokio::test]
    async fn it_ends_when_it_takes_too_long() {
        let (_stop, stopping) = watch::channel(false);
        let (mut chunks, thread) = start(stopping, Duration::from_millis(1));
        let status = chunks.recv().await.expect("it is told").err().expect("it failed");
        assert_eq!(status.code, Code::DeadlineExceeded);
        assert_eq!(status.message, "the pipeline was at work for more than 60 seconds");
        thread.join().expect("it ended");
    }
}

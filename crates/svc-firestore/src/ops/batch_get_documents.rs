//! BatchGetDocuments: several documents of one state, each answered as found or missing.
//!
//! A few are read in place and answered together, as SDKs ask for a document in this way. Many are read on a thread
//! that may take its time, which hands them over in chunks, as a query does with its rows.

use std::collections::HashSet;

use base_env::UnixMicros;
use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, DocumentName, FieldPath, key};
use bytes::Bytes;
use engine_store::Snapshot;
use engine_txn::{ReadScope, TxnId};
use tokio::runtime::Handle;
use tokio::sync::mpsc;

use super::Chunks;
use super::get_document::Document;
use super::view::{self, Consistency};
use crate::access::{self, Guard, ReadKind};
use crate::error::Error;
use crate::limits::{BYTES_PER_CHUNK, IN_PLACE_MAX, ROWS_PER_CHUNK, SLOW_READER_WAIT};
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) names: Vec<DocumentName>,
    pub(crate) mask: Option<Vec<FieldPath>>,
    pub(crate) consistency: Consistency,
}

/// The answer: every distinct name once, in the order of the request.
pub(crate) struct Response {
    pub(crate) results: Results,
    pub(crate) read_time: UnixMicros,
    pub(crate) new_transaction: Option<TxnId>,
}

/// What was found.
pub(crate) enum Results {
    /// All of it.
    Here(Vec<Found>),
    /// All of it, as it is found.
    Coming(Chunks<Chunk>),
}

/// Some of the answers, in order.
pub(crate) struct Chunk {
    pub(crate) results: Vec<Found>,
    /// Whether this is the end. A result whose last chunk does not come is not complete.
    pub(crate) last: bool,
}

/// One name's answer.
pub(crate) enum Found {
    Document(Document),
    Missing(DocumentName),
}

/// Names by their keys, each once.
type Keyed = Vec<(Bytes, DocumentName)>;

/// Reads the documents.
///
/// # Errors
/// Those of the consistency asked for; PERMISSION_DENIED where one document may not be read.
pub(crate) async fn batch_get_documents(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Response, Error> {
    let guard = access::guard(state, caller, &request.database);
    let database = state.database(&request.database)?;
    let Request { names, mask, consistency, .. } = request;
    let is_in_place = names.len() <= IN_PLACE_MAX;
    let mut keyed = match is_in_place {
        true => distinct(names),
        false => super::blocking(move || distinct(names)).await?,
    };
    let scope = || ReadScope::Keys(keyed.iter().map(|(key, _)| key.clone()).collect());
    let view = view::open(state, &database, consistency, scope).await?;
    let (read_time, new_transaction) = (view.read_time(), view.new_transaction);
    if is_in_place {
        if let Some(guard) = &guard {
            permits(guard, &keyed, &view.snapshot, view.kind)?;
        }
        let found = keyed.into_iter();
        let found = found.map(|(key, name)| find(&view.snapshot, &key, name, mask.as_deref()));
        let results = Results::Here(found.collect());
        view.check()?;
        return Ok(Response { results, read_time, new_transaction });
    }
    if let Some(guard) = guard {
        let kind = view.kind;
        // All of them, before the first one is told.
        let decide = move |snapshot: &Snapshot| {
            permits(&guard, &keyed, snapshot, kind)?;
            Ok(keyed)
        };
        keyed = super::reading(view.snapshot.clone(), decide).await?;
    }
    let results = Results::Coming(Chunks::read(view.snapshot, move |snapshot, out| {
        read(snapshot, keyed, mask.as_deref(), out);
    }));
    Ok(Response { results, read_time, new_transaction })
}

fn distinct(names: Vec<DocumentName>) -> Keyed {
    let mut seen = HashSet::with_capacity(names.len());
    let keyed = names.into_iter().map(|name| (key::document(&name.path), name));
    keyed.filter(|(key, _)| seen.insert(key.clone())).collect()
}

fn permits(guard: &Guard, keyed: &Keyed, snapshot: &Snapshot, kind: ReadKind) -> Result<(), Error> {
    let paths: Vec<_> = keyed.iter().map(|(_, name)| &name.path).collect();
    guard.get_all(&paths, snapshot, kind)
}

fn find(snapshot: &Snapshot, key: &[u8], name: DocumentName, mask: Option<&[FieldPath]>) -> Found {
    match snapshot.get(key) {
        Some(record) => Found::Document(Document::masked(name, record, mask)),
        None => Found::Missing(name),
    }
}

/// Hands over what is found, until its reader has it all or takes nothing for long.
fn read(
    snapshot: &Snapshot,
    keyed: Keyed,
    mask: Option<&[FieldPath]>,
    out: &mpsc::Sender<Result<Chunk, Status>>,
) {
    let runtime = Handle::current();
    let mut keyed = keyed.into_iter().peekable();
    loop {
        let mut results = Vec::new();
        let mut bytes = 0;
        while bytes < BYTES_PER_CHUNK
            && results.len() < ROWS_PER_CHUNK
            && let Some((key, name)) = keyed.next()
        {
            let found = find(snapshot, &key, name, mask);
            if let Found::Document(document) = &found {
                bytes += document.fields.len();
            }
            results.push(found);
        }
        let last = keyed.peek().is_none();
        let chunk = match snapshot.check() {
            Ok(()) => Ok(Chunk { results, last }),
            Err(error) => Err(Status::from(Error::Commit(error.into()))),
        };
        let ended = last || chunk.is_err();
        if runtime.block_on(out.send_timeout(chunk, SLOW_READER_WAIT)).is_err() || ended {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use base_env::Env;
    use base_value::{DocumentPath, Fields, Value, codec};
    use engine_store::WriteBatch;
    use engine_txn::{CommitError, Database, Limits};
    use futures_util::{FutureExt, StreamExt};
    use svc_kit::Context;
    use tokio::time::{Instant, advance};

    use super::*;
    use crate::config::Config;
    use crate::limits::CHUNKS_IN_FLIGHT;

    fn name(number: usize) -> DocumentName {
        let path = DocumentPath::parse(&format!("c/{number:05}")).expect("it is a path");
        DatabaseName::new("p", "(default)").document(path)
    }

    /// Writes the documents whose number is even, with a text of `len` bytes.
    fn fill(database: &Database, documents: usize, len: usize) {
        let fields: Fields =
            [("text".to_owned(), Value::String("x".repeat(len)))].into_iter().collect();
        let mut batch = WriteBatch::new();
        for number in (0..documents).step_by(2) {
            batch.put(key::document(&name(number).path), codec::encode_fields(&fields));
        }
        database
            .commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())))
            .expect("it commits");
    }

    fn told(found: Found) -> (String, bool) {
        match found {
            Found::Document(document) => (document.name.to_string(), true),
            Found::Missing(name) => (name.to_string(), false),
        }
    }

    /// Asks for so many documents, the first of them twice.
    fn request(documents: usize) -> Request {
        Request {
            database: DatabaseName::new("p", "(default)"),
            names: [0].into_iter().chain(0..documents).map(name).collect(),
            mask: None,
            consistency: Consistency::Latest,
        }
    }

    fn expected(documents: usize) -> Vec<(String, bool)> {
        (0..documents).map(|number| (name(number).to_string(), number % 2 == 0)).collect()
    }

    #[tokio::test]
    async fn many_documents_come_in_chunks() {
        async fn check(documents: usize, len: usize, chunk_max: usize) {
            let env = Env::simulated(1, UnixMicros(1));
            let state = State::open(Context::new(env, "p"), Config::default()).expect("it opens");
            let request = request(documents);
            fill(&state.database(&request.database).expect("there is room"), documents, len);
            let call = batch_get_documents(&state, &Identity::Owner, request);
            // On another thread, so that everybody else on this one has a turn meanwhile.
            let Results::Coming(mut chunks) = call.await.expect("they are read").results else {
                panic!("{documents} documents came at once");
            };
            let (mut seen, mut complete) = (Vec::new(), false);
            while let Some(chunk) = chunks.next().await {
                let chunk = chunk.expect("nothing failed");
                assert!(!complete && chunk.results.len() <= chunk_max, "{}", chunk.results.len());
                complete = chunk.last;
                seen.extend(chunk.results.into_iter().map(told));
            }
            assert!(complete);
            assert_eq!(seen, expected(documents));
        }
        check(5_000, 1, ROWS_PER_CHUNK).await;
        check(ROWS_PER_CHUNK, 1, ROWS_PER_CHUNK).await;
        // Three that are there, and as many that are missing between them.
        check(100, BYTES_PER_CHUNK / 2 - 100, 6).await;
    }

    #[tokio::test]
    async fn a_few_documents_come_at_once() {
        let env = Env::simulated(1, UnixMicros(1));
        let state = State::open(Context::new(env, "p"), Config::default()).expect("it opens");
        let request = request(IN_PLACE_MAX - 1);
        fill(&state.database(&request.database).expect("there is room"), IN_PLACE_MAX, 1);
        let call = batch_get_documents(&state, &Identity::Owner, request);
        let answer = call.now_or_never().expect("it waits for nobody").expect("they are read");
        let Results::Here(results) = answer.results else { panic!("they came in chunks") };
        let seen: Vec<_> = results.into_iter().map(told).collect();
        assert_eq!(seen, expected(IN_PLACE_MAX - 1));
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_takes_nothing_loses_the_rest() {
        let documents = 2 * CHUNKS_IN_FLIGHT * ROWS_PER_CHUNK;
        let database = Database::new(Env::simulated(1, UnixMicros(1)), Limits::default());
        fill(&database, documents, 1);
        let snapshot = database.snapshot();
        let (out, mut chunks) = mpsc::channel(CHUNKS_IN_FLIGHT);
        // Not the runtime's own blocking pool: paused time stands still for as long as that works.
        let runtime = Handle::current();
        let thread = base_env::thread::spawn("batch-get", move || {
            let _runtime = runtime.enter();
            read(&snapshot, distinct(request(documents).names), None, &out);
        });
        let thread = thread.expect("a thread starts");
        let began = Instant::now();
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
}

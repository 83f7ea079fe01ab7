//! Processes that listen, and what they say of it.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base_env::process::shell;
use base_env::{Env, UnixMicros};
use base_value::{FieldPath, Value, codec};
use base_wire::google::firestore::v1 as wire;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};
use tokio::sync::mpsc;
use tokio::time::timeout;
use wire::listen_request::TargetChange as Change;
use wire::listen_response::ResponseType;
use wire::structured_query::CollectionSelector;
use wire::target::{QueryTarget, TargetType, query_target};
use wire::target_change::TargetChangeType;

use crate::client::{Grpc, Messages, Request};
use crate::workloads::data::{DATABASE, WRITTEN};

/// The hidden flag with which this program listens and does nothing else.
pub const LISTEN_FLAG: &str = "--listen";

/// Processes that listen at once.
const PROCESSES: u64 = 10;
/// Streams of one connection: as many as SDKs open on one.
const STREAMS_MAX: u64 = 100;
/// How long all first snapshots may take, and one update.
const READY_WAIT_MAX: Duration = Duration::from_secs(120);

/// What one process listens to.
#[derive(Clone, Debug)]
pub struct Listen {
    /// Where.
    pub authority: String,
    /// How many streams it opens.
    pub streams: u64,
    /// The number of the first collection of its own; without, all listen to the one that is written.
    pub elsewhere: Option<u64>,
}

/// What a stream says of itself.
enum Said {
    Ready,
    /// It has the state of a write.
    Saw(u64, UnixMicros),
    Failed(anyhow::Error),
}

impl Listen {
    /// Listens until standard input ends: says `ready`, then for every write when the last stream had it.
    ///
    /// # Errors
    /// A stream ends, misses a state, or gets one twice.
    pub async fn run(self) -> Result<()> {
        let (say, mut said) = mpsc::unbounded_channel();
        let mut connections = Vec::new();
        let mut left = self.streams;
        while left > 0 {
            let mut grpc = Grpc::connect(&self.authority).await?;
            for _ in 0..left.min(STREAMS_MAX) {
                left -= 1;
                let collection = match self.elsewhere {
                    Some(first) => format!("other{}", first + left),
                    None => WRITTEN.to_owned(),
                };
                let messages = Messages::of(grpc.stream(request(&collection)).await?);
                let say = say.clone();
                tokio::spawn(async move {
                    if let Err(failed) = follow(messages, &say).await {
                        // Nobody listens when the process is about to end.
                        let _sent = say.send(Said::Failed(failed));
                    }
                });
            }
            connections.push(grpc);
        }
        let ended =
            tokio::task::spawn_blocking(|| std::io::stdin().lock().read_to_end(&mut Vec::new()));
        let report = self.report(&mut said);
        tokio::select! {
            ended = ended => drop(ended??),
            reported = report => reported?,
        }
        Ok(())
    }

    async fn report(&self, said: &mut mpsc::UnboundedReceiver<Said>) -> Result<()> {
        let mut ready = 0;
        // Of every write, how many have it, and since when the last of them.
        let mut seen: BTreeMap<u64, (u64, UnixMicros)> = BTreeMap::new();
        while let Some(said) = said.recv().await {
            match said {
                Said::Ready => {
                    ready += 1;
                    if ready == self.streams {
                        tell("ready")?;
                    }
                }
                Said::Saw(number, at) => {
                    let (count, last) = seen.entry(number).or_default();
                    *count += 1;
                    *last = at.max(*last);
                    if *count == self.streams {
                        tell(&format!("{number} {}", last.0))?;
                        seen.remove(&number);
                    }
                }
                Said::Failed(failed) => return Err(failed),
            }
        }
        bail!("nobody listens")
    }
}

fn tell(line: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")?;
    Ok(out.flush()?)
}

pub(super) fn request(collection: &str) -> Request {
    let selector = CollectionSelector {
        collection_id: collection.to_owned(),
        ..CollectionSelector::default()
    };
    let query = wire::StructuredQuery { from: vec![selector], ..wire::StructuredQuery::default() };
    let target = QueryTarget {
        parent: format!("{DATABASE}/documents"),
        query_type: Some(query_target::QueryType::StructuredQuery(query)),
    };
    let target = wire::Target {
        target_id: 1,
        target_type: Some(TargetType::Query(target)),
        ..wire::Target::default()
    };
    let request = wire::ListenRequest {
        database: DATABASE.to_owned(),
        target_change: Some(Change::AddTarget(target)),
        ..wire::ListenRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/Listen", &request)
}

/// Reads one stream.
async fn follow(mut messages: Messages, say: &mpsc::UnboundedSender<Said>) -> Result<()> {
    let clock = Env::real();
    let mut state = State::default();
    let mut before = None;
    loop {
        let message = messages.next().await?.context("a listener's stream ended")?;
        if !state.take(message)? {
            continue;
        }
        let (now, at) = (state.told(), clock.now());
        match before.replace(now) {
            None => say.send(Said::Ready).context("nobody counts")?,
            Some(before) if before == now => {}
            Some(before) => {
                ensure!(now == before + 1, "{before} was followed by {now}");
                say.send(Said::Saw(now, at)).context("nobody counts")?;
            }
        }
    }
}

/// What a client knows of a target: a state is there when a boundary says so, as for SDKs.
#[derive(Debug, Default)]
pub(super) struct State {
    is_current: bool,
    newest: u64,
    told: u64,
}

impl State {
    /// The number of the newest write in it.
    pub(super) fn told(&self) -> u64 {
        self.told
    }

    /// Takes a message in; answers whether it is a boundary.
    pub(super) fn take(&mut self, message: wire::ListenResponse) -> Result<bool> {
        match message.response_type {
            Some(ResponseType::DocumentChange(change)) => {
                self.newest = self.newest.max(number(&change.decoded()?.fields)?);
                Ok(false)
            }
            Some(ResponseType::TargetChange(change)) => {
                let kind = change.target_change_type();
                ensure!(kind != TargetChangeType::Remove, "the target was refused");
                self.is_current |= kind == TargetChangeType::Current;
                let is_boundary = change.target_ids.is_empty() && change.read_time.is_some();
                if is_boundary && self.is_current {
                    self.told = self.newest;
                    return Ok(true);
                }
                Ok(false)
            }
            Some(_) | None => Ok(false),
        }
    }
}

/// The number of the write that a document is from.
fn number(fields: &[u8]) -> Result<u64> {
    match codec::find(fields, &FieldPath::single("rank")) {
        Some(Value::Integer(number)) => Ok(u64::try_from(number)?),
        _ => bail!("a document without a number"),
    }
}

/// The processes that listen to one side.
pub(super) struct Clients {
    each: Vec<Client>,
}

struct Client {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
    /// The child ends when this is closed.
    input: ChildStdin,
}

impl Clients {
    /// Starts them, and waits until all `listeners` have their first snapshot.
    ///
    /// # Errors
    /// One does not start, or is not ready in time.
    pub(super) async fn open(authority: &str, listeners: u64, elsewhere: bool) -> Result<Self> {
        let processes = PROCESSES.min(listeners);
        let mut clients = Self { each: Vec::new() };
        for process in 0..processes {
            let (first, end) =
                (listeners * process / processes, listeners * (process + 1) / processes);
            let program =
                std::env::current_exe().context("this program does not know its own file")?;
            let elsewhere =
                if elsewhere { format!(" --listen-elsewhere {first}") } else { String::new() };
            let script = format!(
                "exec '{}' {LISTEN_FLAG} {authority} --listen-streams {}{elsewhere}",
                program.display(),
                end - first
            );
            let mut child = shell(&script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
            let input = child.stdin.take().context("the child has no input")?;
            let output = child.stdout.take().context("the child has no output")?;
            let lines = BufReader::new(output).lines();
            clients.each.push(Client { child, lines, input });
        }
        for client in &mut clients.each {
            let line = client.line().await?;
            ensure!(line == "ready", "a listening process says `{line}`");
        }
        Ok(clients)
    }

    /// Waits until every listener has the state of a write, and tells since when the last one has.
    ///
    /// # Errors
    /// One has not in time, or has another.
    pub(super) async fn saw(&mut self, number: u64) -> Result<UnixMicros> {
        let mut last = UnixMicros(0);
        for client in &mut self.each {
            let line = client.line().await?;
            let (seen, at) = line.split_once(' ').context("a process says something else")?;
            ensure!(seen == number.to_string(), "write {number} was told as {seen}");
            last = last.max(UnixMicros(at.parse()?));
        }
        Ok(last)
    }

    /// Ends them.
    ///
    /// # Errors
    /// One ended badly.
    pub(super) async fn close(self) -> Result<()> {
        for mut client in self.each {
            drop(client.input);
            let status = timeout(READY_WAIT_MAX, client.child.wait()).await??;
            ensure!(status.success(), "a listening process ended with {status}");
        }
        Ok(())
    }
}

impl Client {
    async fn line(&mut self) -> Result<String> {
        let line = timeout(READY_WAIT_MAX, self.lines.next_line()).await;
        line.context("a listening process says nothing")??.context("a listening process ended")
    }
}

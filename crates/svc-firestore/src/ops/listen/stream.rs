//! One listen stream: what its client asks for, and when there is something to tell.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base_env::UnixMicros;
use base_status::Status;
use base_token::Identity;
use base_value::DatabaseName;
use engine_store::{Snapshot, Version};
use engine_txn::Database;
use engine_watch::{CommitNews, Feed, News, Ping, ViewId};
use front::ListenerTasks;
use futures_util::{Stream, StreamExt};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::time::{Interval, MissedTickBehavior};

use super::start::Question;
use super::target::{TargetRequest, TargetShape};
use super::token::{self, Decoded, Resume};
use super::{Event, Request, Room, TargetEvent};
use crate::limits::{BYTES_IN_FLIGHT, START_TRIES_MAX, TARGETS_PER_STREAM_MAX};
use crate::ops::blocking;
use crate::state::State;

/// How long a stream is silent before it says that all is as it was. The Node SDK takes two minutes of
/// silence for a broken stream and opens another.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(30);

/// Why a stream cannot simply go on.
pub(super) enum Halt {
    /// The client is gone: nobody is left to tell anything.
    Gone,
    /// Commits were lost: the targets have to start over.
    Lost,
    /// The stream ends with this.
    Ended(Status),
}

/// Serves one listen stream until its client ends it or goes away, or the service stops.
///
/// # Errors
/// What ends the whole stream. What is wrong with one target is told as an event.
pub(crate) async fn listen(
    state: Arc<State>,
    caller: Identity,
    tasks: ListenerTasks,
    mut requests: impl Stream<Item = Result<Request, Status>> + Unpin,
    out: mpsc::Sender<Event>,
) -> Result<(), Status> {
    let mut stopping = state.stopping();
    let mut stream: Option<ListenStream> = None;
    loop {
        let news = async {
            match &mut stream {
                Some(stream) => stream.news().await,
                None => std::future::pending().await,
            }
        };
        let mut done = tokio::select! {
            biased;
            () = front::stopped(&mut stopping) => Err(closed()),
            () = out.closed() => Err(Halt::Gone),
            request = requests.next() => match request {
                None => return Ok(()),
                Some(Err(status)) => Err(Halt::Ended(status)),
                Some(Ok(request)) => {
                    if let (None, Some(name)) = (&stream, request.database()) {
                        let opened =
                            ListenStream::open(&state, &caller, &tasks, name.clone(), out.clone());
                        stream = Some(opened?);
                    }
                    match &mut stream {
                        Some(stream) => stream.request(request).await,
                        None => refuse_without_database(&out, request).await,
                    }
                }
            },
            news = news => match &mut stream {
                Some(stream) => stream.tell_news(news).await,
                None => Ok(()),
            },
        };
        if let (Err(Halt::Lost), Some(stream)) = (&done, &mut stream) {
            done = stream.start_over().await;
        }
        match done {
            Ok(()) | Err(Halt::Lost) => {}
            Err(Halt::Gone) => return Ok(()),
            Err(Halt::Ended(status)) => return Err(status),
        }
    }
}

/// How a stream ends when the service does.
pub(super) fn closed() -> Halt {
    Halt::Ended(Status::unavailable("the suite is stopping"))
}

/// Before the first target there is no database, so all that can come is a refusal.
async fn refuse_without_database(out: &mpsc::Sender<Event>, request: Request) -> Result<(), Halt> {
    let Request::Refuse { id, cause } = request else { return Ok(()) };
    let id = if id == 0 { 1 } else { id };
    check_id(id)?;
    send(out, TargetEvent::Added(id)).await?;
    send(out, TargetEvent::Removed { id, cause: Some(cause) }).await
}

async fn send(out: &mpsc::Sender<Event>, event: TargetEvent) -> Result<(), Halt> {
    out.send(Event::Target(event)).await.map_err(|_| Halt::Gone)
}

fn check_id(id: i32) -> Result<(), Halt> {
    if id < 0 {
        return Err(Halt::Ended(Status::invalid_argument("target ids must not be negative")));
    }
    Ok(())
}

impl Request {
    fn database(&self) -> Option<&DatabaseName> {
        match self {
            Request::Add(target) => Some(&target.database),
            Request::Refuse { .. } | Request::Remove(_) => None,
        }
    }
}

/// What a client knows of a target that it adds.
enum Past {
    Nothing,
    /// What it was shown at this state.
    Known(Snapshot),
    /// Something that we do not know any more, so that it has to forget it too.
    Forgotten,
    /// Something that we never told.
    Refused(Status),
}

/// What a stream waits for beside its client.
enum Awaited {
    News(News<TargetShape>),
    /// Some is here already.
    Pending,
    /// There are other rules.
    Rules,
    /// Nothing has happened for long.
    Silence,
}

/// What a stream has heard and not told.
pub(super) enum Pending {
    Commit(CommitNews<TargetShape>),
    Ping(Ping),
}

/// A view that targets of this stream watch.
pub(super) struct Watched {
    pub(super) shape: Arc<TargetShape>,
    pub(super) ids: BTreeSet<i32>,
}

pub(super) struct ListenStream {
    pub(super) state: Arc<State>,
    pub(super) caller: Identity,
    /// Changes when rules do.
    rules: watch::Receiver<u64>,
    pub(super) name: DatabaseName,
    pub(super) database: Database,
    pub(super) suite: u64,
    pub(super) feed: Feed<TargetShape>,
    pub(super) pending: VecDeque<Pending>,
    pub(super) targets: BTreeMap<i32, ViewId>,
    pub(super) views: HashMap<ViewId, Watched>,
    // INVARIANT: the targets have been told all that was committed up to this version and this time.
    pub(super) version: Version,
    pub(super) told: UnixMicros,
    pub(super) heartbeat: Interval,
    pub(super) out: mpsc::Sender<Event>,
    /// Bytes of documents that may wait in the stream for its reader.
    room: Arc<Semaphore>,
}

impl ListenStream {
    fn open(
        state: &Arc<State>,
        caller: &Identity,
        tasks: &ListenerTasks,
        name: DatabaseName,
        out: mpsc::Sender<Event>,
    ) -> Result<ListenStream, Status> {
        let database = state.database(&name)?;
        let (feed, runner) = state.hubs.of(&name, &database).join();
        if let Some(runner) = runner {
            let mut stopping = state.stopping();
            tasks.spawn(async move { runner.run(front::stopped(&mut stopping)).await });
        }
        let mut heartbeat = tokio::time::interval(HEARTBEAT_INTERVAL);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let now = database.snapshot();
        Ok(ListenStream {
            rules: state.rules.changes(),
            state: Arc::clone(state),
            caller: caller.clone(),
            name,
            database,
            suite: state.suite,
            feed,
            pending: VecDeque::new(),
            targets: BTreeMap::new(),
            views: HashMap::new(),
            version: now.version(),
            told: now.time(),
            heartbeat,
            out,
            room: Arc::new(Semaphore::new(BYTES_IN_FLIGHT)),
        })
    }

    /// Waits for something to tell. Nothing is lost when the future is dropped before it is ready.
    async fn news(&mut self) -> Awaited {
        if !self.pending.is_empty() {
            return Awaited::Pending;
        }
        tokio::select! {
            biased;
            news = self.feed.next() => Awaited::News(news),
            Ok(()) = self.rules.changed() => Awaited::Rules,
            // Nobody waits for the news of no target.
            _ = self.heartbeat.tick(), if !self.targets.is_empty() => Awaited::Silence,
        }
    }

    async fn tell_news(&mut self, news: Awaited) -> Result<(), Halt> {
        match news {
            Awaited::News(news) => {
                self.take(news, None)?;
                self.follow_pending(None).await
            }
            Awaited::Pending => self.follow_pending(None).await,
            Awaited::Rules => self.recheck_all().await,
            Awaited::Silence => {
                let now = self.database.snapshot();
                self.catch_up(now.version()).await?;
                self.boundary(now.version(), now.time()).await
            }
        }
    }

    async fn request(&mut self, request: Request) -> Result<(), Halt> {
        let (id, target) = match request {
            Request::Remove(id) if self.targets.contains_key(&id) => {
                return self.end_target(id, None).await;
            }
            Request::Remove(_) => return Ok(()),
            Request::Refuse { id, cause } => (id, Err(cause)),
            Request::Add(target) => (target.id, Ok(target)),
        };
        let id = if id == 0 { self.unused_id() } else { id };
        check_id(id)?;
        if self.targets.contains_key(&id) {
            // The target that has the id goes on, so this is told before anything else is found wrong.
            let cause = Status::already_exists(format!("Target ID already exists: {id}"));
            return self.tell(TargetEvent::Removed { id, cause: Some(cause) }).await;
        }
        let target = match target {
            Ok(target) => target,
            Err(cause) => return self.refuse(id, cause).await,
        };
        if target.database != self.name {
            return Err(Halt::Ended(Status::invalid_argument(format!(
                "The request was for database '{}' but was attempting to access database '{}'",
                self.name, target.database
            ))));
        }
        if self.targets.len() >= TARGETS_PER_STREAM_MAX {
            let text = format!("a stream holds at most {TARGETS_PER_STREAM_MAX} targets");
            return self.refuse(id, Status::resource_exhausted(text)).await;
        }
        self.add(id, target).await
    }

    fn unused_id(&self) -> i32 {
        (1..).find(|id| !self.targets.contains_key(id)).unwrap_or(i32::MAX)
    }

    async fn refuse(&self, id: i32, cause: Status) -> Result<(), Halt> {
        self.tell(TargetEvent::Added(id)).await?;
        self.tell(TargetEvent::Removed { id, cause: Some(cause) }).await
    }

    async fn add(&mut self, id: i32, request: TargetRequest) -> Result<(), Halt> {
        let shape = Arc::new(TargetShape::new(request.identity, request.scope));
        if let Err(denied) = self.permits(&shape) {
            return self.refuse(id, denied).await;
        }
        let (past, is_forgotten) = match self.past(&request.resume).await? {
            Past::Nothing => (None, false),
            Past::Known(past) => (Some(past), false),
            Past::Forgotten => (None, true),
            Past::Refused(cause) => {
                return self.tell(TargetEvent::Removed { id, cause: Some(cause) }).await;
            }
        };
        // Watched before it is looked at: what is committed in between comes as news.
        let view = self.feed.watch(&shape);
        let (now, start) = self.started(&shape, past, request.expected_count).await?;
        let (version, read_time) = (now.version(), now.time());
        self.tell(TargetEvent::Added(id)).await?;
        if is_forgotten {
            self.tell(TargetEvent::Reset(id)).await?;
        }
        self.targets.insert(id, view);
        let watched = self.views.entry(view);
        watched.or_insert_with(|| Watched { shape, ids: BTreeSet::new() }).ids.insert(id);
        self.tell_start(id, view, start, &now).await?;
        self.current(id, read_time).await?;
        self.boundary(version, read_time).await?;
        if request.once {
            self.end_target(id, None).await?;
        }
        Ok(())
    }

    /// What a new target starts with, in a state that the others have been brought to, so that one boundary holds for
    /// all of them.
    async fn started(
        &mut self,
        shape: &Arc<TargetShape>,
        past: Option<Snapshot>,
        expected: Option<usize>,
    ) -> Result<(Snapshot, super::start::Start), Halt> {
        for _ in 0..START_TRIES_MAX {
            let now = self.database.snapshot();
            let question = self.question(shape, past.clone(), now.clone(), expected);
            let start = question.answer().await?;
            match self.catch_up(now.version()).await {
                Ok(()) => return Ok((now, start)),
                // That state is behind the others' now.
                Err(Halt::Lost) => self.start_over().await?,
                Err(halt @ (Halt::Gone | Halt::Ended(_))) => return Err(halt),
            }
        }
        let text = "the database changes faster than this stream can follow";
        Err(Halt::Ended(Status::unavailable(text)))
    }

    pub(super) fn question(
        &self,
        shape: &Arc<TargetShape>,
        past: Option<Snapshot>,
        now: Snapshot,
        expected: Option<usize>,
    ) -> Question {
        let (shape, database) = (Arc::clone(shape), self.name.clone());
        Question { shape, database, past, now, expected }
    }

    /// Ends a target: one that the client gives up, that has done its part, or with a cause, one that may not go on.
    pub(super) async fn end_target(&mut self, id: i32, cause: Option<Status>) -> Result<(), Halt> {
        if let Some(view) = self.targets.remove(&id) {
            self.feed.unwatch(view);
            if let Some(watched) = self.views.get_mut(&view) {
                watched.ids.remove(&id);
                if watched.ids.is_empty() {
                    self.views.remove(&view);
                }
            }
        }
        self.tell(TargetEvent::Removed { id, cause }).await
    }

    /// Waits until there is room for a document of that length. It is given back when the document has
    /// left the stream.
    pub(super) async fn room(&self, len: usize) -> Result<Room, Halt> {
        let len = u32::try_from(len.min(BYTES_IN_FLIGHT)).unwrap_or(u32::MAX);
        Arc::clone(&self.room).acquire_many_owned(len).await.map_err(|_| Halt::Gone)
    }

    /// The state a client was last shown.
    async fn past(&self, resume: &Resume) -> Result<Past, Halt> {
        let time = match resume {
            Resume::Start => return Ok(Past::Nothing),
            Resume::ReadTime(time) => *time,
            Resume::Token(bytes) => match token::decode(self.suite, bytes) {
                Decoded::Time(time) => time,
                Decoded::Foreign => return Ok(Past::Forgotten),
                Decoded::Garbage => {
                    return Ok(Past::Refused(Status::invalid_argument("bad resume token")));
                }
            },
        };
        Ok(self.snapshot_at(time).await?.map_or(Past::Forgotten, Past::Known))
    }

    /// The state at a time; `None` where it is not known any more.
    pub(super) async fn snapshot_at(&self, time: UnixMicros) -> Result<Option<Snapshot>, Halt> {
        // The further back, the longer it takes.
        let database = self.database.clone();
        let past = blocking(move || database.snapshot_at(time).ok()).await;
        past.map_err(|error| Halt::Ended(error.into()))
    }

    pub(super) async fn tell(&self, event: TargetEvent) -> Result<(), Halt> {
        send(&self.out, event).await
    }
}

//! One listen stream: what its client asks for, and when there is something to tell.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use base_status::Status;
use base_token::Identity;
use base_value::DatabaseName;
use engine_store::{Commit, Snapshot};
use engine_txn::Database;
use engine_watch::{Event as Followed, Follower};
use futures_util::{Stream, StreamExt};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Interval, MissedTickBehavior};

use super::target::{self, Target, TargetRequest};
use super::token::{self, Decoded, Resume};
use super::{Event, Request, Room, TargetEvent};
use crate::access::{self, Access};
use crate::limits::{BYTES_IN_FLIGHT, TARGETS_PER_STREAM_MAX};
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
            () = front::stopped(&mut stopping) => {
                Err(Halt::Ended(Status::unavailable("the suite is stopping")))
            }
            () = out.closed() => Err(Halt::Gone),
            request = requests.next() => match request {
                None => return Ok(()),
                Some(Err(status)) => Err(Halt::Ended(status)),
                Some(Ok(request)) => {
                    if let (None, Some(name)) = (&stream, request.database()) {
                        stream = Some(ListenStream::open(&state, name.clone(), out.clone())?);
                    }
                    match &mut stream {
                        Some(stream) => stream.request(&caller, request).await,
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
enum News {
    /// Commits are pending.
    Commits,
    /// Some were lost.
    Lost,
    /// Nothing has happened for long.
    Silence,
}

pub(super) struct ListenStream {
    pub(super) name: DatabaseName,
    pub(super) database: Database,
    pub(super) suite: u64,
    pub(super) follower: Follower,
    /// Commits that the follower gave and no target has seen yet.
    pub(super) pending: VecDeque<Arc<Commit>>,
    pub(super) targets: BTreeMap<i32, Target>,
    pub(super) heartbeat: Interval,
    pub(super) out: mpsc::Sender<Event>,
    /// Bytes of documents that may wait in the stream for its reader.
    room: Arc<Semaphore>,
}

impl ListenStream {
    fn open(
        state: &State,
        name: DatabaseName,
        out: mpsc::Sender<Event>,
    ) -> Result<ListenStream, Status> {
        let database = state.database(&name)?;
        let follower = Follower::new(&database);
        let mut heartbeat = tokio::time::interval(HEARTBEAT_INTERVAL);
        heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Ok(ListenStream {
            name,
            database,
            suite: state.suite,
            follower,
            pending: VecDeque::new(),
            targets: BTreeMap::new(),
            heartbeat,
            out,
            room: Arc::new(Semaphore::new(BYTES_IN_FLIGHT)),
        })
    }

    /// Waits for something to tell. Nothing is lost when the future is dropped before it is ready.
    async fn news(&mut self) -> News {
        if !self.pending.is_empty() {
            return News::Commits;
        }
        tokio::select! {
            biased;
            event = self.follower.next() => match event {
                Followed::Commits(commits) => {
                    self.pending.extend(commits);
                    News::Commits
                }
                Followed::Lagged => News::Lost,
            },
            // Nobody waits for the news of no target.
            _ = self.heartbeat.tick(), if !self.targets.is_empty() => News::Silence,
        }
    }

    async fn tell_news(&mut self, news: News) -> Result<(), Halt> {
        match news {
            News::Commits => self.follow_pending(None).await,
            News::Lost => Err(Halt::Lost),
            News::Silence => {
                let now = self.database.snapshot();
                self.catch_up(now.version()).await?;
                self.boundary(now.time()).await
            }
        }
    }

    async fn request(&mut self, caller: &Identity, request: Request) -> Result<(), Halt> {
        let (id, target) = match request {
            Request::Remove(id) => {
                return match self.targets.remove(&id) {
                    Some(_) => self.tell(TargetEvent::Removed { id, cause: None }).await,
                    None => Ok(()),
                };
            }
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
        if let Err(denied) = access::check(caller, Access::Read) {
            return self.refuse(id, denied.into()).await;
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
        let (past, reset) = match self.past(&request.resume).await? {
            Past::Nothing => (None, false),
            Past::Known(past) => (Some(past), false),
            Past::Forgotten => (None, true),
            Past::Refused(cause) => {
                return self.tell(TargetEvent::Removed { id, cause: Some(cause) }).await;
            }
        };
        let now = self.database.snapshot();
        let (version, read_time) = (now.version(), now.time());
        let (target, seen) = target::start(Target::new(request.scope), past, now.clone()).await?;
        // The other targets come to the same version first, so that one boundary holds for all of them.
        let caught_up = self.catch_up(version).await;
        self.tell(TargetEvent::Added(id)).await?;
        if reset {
            self.tell(TargetEvent::Reset(id)).await?;
        }
        match caught_up {
            Ok(()) => {
                self.tell_start(id, &target, seen, &now).await?;
                self.targets.insert(id, target);
                self.boundary(read_time).await?;
            }
            Err(Halt::Lost) => {
                self.targets.insert(id, target);
                self.start_over().await?;
            }
            Err(halt @ (Halt::Gone | Halt::Ended(_))) => return Err(halt),
        }
        if request.once {
            self.targets.remove(&id);
            self.tell(TargetEvent::Removed { id, cause: None }).await?;
        }
        Ok(())
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
        // The further back, the longer it takes.
        let database = self.database.clone();
        let past = blocking(move || database.snapshot_at(time)).await;
        let past = past.map_err(|error| Halt::Ended(error.into()))?;
        Ok(past.map_or(Past::Forgotten, Past::Known))
    }

    pub(super) async fn tell(&self, event: TargetEvent) -> Result<(), Halt> {
        send(&self.out, event).await
    }
}

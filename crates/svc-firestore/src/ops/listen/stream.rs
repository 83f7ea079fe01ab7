//! One listen stream: its targets, the database it follows, and what it sends when.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use base_env::UnixMicros;
use base_status::Status;
use base_token::Identity;
use base_value::{DatabaseName, key};
use bytes::Bytes;
use engine_store::{Commit, Record, Snapshot, Version};
use engine_txn::Database;
use engine_watch::{Event as Followed, Follower};
use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;

use super::target::{Seen, Target, TargetRequest};
use super::token::{self, Decoded, Resume};
use super::{Event, Request, TargetEvent};
use crate::access::{self, Access};
use crate::limits::TARGETS_PER_STREAM_MAX;
use crate::ops::get_document::Document;
use crate::state::{State, stopped};

/// The client is gone: nobody is left to tell anything.
struct Gone;

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
        let followed = async {
            match &mut stream {
                Some(stream) => stream.more().await,
                None => std::future::pending().await,
            }
        };
        let sent = tokio::select! {
            biased;
            () = stopped(&mut stopping) => {
                return Err(Status::unavailable("the suite is stopping"));
            }
            () = out.closed() => return Ok(()),
            request = requests.next() => match request {
                None => return Ok(()),
                Some(Err(status)) => return Err(status),
                Some(Ok(request)) => {
                    let database = request.database().cloned();
                    if let (None, Some(name)) = (&stream, &database) {
                        stream = Some(ListenStream::open(&state, name.clone(), out.clone())?);
                    }
                    match &mut stream {
                        Some(stream) => stream.request(&caller, request).await?,
                        None => refuse_without_database(&out, request).await,
                    }
                }
            },
            lagged = followed => match &mut stream {
                Some(stream) if lagged => stream.start_over().await,
                Some(stream) => stream.follow_pending(None).await,
                None => Ok(()),
            },
        };
        if let Err(Gone) = sent {
            return Ok(());
        }
    }
}

/// Before the first target there is no database, so all that can come is a refusal.
async fn refuse_without_database(out: &mpsc::Sender<Event>, request: Request) -> Result<(), Gone> {
    let Request::Refuse { id, cause } = request else { return Ok(()) };
    send(out, TargetEvent::Added(id)).await?;
    send(out, TargetEvent::Removed { id, cause: Some(cause) }).await
}

async fn send(out: &mpsc::Sender<Event>, event: TargetEvent) -> Result<(), Gone> {
    out.send(Event::Target(event)).await.map_err(|_| Gone)
}

impl Request {
    fn database(&self) -> Option<&DatabaseName> {
        match self {
            Request::Add(target) => Some(&target.database),
            Request::Refuse { .. } | Request::Remove(_) => None,
        }
    }
}

/// Which targets a changed document concerns.
#[derive(Default)]
struct Concerned {
    record: Option<Record>,
    inside: Vec<i32>,
    left: Vec<i32>,
}

struct ListenStream {
    name: DatabaseName,
    database: Database,
    suite: u64,
    follower: Follower,
    /// Commits that the follower gave and no target has seen yet.
    pending: VecDeque<Arc<Commit>>,
    targets: BTreeMap<i32, Target>,
    out: mpsc::Sender<Event>,
}

impl ListenStream {
    fn open(
        state: &State,
        name: DatabaseName,
        out: mpsc::Sender<Event>,
    ) -> Result<ListenStream, Status> {
        let database = state.database(&name)?;
        let follower = Follower::new(&database);
        Ok(ListenStream {
            name,
            database,
            suite: state.suite,
            follower,
            pending: VecDeque::new(),
            targets: BTreeMap::new(),
            out,
        })
    }

    async fn request(
        &mut self,
        caller: &Identity,
        request: Request,
    ) -> Result<Result<(), Gone>, Status> {
        match request {
            Request::Remove(id) => Ok(match self.targets.remove(&id) {
                Some(_) => self.tell(TargetEvent::Removed { id, cause: None }).await,
                None => Ok(()),
            }),
            Request::Refuse { id, cause } => Ok(self.refuse(id, cause).await),
            Request::Add(mut target) => {
                if target.id == 0 {
                    target.id = self.unused_id();
                }
                if target.id < 0 {
                    return Err(Status::invalid_argument("target ids must not be negative"));
                }
                if target.database != self.name {
                    return Err(Status::invalid_argument(format!(
                        "The request was for database '{}' but was attempting to access database '{}'",
                        self.name, target.database
                    )));
                }
                if self.targets.contains_key(&target.id) {
                    let text = format!("Target ID already exists: {}", target.id);
                    let removed = TargetEvent::Removed {
                        id: target.id,
                        cause: Some(Status::already_exists(text)),
                    };
                    return Ok(self.tell(removed).await);
                }
                if let Err(denied) = access::check(caller, Access::Read) {
                    return Ok(self.refuse(target.id, denied.into()).await);
                }
                if self.targets.len() >= TARGETS_PER_STREAM_MAX {
                    let text = format!("a stream holds at most {TARGETS_PER_STREAM_MAX} targets");
                    return Ok(self.refuse(target.id, Status::resource_exhausted(text)).await);
                }
                Ok(self.add(target).await)
            }
        }
    }

    fn unused_id(&self) -> i32 {
        (1..).find(|id| !self.targets.contains_key(id)).unwrap_or(i32::MAX)
    }

    async fn refuse(&self, id: i32, cause: Status) -> Result<(), Gone> {
        self.tell(TargetEvent::Added(id)).await?;
        self.tell(TargetEvent::Removed { id, cause: Some(cause) }).await
    }

    async fn add(&mut self, request: TargetRequest) -> Result<(), Gone> {
        let id = request.id;
        let (past, reset) = match self.past(&request.resume) {
            Ok(past) => past,
            Err(cause) => {
                let cause = Some(cause);
                return self.tell(TargetEvent::Removed { id, cause }).await;
            }
        };
        self.tell(TargetEvent::Added(id)).await?;
        if reset {
            self.tell(TargetEvent::Reset(id)).await?;
        }
        let now = self.database.snapshot();
        let (target, seen) = start(Target::new(request.scope), past, now.clone()).await;
        // The other targets come to the same version, so that one boundary holds for all of them.
        let lost = self.catch_up(now.version()).await?;
        self.targets.insert(id, target);
        if lost {
            self.start_over().await?;
        } else {
            self.tell_start(id, seen, now.time()).await?;
            self.boundary(now.time()).await?;
        }
        if request.once {
            self.targets.remove(&id);
            self.tell(TargetEvent::Removed { id, cause: None }).await?;
        }
        Ok(())
    }

    /// The state a resuming client was last shown, and whether it has to forget what it knows.
    fn past(&self, resume: &Resume) -> Result<(Option<Snapshot>, bool), Status> {
        let time = match resume {
            Resume::Start => return Ok((None, false)),
            Resume::ReadTime(time) => *time,
            Resume::Token(bytes) => match token::decode(self.suite, bytes) {
                Decoded::Time(time) => time,
                Decoded::Foreign => return Ok((None, true)),
                Decoded::Garbage => return Err(Status::invalid_argument("bad resume token")),
            },
        };
        match self.database.snapshot_at(time) {
            Ok(past) => Ok((Some(past), false)),
            Err(_) => Ok((None, true)),
        }
    }

    /// Waits until there are commits pending. Answers whether some were lost.
    async fn more(&mut self) -> bool {
        if !self.pending.is_empty() {
            return false;
        }
        let event = self.follower.next().await;
        self.take(event)
    }

    fn take(&mut self, event: Followed) -> bool {
        match event {
            Followed::Commits(commits) => {
                self.pending.extend(commits);
                false
            }
            Followed::Lagged => true,
        }
    }

    /// Shows the targets everything up to `version`. Answers whether commits were lost.
    async fn catch_up(&mut self, version: Version) -> Result<bool, Gone> {
        while self.follower.version() < version {
            let Some(event) = self.follower.try_next() else { break };
            if self.take(event) {
                return Ok(true);
            }
        }
        self.follow_pending(Some(version)).await?;
        Ok(false)
    }

    /// Shows the targets the pending commits, up to `last` if it is given.
    async fn follow_pending(&mut self, last: Option<Version>) -> Result<(), Gone> {
        while let Some(commit) = self.pending.front().cloned() {
            if last.is_some_and(|last| commit.version > last) {
                break;
            }
            self.pending.pop_front();
            self.follow_commit(&commit).await?;
        }
        Ok(())
    }

    async fn follow_commit(&mut self, commit: &Commit) -> Result<(), Gone> {
        let mut documents: BTreeMap<Bytes, Concerned> = BTreeMap::new();
        let mut snapshot = None;
        let mut lost = false;
        let database = self.database.clone();
        let mut after = || {
            snapshot = snapshot.take().or_else(|| database.snapshot_at(commit.time).ok());
            snapshot.clone()
        };
        for (id, target) in &mut self.targets {
            let Some(seen) = target.follow(commit, &mut after) else {
                lost = true;
                break;
            };
            for Seen { key, record, inside } in seen {
                let concerned = documents.entry(key).or_default();
                concerned.record = record;
                if inside { &mut concerned.inside } else { &mut concerned.left }.push(*id);
            }
        }
        if lost {
            return self.start_over().await;
        }
        if documents.is_empty() {
            return Ok(());
        }
        for (key, concerned) in documents {
            self.tell_document(&key, concerned, commit.time).await?;
        }
        self.boundary(commit.time).await
    }

    /// Sends every target whole: what happened in between is no longer known.
    async fn start_over(&mut self) -> Result<(), Gone> {
        let now = self.database.snapshot();
        self.follower.skip_to(now.version());
        self.pending.clear();
        let read_time = now.time();
        for id in self.targets.keys().copied().collect::<Vec<_>>() {
            let Some(target) = self.targets.remove(&id) else { continue };
            self.tell(TargetEvent::Reset(id)).await?;
            let (target, seen) = start(target.reset(), None, now.clone()).await;
            self.tell_start(id, seen, read_time).await?;
            self.targets.insert(id, target);
        }
        self.boundary(read_time).await
    }

    /// Tells a target's first state, and that it is complete.
    async fn tell_start(
        &self,
        id: i32,
        seen: Vec<Seen>,
        read_time: UnixMicros,
    ) -> Result<(), Gone> {
        for Seen { key, record, inside } in seen {
            let mut concerned = Concerned { record, ..Concerned::default() };
            if inside { &mut concerned.inside } else { &mut concerned.left }.push(id);
            self.tell_document(&key, concerned, read_time).await?;
        }
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Current { id, token, read_time }).await
    }

    async fn boundary(&self, read_time: UnixMicros) -> Result<(), Gone> {
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Boundary { token, read_time }).await
    }

    async fn tell_document(
        &self,
        key: &Bytes,
        concerned: Concerned,
        read_time: UnixMicros,
    ) -> Result<(), Gone> {
        let Some(path) = key::parse(key) else { return Ok(()) };
        let name = self.name.document(path);
        let Concerned { record, inside, left } = concerned;
        let event = match record {
            Some(record) => {
                let document = Document::masked(name, record, None);
                Event::Changed { document, targets: inside, removed: left }
            }
            None => Event::Deleted { name, removed: left, read_time },
        };
        self.out.send(event).await.map_err(|_| Gone)
    }

    async fn tell(&self, event: TargetEvent) -> Result<(), Gone> {
        send(&self.out, event).await
    }
}

/// Runs a target's first state: a query on a thread that may take its time, documents in place.
async fn start(mut target: Target, past: Option<Snapshot>, now: Snapshot) -> (Target, Vec<Seen>) {
    if !target.is_query() {
        let seen = target.start(past.as_ref(), &now);
        return (target, seen);
    }
    let scope = target.scope().clone();
    let run = move || {
        let seen = target.start(past.as_ref(), &now);
        (target, seen)
    };
    match tokio::task::spawn_blocking(run).await {
        Ok(started) => started,
        // The runtime is going away, and the stream with it.
        Err(_) => (Target::new(scope), Vec::new()),
    }
}

//! What a stream tells: the differences that commits make, first states, and boundaries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::key;
use bytes::Bytes;
use engine_query::Prepared;
use engine_store::{Snapshot, Version};
use engine_watch::{CommitNews, Document, News, Update, ViewId};

use super::start::{Content, First, Start};
use super::stream::{Halt, ListenStream, Pending, closed};
use super::target::TargetShape;
use super::token;
use super::{Event, TargetEvent, Told};
use crate::error::Error;

/// Which targets a changed document concerns.
struct Concerned {
    document: Arc<Document<Bytes>>,
    /// The query, where the targets do not have all of its fields.
    projection: Option<Arc<Prepared>>,
    inside: Vec<i32>,
    left: Vec<i32>,
}

impl Concerned {
    fn new(document: Arc<Document<Bytes>>, projection: Option<Arc<Prepared>>) -> Concerned {
        Concerned { document, projection, inside: Vec::new(), left: Vec::new() }
    }

    fn add(&mut self, ids: &BTreeSet<i32>, inside: bool) {
        if inside { &mut self.inside } else { &mut self.left }.extend(ids);
    }
}

impl ListenStream {
    /// Takes in what the feed has to say. Answers whether that was the mark that is waited for.
    pub(super) fn take(
        &mut self,
        news: News<TargetShape>,
        mark: Option<u64>,
    ) -> Result<bool, Halt> {
        match news {
            News::Commit(commit) => self.pending.push_back(Pending::Commit(commit)),
            News::Ping(ping) => self.pending.push_back(Pending::Ping(ping)),
            News::Mark(number) => return Ok(mark == Some(number)),
            News::Lost => return Err(Halt::Lost),
            News::Closed => return Err(closed()),
        }
        Ok(false)
    }

    /// Shows the targets everything up to `version`.
    pub(super) async fn catch_up(&mut self, version: Version) -> Result<(), Halt> {
        let mark = self.feed.mark();
        loop {
            let news = self.feed.next().await;
            if self.take(news, Some(mark))? {
                break;
            }
        }
        self.follow_pending(Some(version)).await?;
        self.version = self.version.max(version);
        Ok(())
    }

    /// Shows the targets the pending commits, up to `last` if it is given.
    pub(super) async fn follow_pending(&mut self, last: Option<Version>) -> Result<(), Halt> {
        let is_later = |pending: &Pending| match (pending, last) {
            (Pending::Commit(commit), Some(last)) => commit.version > last,
            (Pending::Commit(_) | Pending::Ping(_), _) => false,
        };
        while !self.pending.front().is_some_and(is_later)
            && let Some(pending) = self.pending.pop_front()
        {
            match pending {
                Pending::Commit(commit) => self.follow_commit(commit).await?,
                Pending::Ping(ping) => {
                    self.out.send(Event::Passed(ping)).await.map_err(|_| Halt::Gone)?;
                }
            }
        }
        Ok(())
    }

    async fn follow_commit(&mut self, commit: CommitNews<TargetShape>) -> Result<(), Halt> {
        if commit.version <= self.version {
            return Ok(());
        }
        self.recheck_after(&commit.updates).await?;
        let concerned = self.concerned(&commit.updates);
        if concerned.is_empty() {
            return Ok(());
        }
        for concerned in concerned {
            self.tell_document(concerned, commit.time).await?;
        }
        self.boundary(commit.version, commit.time).await
    }

    /// The documents that updates are about. Each is told once with all the targets it concerns; views that do not want
    /// all of it get their own.
    fn concerned(&self, updates: &[Arc<Update<TargetShape>>]) -> Vec<Concerned> {
        let mut by_key: BTreeMap<(Bytes, Option<ViewId>), Concerned> = BTreeMap::new();
        let mut concerned = Vec::new();
        for update in updates {
            let Some(watched) = self.views.get(&update.view) else { continue };
            let projection = watched.shape.projection();
            let alone = projection.map(|_| update.view);
            for seen in &update.changes {
                let new = || Concerned::new(Arc::clone(&seen.document), projection.cloned());
                if updates.len() == 1 {
                    let mut only = new();
                    only.add(&watched.ids, seen.inside);
                    concerned.push(only);
                } else {
                    let key = (seen.document.key.clone(), alone);
                    by_key.entry(key).or_insert_with(new).add(&watched.ids, seen.inside);
                }
            }
        }
        concerned.extend(by_key.into_values().map(|mut concerned| {
            concerned.inside.sort_unstable();
            concerned.left.sort_unstable();
            concerned
        }));
        concerned
    }

    /// Brings every target to what is true now, although nobody knows what happened in between: with the differences,
    /// or where they cannot be told any more, whole.
    pub(super) async fn start_over(&mut self) -> Result<(), Halt> {
        self.pending.retain(|pending| matches!(pending, Pending::Ping(_)));
        let now = self.database.snapshot();
        if self.targets.is_empty() {
            self.version = now.version();
            return Ok(());
        }
        let past = self.snapshot_at(self.told).await?;
        for (id, view) in self.targets.clone() {
            let Some(watched) = self.views.get(&view) else { continue };
            let shape = Arc::clone(&watched.shape);
            let start = self.question(&shape, past.clone(), now.clone(), None).answer().await?;
            if past.is_none() {
                self.tell(TargetEvent::Reset(id)).await?;
            }
            self.tell_start(id, view, start, &now).await?;
            if past.is_none() {
                self.current(id, now.time()).await?;
            }
        }
        self.boundary(now.version(), now.time()).await
    }

    /// Tells a target's first state.
    pub(super) async fn tell_start(
        &self,
        id: i32,
        view: ViewId,
        start: Start,
        state: &Snapshot,
    ) -> Result<(), Halt> {
        let projection = self.views.get(&view).and_then(|watched| watched.shape.projection());
        if let Some(rows) = start.rows {
            self.feed.offer(view, state.version(), rows);
        }
        for First { key, content, inside } in start.documents {
            let record = match content {
                Content::Here(record) => Some(record),
                Content::Stored => state.get(&key),
                Content::Missing => None,
            };
            state.check().map_err(|error| Halt::Ended(Error::Commit(error.into()).into()))?;
            let document = Arc::new(Document::new(key, record));
            let mut concerned = Concerned::new(document, projection.cloned());
            concerned.add(&BTreeSet::from([id]), inside);
            self.tell_document(concerned, state.time()).await?;
        }
        if let Some(filter) = start.filter {
            let event = Event::Filter { id, count: filter.count, names: filter.names };
            self.out.send(event).await.map_err(|_| Halt::Gone)?;
        }
        Ok(())
    }

    /// Tells that a target has been told everything.
    pub(super) async fn current(&self, id: i32, read_time: UnixMicros) -> Result<(), Halt> {
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Current { id, token, read_time }).await
    }

    /// Tells that everything up to `read_time` has been told, which is that of a version.
    pub(super) async fn boundary(
        &mut self,
        version: Version,
        read_time: UnixMicros,
    ) -> Result<(), Halt> {
        self.heartbeat.reset();
        (self.version, self.told) = (version, read_time);
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Boundary { token, read_time }).await
    }

    async fn tell_document(&self, concerned: Concerned, read_time: UnixMicros) -> Result<(), Halt> {
        let Concerned { document, projection, inside, left } = concerned;
        let event = match &document.record {
            Some(record) => {
                let room = self.room(record.value.len()).await?;
                let document = Told { database: self.name.clone(), document, projection };
                Event::Changed { document, targets: inside, removed: left, room }
            }
            None => {
                let Some(path) = key::parse(&document.key) else { return Ok(()) };
                Event::Deleted { name: self.name.document(path), removed: left, read_time }
            }
        };
        self.out.send(event).await.map_err(|_| Halt::Gone)
    }
}

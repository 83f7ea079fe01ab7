//! What a stream tells: the differences that commits make, first states, and boundaries.

use std::collections::BTreeMap;

use base_env::UnixMicros;
use base_value::key;
use bytes::Bytes;
use engine_store::{Commit, Record, Snapshot, Version};
use engine_watch::Event as Followed;

use super::stream::{Halt, ListenStream};
use super::target::{self, Content, Seen, Target};
use super::token;
use super::{Event, TargetEvent};
use crate::error::Error;
use crate::ops::get_document::Document;

/// The documents that a commit changes for some target. Each is told once with all the targets it
/// concerns; a target that does not want all of it gets its own.
#[derive(Default)]
struct CommitNews {
    documents: BTreeMap<(Bytes, Option<i32>), Concerned>,
}

impl CommitNews {
    fn add(
        &mut self,
        id: i32,
        target: &Target,
        seen: Vec<Seen>,
        state: Option<&Snapshot>,
    ) -> Result<(), Halt> {
        let alone = target.projects().then_some(id);
        for seen in seen {
            let concerned = self.documents.entry((seen.key.clone(), alone)).or_default();
            concerned.add(id, target, seen, state)?;
        }
        Ok(())
    }
}

/// A document that was seen in `state`.
fn read(key: &Bytes, state: Option<&Snapshot>) -> Result<Option<Record>, Halt> {
    // Without a state nobody can say what the document was: the target starts over.
    let state = state.ok_or(Halt::Lost)?;
    let record = state.get(key);
    state.check().map_err(|error| Halt::Ended(Error::Commit(error.into()).into()))?;
    Ok(record)
}

/// Which targets a changed document concerns.
#[derive(Default)]
struct Concerned {
    record: Option<Record>,
    inside: Vec<i32>,
    left: Vec<i32>,
    /// The fields, where the targets do not have all of them.
    projected: Option<Bytes>,
}

impl Concerned {
    fn add(
        &mut self,
        id: i32,
        target: &Target,
        seen: Seen,
        state: Option<&Snapshot>,
    ) -> Result<(), Halt> {
        self.record = match seen.content {
            Content::Here(record) => Some(record),
            Content::Stored => read(&seen.key, state)?,
            Content::Missing => None,
        };
        self.projected = self.record.as_ref().and_then(|record| target.project(&record.value));
        if seen.inside { &mut self.inside } else { &mut self.left }.push(id);
        Ok(())
    }
}

impl ListenStream {
    /// Shows the targets everything up to `version`.
    pub(super) async fn catch_up(&mut self, version: Version) -> Result<(), Halt> {
        while self.follower.version() < version {
            match self.follower.try_next() {
                Some(Followed::Commits(commits)) => self.pending.extend(commits),
                Some(Followed::Lagged) => return Err(Halt::Lost),
                None => break,
            }
        }
        self.follow_pending(Some(version)).await
    }

    /// Shows the targets the pending commits, up to `last` if it is given.
    pub(super) async fn follow_pending(&mut self, last: Option<Version>) -> Result<(), Halt> {
        while let Some(commit) = self.pending.front().cloned() {
            if last.is_some_and(|last| commit.version > last) {
                break;
            }
            self.pending.pop_front();
            self.follow_commit(&commit).await?;
        }
        Ok(())
    }

    async fn follow_commit(&mut self, commit: &Commit) -> Result<(), Halt> {
        self.recheck_after(commit).await?;
        let mut news = CommitNews::default();
        let mut behind = Vec::new();
        for (id, target) in &mut self.targets {
            match target.follow(commit) {
                Some(seen) => news.add(*id, target, seen, None)?,
                None => behind.push(*id),
            }
        }
        if !behind.is_empty() {
            let after = self.database.snapshot_at(commit.time).map_err(|_| Halt::Lost)?;
            for id in behind {
                let Some(target) = self.targets.remove(&id) else { continue };
                let (target, seen) = target::show(target, after.clone()).await?;
                news.add(id, &target, seen, Some(&after))?;
                self.targets.insert(id, target);
            }
        }
        if news.documents.is_empty() {
            return Ok(());
        }
        for ((key, _), concerned) in news.documents {
            self.tell_document(&key, concerned, commit.time).await?;
        }
        self.boundary(commit.time).await
    }

    /// Sends every target whole: what happened in between is no longer known.
    pub(super) async fn start_over(&mut self) -> Result<(), Halt> {
        let now = self.database.snapshot();
        self.follower.skip_to(now.version());
        self.pending.clear();
        if self.targets.is_empty() {
            return Ok(());
        }
        let read_time = now.time();
        for id in self.targets.keys().copied().collect::<Vec<_>>() {
            let Some(target) = self.targets.remove(&id) else { continue };
            self.tell(TargetEvent::Reset(id)).await?;
            let (target, seen) = target::start(target.reset(), None, now.clone()).await?;
            self.tell_start(id, &target, seen, &now).await?;
            self.targets.insert(id, target);
        }
        self.boundary(read_time).await
    }

    /// Tells a target's first state, and that it is complete.
    pub(super) async fn tell_start(
        &self,
        id: i32,
        target: &Target,
        seen: Vec<Seen>,
        state: &Snapshot,
    ) -> Result<(), Halt> {
        let read_time = state.time();
        for seen in seen {
            let key = seen.key.clone();
            let mut concerned = Concerned::default();
            concerned.add(id, target, seen, Some(state))?;
            self.tell_document(&key, concerned, read_time).await?;
        }
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Current { id, token, read_time }).await
    }

    /// Tells that everything up to `read_time` has been told.
    pub(super) async fn boundary(&mut self, read_time: UnixMicros) -> Result<(), Halt> {
        self.heartbeat.reset();
        let token = token::encode(self.suite, read_time);
        self.tell(TargetEvent::Boundary { token, read_time }).await
    }

    async fn tell_document(
        &self,
        key: &Bytes,
        concerned: Concerned,
        read_time: UnixMicros,
    ) -> Result<(), Halt> {
        let Some(path) = key::parse(key) else { return Ok(()) };
        let name = self.name.document(path);
        let Concerned { record, inside, left, projected } = concerned;
        let event = match record {
            Some(record) => {
                let fields = projected.unwrap_or_else(|| record.value.clone());
                let room = self.room(fields.len()).await?;
                let document = Document { name, record, fields };
                Event::Changed { document, targets: inside, removed: left, room }
            }
            None => Event::Deleted { name, removed: left, read_time },
        };
        self.out.send(event).await.map_err(|_| Halt::Gone)
    }
}

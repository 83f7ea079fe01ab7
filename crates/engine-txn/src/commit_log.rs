//! The commit log: the newest commits with what they changed, in a bounded ring.

use std::collections::VecDeque;
use std::sync::Arc;

use engine_store::{Change, Commit, Snapshot, UnixMicros, Version};
use parking_lot::Mutex;
use thiserror::Error;

use crate::limits::Limits;

/// The log no longer holds every commit after the version asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the commit log no longer reaches back that far")]
pub struct Lagged;

/// The newest commits of one database, bounded by count and by bytes. Commits that changed nothing
/// are not in it.
#[derive(Debug)]
pub struct CommitLog {
    ring: Mutex<Ring>,
}

#[derive(Debug)]
struct Ring {
    // INVARIANT: versions are consecutive and the last one is `newest`.
    commits: VecDeque<Arc<Commit>>,
    newest: Version,
    bytes: usize,
    commits_max: usize,
    bytes_max: usize,
    /// The time of the newest commit that is no longer held: the oldest time that can be shown.
    forgotten: Option<UnixMicros>,
}

impl CommitLog {
    pub(crate) fn new(
        limits: &Limits,
        newest: Version,
        forgotten: Option<UnixMicros>,
    ) -> CommitLog {
        let ring = Ring {
            commits: VecDeque::new(),
            newest,
            bytes: 0,
            commits_max: limits.log_commits_max,
            bytes_max: limits.log_bytes_max,
            forgotten,
        };
        CommitLog { ring: Mutex::new(ring) }
    }

    /// The version of the newest commit.
    pub fn newest(&self) -> Version {
        self.ring.lock().newest
    }

    /// All commits after `version`, oldest first.
    ///
    /// # Errors
    /// [`Lagged`] when some of them are gone.
    pub fn since(&self, version: Version) -> Result<Vec<Arc<Commit>>, Lagged> {
        self.since_limited(version, usize::MAX)
    }

    /// Up to `len_max` commits after `version`, oldest first.
    ///
    /// # Errors
    /// [`Lagged`] when some of them are gone.
    pub fn since_limited(
        &self,
        version: Version,
        len_max: usize,
    ) -> Result<Vec<Arc<Commit>>, Lagged> {
        let ring = self.ring.lock();
        let skipped = ring.position(version)?;
        Ok(ring.commits.iter().skip(skipped).take(len_max).cloned().collect())
    }

    /// The commits after `from` up to and including `to`, oldest first.
    pub(crate) fn between(&self, from: Version, to: Version) -> Result<Vec<Arc<Commit>>, Lagged> {
        let len = to.get().saturating_sub(from.get());
        self.since_limited(from, usize::try_from(len).unwrap_or(usize::MAX))
    }

    /// The commits of `head` that are later than `time`, newest first.
    pub(crate) fn later_than(
        &self,
        time: UnixMicros,
        head: &Snapshot,
    ) -> Result<Vec<Arc<Commit>>, Lagged> {
        let ring = self.ring.lock();
        if ring.forgotten.is_some_and(|forgotten| time < forgotten) {
            return Err(Lagged);
        }
        let held = ring.commits.iter().rev().skip_while(|commit| commit.version > head.version());
        Ok(held.take_while(|commit| commit.time > time).cloned().collect())
    }

    /// Adds the newest commit, and lets go of the oldest ones until the bounds hold.
    pub(crate) fn push(&self, commit: Arc<Commit>) {
        let mut ring = self.ring.lock();
        debug_assert_eq!(commit.version, ring.newest.next(), "commits are logged in order");
        ring.newest = commit.version;
        ring.bytes += size(&commit);
        ring.commits.push_back(commit);
        while ring.is_too_large() {
            let Some(oldest) = ring.commits.pop_front() else { break };
            ring.bytes -= size(&oldest);
            ring.forgotten = Some(oldest.time);
        }
    }

    /// Goes on after a commit whose changes are not listed: nothing before it can be followed any more.
    /// Answers what was held, to be freed.
    pub(crate) fn forget(&self, commit: &Commit) -> VecDeque<Arc<Commit>> {
        let mut ring = self.ring.lock();
        ring.newest = commit.version;
        ring.bytes = 0;
        ring.forgotten = Some(commit.time);
        std::mem::take(&mut ring.commits)
    }
}

impl Ring {
    /// The newest commit is kept where it alone is the most that a commit can be: twice the bound, so that
    /// followers who keep up are never left behind by it.
    fn is_too_large(&self) -> bool {
        let bytes_max = match self.commits.len() {
            1 => self.bytes_max.saturating_mul(2),
            _ => self.bytes_max,
        };
        self.commits.len() > self.commits_max || self.bytes > bytes_max
    }

    /// How many of the held commits are at or before `version`.
    fn position(&self, version: Version) -> Result<usize, Lagged> {
        let wanted = self.newest.get().saturating_sub(version.get());
        let wanted = usize::try_from(wanted).map_err(|_| Lagged)?;
        self.commits.len().checked_sub(wanted).ok_or(Lagged)
    }
}

fn size(commit: &Commit) -> usize {
    size_of::<Commit>() + commit.changes.iter().map(Change::size).sum::<usize>()
}

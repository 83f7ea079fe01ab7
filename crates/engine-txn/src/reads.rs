//! What was read: by a transaction, by the plan of a commit; and whether it is still true.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use engine_store::{Change, Commit, KeyRange, Record, Snapshot, UnixMicros, Version};

use crate::commit_log::CommitLog;
use crate::error::Conflict;

/// Which entries of a range a read depends on. It must be pure and quick: commits call it.
pub type Matches = Arc<dyn Fn(&[u8], &Record) -> bool + Send + Sync>;

/// What a transaction is about to read.
#[derive(Clone)]
pub enum ReadScope {
    /// These keys.
    Keys(Vec<Bytes>),
    /// The entries of a range that match. A change to, or the coming or going of, such an entry is a
    /// conflict; other changes in the range are not.
    Range(KeyRange, Matches),
}

impl fmt::Debug for ReadScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ReadScope::Keys(keys) => f.debug_tuple("Keys").field(keys).finish(),
            ReadScope::Range(range, _) => f.debug_tuple("Range").field(range).finish(),
        }
    }
}

/// The keys and ranges that were read, all true of one version.
#[derive(Default)]
pub(crate) struct ReadSet {
    /// When each key's value had last changed, as seen.
    keys: BTreeMap<Bytes, Option<UnixMicros>>,
    ranges: Vec<(KeyRange, Matches)>,
}

impl ReadSet {
    pub(crate) fn len(&self) -> usize {
        self.keys.len() + self.ranges.len()
    }

    /// Whether no more than `len_max` keys and ranges are read with `scope`.
    pub(crate) fn has_room_for(&self, scope: &ReadScope, len_max: usize) -> bool {
        let room = len_max.saturating_sub(self.len());
        match scope {
            ReadScope::Range(..) => room > 0,
            ReadScope::Keys(keys) => {
                // Only near the bound it matters which keys are known already.
                keys.len() <= room || {
                    let new = keys.iter().filter(|key| !self.keys.contains_key(*key));
                    new.collect::<BTreeSet<_>>().len() <= room
                }
            }
        }
    }

    /// Notes that `scope` is read from `snapshot`.
    pub(crate) fn add(&mut self, scope: ReadScope, snapshot: &Snapshot) {
        match scope {
            ReadScope::Keys(keys) => {
                for key in keys {
                    let seen = snapshot.updated(&key);
                    self.keys.insert(key, seen);
                }
            }
            ReadScope::Range(range, matches) => self.ranges.push((range, matches)),
        }
    }

    /// Whether everything read at version `from` is the same in `head`.
    pub(crate) fn check(
        &self,
        from: Version,
        head: &Snapshot,
        log: &CommitLog,
    ) -> Result<(), Conflict> {
        if from == head.version() || self.len() == 0 {
            return Ok(());
        }
        let Ok(commits) = log.between(from, head.version()) else {
            // The keys can still be looked up; what passed through a range cannot.
            self.check_keys(head)?;
            return if self.ranges.is_empty() { Ok(()) } else { Err(Conflict::Forgotten) };
        };
        let changes_len: usize = commits.iter().map(|commit| commit.changes.len()).sum();
        if self.keys.len() <= changes_len {
            self.check_keys(head)?;
        } else {
            self.check_changed_keys(&commits, head)?;
        }
        self.check_ranges(&commits)
    }

    fn check_keys(&self, head: &Snapshot) -> Result<(), Conflict> {
        match self.keys.iter().find(|(key, seen)| head.updated(key) != **seen) {
            Some((key, _)) => Err(Conflict::Key(key.clone())),
            None => Ok(()),
        }
    }

    fn check_changed_keys(&self, commits: &[Arc<Commit>], head: &Snapshot) -> Result<(), Conflict> {
        let differs = |change: &&Change| {
            self.keys.get(&change.key).is_some_and(|seen| head.updated(&change.key) != *seen)
        };
        match commits.iter().flat_map(|commit| &commit.changes).find(differs) {
            Some(change) => Err(Conflict::Key(change.key.clone())),
            None => Ok(()),
        }
    }

    fn check_ranges(&self, commits: &[Arc<Commit>]) -> Result<(), Conflict> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        let touches = |change: &&Change| {
            self.ranges.iter().any(|(range, matches)| {
                let matched = |record: &Option<Record>| {
                    record.as_ref().is_some_and(|record| matches(&change.key, record))
                };
                range.contains(&change.key) && (matched(&change.before) || matched(&change.after))
            })
        };
        match commits.iter().flat_map(|commit| &commit.changes).find(touches) {
            Some(change) => Err(Conflict::Range(change.key.clone())),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for ReadSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadSet")
            .field("keys", &self.keys)
            .field("ranges_len", &self.ranges.len())
            .finish()
    }
}

/// The state a plan reads. Every key got from it is checked again when the plan is committed.
#[derive(Debug)]
pub struct Reads {
    snapshot: Snapshot,
    seen: ReadSet,
    /// What was got, so that the commit need not look it up again.
    got: HashMap<Bytes, Option<Record>>,
}

impl Reads {
    pub(crate) fn new(snapshot: Snapshot) -> Reads {
        Reads { snapshot, seen: ReadSet::default(), got: HashMap::new() }
    }

    /// The record of `key`. If it has changed when the plan is committed, the plan runs again.
    pub fn get(&mut self, key: &Bytes) -> Option<Record> {
        let record = self.snapshot.get(key);
        self.seen.keys.insert(key.clone(), record.as_ref().map(|record| record.updated));
        self.got.insert(key.clone(), record.clone());
        record
    }

    /// The record of `key` where it was got: `Some(None)` where there was none.
    pub(crate) fn got(&self, key: &[u8]) -> Option<Option<Record>> {
        self.got.get(key).cloned()
    }

    /// Notes a read of `scope`, for a plan that walks [`Reads::snapshot`] itself.
    pub fn note(&mut self, scope: ReadScope) {
        self.seen.add(scope, &self.snapshot);
    }

    /// The state itself; what is read from it is not checked unless noted.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// What was read, and at which version. Lets go of the snapshot, so that the commit that follows
    /// can change the map in place.
    pub(crate) fn finish(self) -> (ReadSet, Version) {
        (self.seen, self.snapshot.version())
    }
}

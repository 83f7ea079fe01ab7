//! TTL policies: documents whose time has come by the suite's clock are deleted, as a client would delete them.
//!
//! A thread looks once a second while there is a policy. What was written since the last look is read from the
//! commit log, so that a look costs what was written; documents are found by the index of their field, in order
//! of time. Whoever moves the clock looks at once.

use std::collections::HashMap;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use base_env::{Env, UnixMicros};
use base_status::Status;
use base_value::codec::{self, Scalar};
use base_value::{DatabaseName, FieldPath, ParentPath, Timestamp, Value, key};
use bytes::Bytes;
use engine_query::{FieldOp, Filter, From, Indexer, Prepared, Query};
use engine_store::{Commit, Record, Snapshot, Version, WriteBatch};
use engine_txn::{CommitError, Database};
use parking_lot::{Condvar, Mutex};
use svc_kit::Log;

use crate::databases::Databases;
use crate::error::Error;
use crate::indexes::{Preparer, TtlPolicy};
use crate::limits::{TTL_COMMIT_MAX, TTL_FOUND_MAX, TTL_INTERVAL};

/// The year 1, before which there are no times.
const FIRST_SECOND: i64 = -62_135_596_800;

/// Carries out the policies of one suite.
pub(crate) struct Sweeper {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Shared {
    env: Env,
    log: Log,
    databases: Arc<Databases>,
    preparer: Arc<Preparer>,
    signal: Mutex<Signal>,
    changed: Condvar,
    /// What is known of each policy. Held while one looks.
    known: Mutex<HashMap<(DatabaseName, TtlPolicy), Known>>,
}

#[derive(Default)]
struct Signal {
    woken: bool,
    ending: bool,
}

/// What is known of a policy's documents.
#[derive(Clone, Copy)]
struct Known {
    /// The version up to which it is known.
    seen: Version,
    /// When the first of them ends, if any does. It may have been changed since, so that none does then.
    due: Option<UnixMicros>,
}

impl Sweeper {
    /// Looks from now on, if there is a policy.
    pub(crate) fn new(
        env: Env,
        log: Log,
        databases: Arc<Databases>,
        preparer: Arc<Preparer>,
    ) -> Sweeper {
        let shared = Shared {
            env,
            log,
            databases,
            preparer,
            signal: Mutex::default(),
            changed: Condvar::new(),
            known: Mutex::default(),
        };
        let sweeper = Sweeper { shared: Arc::new(shared), thread: Mutex::default() };
        sweeper.wake();
        sweeper
    }

    /// Looks soon, as there may be a new policy.
    pub(crate) fn wake(&self) {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            if !self.shared.preparer.has_ttl() || self.shared.signal.lock().ending {
                return;
            }
            let shared = Arc::clone(&self.shared);
            match base_env::thread::spawn("firestore-ttl", move || shared.run()) {
                Ok(started) => *thread = Some(started),
                Err(error) => {
                    let text = format!("no thread for TTL policies, so nothing expires: {error}");
                    self.shared.log.warn("firestore", &text);
                }
            }
        }
        self.shared.signal.lock().woken = true;
        self.shared.changed.notify_one();
    }

    /// Deletes what has ended by now. Everything that was committed before counts.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn sweep(&self) -> Result<(), Status> {
        self.shared.sweep()
    }

    /// Ends the thread, and waits for it.
    pub(crate) fn end(&self) {
        self.shared.signal.lock().ending = true;
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.lock().take() {
            // It has no result, and a panic in it has been reported.
            let _ended = thread.join();
        }
    }
}

impl Drop for Sweeper {
    fn drop(&mut self) {
        self.end();
    }
}

impl Shared {
    fn run(&self) {
        let mut failing = false;
        loop {
            let wait = self.wait();
            {
                let mut signal = self.signal.lock();
                if !signal.woken && !signal.ending {
                    self.changed.wait_for(&mut signal, wait);
                }
                if signal.ending {
                    return;
                }
                signal.woken = false;
            }
            match self.sweep() {
                Ok(()) => failing = false,
                Err(_) if failing => {}
                Err(status) => {
                    failing = true;
                    let text = format!("expired documents are not deleted: {}", status.message);
                    self.log.warn("firestore", &text);
                }
            }
        }
    }

    /// How long nothing is due.
    fn wait(&self) -> Duration {
        let known = self.known.lock();
        let next = known.values().filter_map(|known| known.due).min();
        let until = next.map_or(TTL_INTERVAL, |due| due.since(self.env.now()));
        // What cannot be deleted is not tried without end.
        until.clamp(Duration::from_millis(10), TTL_INTERVAL)
    }

    fn sweep(&self) -> Result<(), Status> {
        if !self.preparer.has_ttl() {
            return Ok(());
        }
        let mut known = self.known.lock();
        let mut left = HashMap::new();
        let mut failed = Ok(());
        for (name, database) in self.databases.all() {
            let definitions = self.preparer.definitions(&name);
            for policy in definitions.ttl() {
                let at = (name.clone(), policy.clone());
                let sweep = Sweep {
                    signal: &self.signal,
                    database: &database,
                    name: &name,
                    policy,
                    indexer: definitions.indexer(),
                    now: self.env.now(),
                };
                let before = known.remove(&at);
                let looked = sweep.look(before);
                match looked {
                    Ok(after) => drop(left.insert(at, after)),
                    Err(error) => {
                        left.extend(before.map(|before| (at, before)));
                        failed = failed.and(Err(Status::from(error)));
                    }
                }
            }
        }
        *known = left;
        failed
    }
}

/// One look at one policy.
struct Sweep<'a> {
    signal: &'a Mutex<Signal>,
    database: &'a Database,
    name: &'a DatabaseName,
    policy: &'a TtlPolicy,
    indexer: &'a Indexer,
    now: UnixMicros,
}

impl Sweep<'_> {
    /// Deletes what is due, where something is. What comes meanwhile is left to the next look, so that this
    /// one ends whatever clients write.
    fn look(&self, known: Option<Known>) -> Result<Known, Error> {
        let known = match known.and_then(|known| self.follow(known)) {
            Some(known) => known,
            None => self.earliest()?,
        };
        if known.due.is_none_or(|due| due > self.now) {
            return Ok(known);
        }
        self.delete_due()?;
        self.earliest()
    }

    /// Adds what was written since; `None` where that is no longer known.
    fn follow(&self, known: Known) -> Option<Known> {
        let log = self.database.log();
        if log.newest() == known.seen {
            return Some(known);
        }
        let commits = log.since(known.seen).ok()?;
        let written = commits.iter().filter_map(|commit| self.first_of(commit)).min();
        let due = known.due.into_iter().chain(written).min();
        Some(Known { seen: commits.last().map_or(known.seen, |commit| commit.version), due })
    }

    /// When the first document ends that a commit has written.
    fn first_of(&self, commit: &Commit) -> Option<UnixMicros> {
        let written = commit.changes.iter().filter_map(|change| {
            let record = change.after.as_ref()?;
            let time = time(record, &self.policy.field)?;
            let path = key::parse(&change.key)?;
            (path.collection_id() == self.policy.collection_id).then_some(time)
        });
        written.min()
    }

    /// When the first document ends of all there are.
    fn earliest(&self) -> Result<Known, Error> {
        let snapshot = self.database.snapshot();
        let first = Timestamp { seconds: FIRST_SECOND, nanos: 0 };
        let (rows, _) = self.find(&snapshot, first, None, 1)?;
        let due = rows.first().map(|(_, time)| *time);
        Ok(Known { seen: snapshot.version(), due })
    }

    /// Deletes everything that is due, in commits of bounded size.
    fn delete_due(&self) -> Result<(), Error> {
        let mut start = Timestamp { seconds: FIRST_SECOND, nanos: 0 };
        loop {
            let snapshot = self.database.snapshot();
            let end = Some(Timestamp::from_micros(self.now.0));
            let (found, unfolded) = self.find(&snapshot, start, end, TTL_FOUND_MAX)?;
            drop(snapshot);
            crate::ops::fold_if_many(self.database, unfolded);
            for part in found.chunks(TTL_COMMIT_MAX) {
                // Nobody who stops a suite waits for a million documents. The next suite goes on with them.
                if self.signal.lock().ending {
                    return Ok(());
                }
                self.delete(part)?;
            }
            match found.last() {
                // The entries of what is gone are not passed again. What has come there is found by the next look.
                Some((_, last)) if found.len() >= TTL_FOUND_MAX as usize => {
                    start = Timestamp::from_micros(last.0);
                }
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn delete(&self, found: &[(Bytes, UnixMicros)]) -> Result<(), Error> {
        self.database.commit(None, |reads, _time| {
            let mut batch = WriteBatch::new();
            for (key, _) in found {
                // Somebody may have put it off meanwhile.
                let time = reads.get(key).and_then(|record| time(&record, &self.policy.field));
                if time.is_some_and(|time| time <= self.now) {
                    batch.delete(key.clone());
                }
            }
            Ok::<_, CommitError>((batch, ()))
        })?;
        Ok(())
    }

    /// Documents of the collection group between two times, in order of their time, and how many of those that were looked at
    /// are outside of the indexes.
    fn find(
        &self,
        snapshot: &Snapshot,
        start: Timestamp,
        end: Option<Timestamp>,
        limit: u32,
    ) -> Result<(Vec<(Bytes, UnixMicros)>, usize), Error> {
        let from = From::Group(self.policy.collection_id.clone());
        let bound = |op, time| Filter::field(self.policy.field.clone(), op, Value::Timestamp(time));
        let start = bound(FieldOp::GreaterThanOrEqual, start);
        let end = end.map(|end| bound(FieldOp::LessThanOrEqual, end));
        let query = Query {
            filter: Some(Filter::and(end.into_iter().chain([start]).collect::<Vec<_>>())),
            limit: Some(limit),
            ..Query::new(ParentPath::root(), from)
        };
        let prepared = Prepared::new(self.name, query)?.with_indexer(self.indexer);
        let mut rows = prepared.run(snapshot);
        let found = rows
            .by_ref()
            .filter_map(|row| Some((row.key, time(&row.record, &self.policy.field)?)))
            .collect();
        snapshot.check().map_err(CommitError::from)?;
        Ok((found, rows.unfolded()))
    }
}

/// The time in a field. Values of other types never end a document.
fn time(record: &Record, field: &FieldPath) -> Option<UnixMicros> {
    match codec::scalar(codec::find_raw(&record.value, field)?)? {
        Scalar::Timestamp(time) => Some(UnixMicros(time.to_micros())),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

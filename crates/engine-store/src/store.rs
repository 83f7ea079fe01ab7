//! The writing side: one mutex around the newest state.

use std::fmt;

use base_env::{Env, UnixMicros};
use parking_lot::{Mutex, MutexGuard};

use crate::batch::{Op, WriteBatch};
use crate::error::StoreError;
use crate::limits::RETIRE_INLINE_LEN_MAX;
use crate::options::StoreOptions;
use crate::record::{Change, Commit, Record};
use crate::retire::Retirement;
use crate::snapshot::Snapshot;

/// One key space. Reading takes an O(1) snapshot; writing happens under one mutex, in the caller's
/// thread.
pub struct Store {
    env: Env,
    // INVARIANT: `head.time` is at or after every time given out, by a commit or a snapshot.
    head: Mutex<Snapshot>,
    retirement: Retirement,
}

/// What [`Writer::clear`] did.
#[derive(Debug)]
pub struct Cleared {
    /// The commit. Its changes are empty when there were too many to list.
    pub commit: Commit,
    /// Whether the commit's changes are complete.
    pub listed: bool,
}

impl Store {
    /// An empty store.
    pub fn new(env: Env) -> Store {
        let head = Snapshot::empty(env.now());
        Store { env, head: Mutex::new(head), retirement: Retirement::default() }
    }

    /// A store that starts with what `snapshot` shows, sharing its memory. Versions go on from its.
    pub fn from_snapshot(env: Env, snapshot: &Snapshot) -> Store {
        Store { env, head: Mutex::new(snapshot.clone()), retirement: Retirement::default() }
    }

    /// Opens a store, and finds in a kept one what was there.
    ///
    /// # Errors
    /// [`StoreError`], where the folder cannot be used.
    pub fn open(options: StoreOptions) -> Result<Store, StoreError> {
        Ok(Store::new(options.env))
    }

    /// An empty store in memory.
    pub fn memory(env: Env) -> Store {
        Store::new(env)
    }

    /// Asks for a fold soon: a query met many records that are not in the base yet.
    pub fn request_fold(&self) {}

    /// Writes everything committed so far to the disk, where it is kept there.
    ///
    /// # Errors
    /// The disk's.
    pub fn sync(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Writes everything to the disk, where it is kept there, and lets go of it. Writes are refused from
    /// now on. Doing so twice is fine.
    ///
    /// # Errors
    /// The disk's.
    pub fn close(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// Folds now, and waits until everything committed before is in the base. For tests.
    ///
    /// # Errors
    /// The disk's.
    pub fn fold_now(&self) -> Result<(), StoreError> {
        Ok(())
    }

    /// The newest state, as of now: every later commit has a later time than the snapshot's.
    pub fn snapshot(&self) -> Snapshot {
        let mut head = self.head.lock();
        head.time = head.time.max(self.env.now());
        head.clone()
    }

    /// The right to write, held by one caller at a time. Never hold it across an await, and never call
    /// the store again while holding it.
    pub fn writer(&self) -> Writer<'_> {
        Writer {
            retired: Retired { store: self, state: None },
            head: self.head.lock(),
            store: self,
        }
    }

    /// Applies `batch` if `validate` agrees with the newest state.
    ///
    /// # Errors
    /// What `validate` says; then nothing is written.
    pub fn apply<E>(
        &self,
        validate: impl FnOnce(&Snapshot) -> Result<(), E>,
        batch: WriteBatch,
    ) -> Result<Commit, E> {
        let mut writer = self.writer();
        validate(writer.head())?;
        Ok(writer.apply(batch))
    }

    /// Frees `garbage`, which has `len` parts: here when it is small, on a thread of the store's when
    /// it is large.
    pub fn retire<T: Send + 'static>(&self, garbage: T, len: usize) {
        if len >= RETIRE_INLINE_LEN_MAX {
            self.retirement.retire(Box::new(garbage));
        }
    }

    /// Same as [`Writer::restore`].
    pub fn restore(&self, snapshot: &Snapshot) -> Commit {
        self.writer().restore(snapshot)
    }

    /// Same as [`Writer::clear`].
    pub fn clear(&self, changes_len_max: usize) -> Cleared {
        self.writer().clear(changes_len_max)
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}

/// The one writer of a store, for as long as it lives.
pub struct Writer<'a> {
    // Declared first, so that the mutex is free again before anything large is freed.
    head: MutexGuard<'a, Snapshot>,
    retired: Retired<'a>,
    store: &'a Store,
}

impl Writer<'_> {
    /// The newest state.
    pub fn head(&self) -> &Snapshot {
        &self.head
    }

    /// Applies `batch`. Where no key changes, the commit has a time of its own and no new version.
    pub fn apply(&mut self, batch: WriteBatch) -> Commit {
        let time = self.next_time();
        let head = &mut *self.head;
        let mut changes = Vec::with_capacity(batch.len());
        for (key, op) in batch.into_ops() {
            let stored = head.map.get(&key);
            let (created, value) = match op {
                Op::Put(value) => match stored {
                    Some(record) if record.value == value => continue,
                    Some(record) => (record.created, value),
                    None => (time, value),
                },
                Op::Recreate(value) => (time, value),
                Op::Delete => {
                    if let Some(before) = head.map.remove(&key) {
                        changes.push(Change { key, before: Some(before), after: None });
                    }
                    continue;
                }
            };
            let after = Record { created, updated: time, value };
            let before = head.map.insert(key.clone(), after.clone());
            changes.push(Change { key, before, after: Some(after) });
        }
        self.finish(time, changes)
    }

    /// Makes the store hold what `snapshot` shows. Every key whose value differs is a change of this
    /// one commit and gets its time as `updated` (so that times never go back for who has seen newer
    /// ones); `created` is as in the snapshot. Costs as much as the two states differ.
    pub fn restore(&mut self, snapshot: &Snapshot) -> Commit {
        self.head.time = self.head.time.max(snapshot.time);
        let time = self.next_time();
        let differing = self.head.differing(snapshot);
        let map = &mut self.head.map;
        let mut changes = Vec::with_capacity(differing.len());
        for (key, target) in differing {
            let after = target.map(|record| Record { updated: time, ..record });
            let before = match &after {
                Some(record) => map.insert(key.clone(), record.clone()),
                None => map.remove(&key),
            };
            changes.push(Change { key, before, after });
        }
        self.finish(time, changes)
    }

    /// Removes every key. Up to `changes_len_max` keys are listed as changes; above that nothing is
    /// listed, and the cost does not depend on how many there are.
    pub fn clear(&mut self, changes_len_max: usize) -> Cleared {
        let time = self.next_time();
        let empty = Snapshot { version: self.head.version, ..Snapshot::empty(time) };
        let old = self.retired.state.insert(std::mem::replace(&mut *self.head, empty));
        let listed = old.len() <= changes_len_max;
        if listed {
            let deleted = old.map.iter().map(|(key, record)| Change {
                key: key.clone(),
                before: Some(record.clone()),
                after: None,
            });
            let changes = deleted.collect();
            return Cleared { commit: self.finish(time, changes), listed };
        }
        self.head.version = self.head.version.next();
        let commit = Commit { version: self.head.version, time, changes: Vec::new() };
        Cleared { commit, listed }
    }

    fn next_time(&self) -> UnixMicros {
        let after_last = UnixMicros(self.head.time.0.saturating_add(1));
        self.store.env.now().max(after_last)
    }

    fn finish(&mut self, time: UnixMicros, changes: Vec<Change>) -> Commit {
        if !changes.is_empty() {
            self.head.version = self.head.version.next();
        }
        self.head.time = time;
        Commit { version: self.head.version, time, changes }
    }
}

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("head", &*self.head).finish_non_exhaustive()
    }
}

/// A state that was replaced, freed when the writer has let go of the mutex.
struct Retired<'a> {
    store: &'a Store,
    state: Option<Snapshot>,
}

impl Drop for Retired<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            let len = state.len();
            self.store.retire(state, len);
        }
    }
}

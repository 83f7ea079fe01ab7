//! The registry of transactions: which are open, what they read, how the others ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};

use base_env::Env;
use engine_store::{Snapshot, UnixMicros};
use parking_lot::Mutex;

use crate::commit_log::CommitLog;
use crate::error::{Finish, TxnError};
use crate::id::TxnId;
use crate::limits::{Limits, SWEEP_INTERVAL};
use crate::reads::{ReadScope, ReadSet};

/// What kind of transaction to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begin {
    /// One that may write.
    ReadWrite {
        /// The attempt before this one, which failed.
        retry: Option<TxnId>,
    },
    /// One that only reads, from one snapshot.
    ReadOnly {
        /// The time to read at; now, if none is given.
        read_time: Option<UnixMicros>,
    },
}

/// Whether a transaction may write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TxnMode {
    /// It may.
    ReadWrite,
    /// It may not.
    ReadOnly,
}

/// What a read or a commit needs to know of an open transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) mode: TxnMode,
    /// Whether it was begun as a retry, and so takes intents.
    pub(crate) retried: bool,
}

/// The part of an open transaction that reads and a commit work on.
#[derive(Debug)]
pub(crate) struct Work {
    pub(crate) snapshot: Option<Snapshot>,
    pub(crate) reads: ReadSet,
}

#[derive(Debug)]
struct Open {
    kind: Kind,
    began: UnixMicros,
    used: UnixMicros,
    /// Whether a commit works on it.
    committing: bool,
    work: SharedWork,
}

/// Locked by a read for as long as it checks and notes, which may take reads of the disk; so never waited for
/// under the registry's lock. Empty while a commit has it.
type SharedWork = Arc<Mutex<Option<Work>>>;

#[derive(Debug, Default)]
struct Registry {
    open: BTreeMap<TxnId, Open>,
    finished: BTreeMap<TxnId, (Finish, TxnMode)>,
    /// What has ended under this lock. Freeing it may take long, so that is done after it.
    ended: Vec<SharedWork>,
}

/// The transactions that a look has found expired.
#[derive(Debug, Default)]
pub(crate) struct Expired {
    pub(crate) ids: Vec<TxnId>,
    /// What they kept, to be freed.
    pub(crate) works: Vec<SharedWork>,
}

/// The transactions of one database.
#[derive(Debug)]
pub(crate) struct Transactions {
    env: Env,
    limits: Limits,
    last_id: AtomicU64,
    /// How many are open, so that a commit sees "none" without the lock.
    open_len: AtomicUsize,
    /// When somebody last looked which have expired, in microseconds.
    swept: AtomicI64,
    registry: Mutex<Registry>,
}

impl Transactions {
    pub(crate) fn new(env: Env, limits: Limits) -> Transactions {
        Transactions {
            env,
            limits,
            last_id: AtomicU64::new(0),
            open_len: AtomicUsize::new(0),
            swept: AtomicI64::new(i64::MIN),
            registry: Mutex::default(),
        }
    }

    /// Takes the next number. Commits without a transaction take one too, as in the official emulator.
    pub(crate) fn next_id(&self) -> TxnId {
        TxnId::new(self.last_id.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Opens a transaction; `snapshot` is what a read-only one reads.
    pub(crate) fn open(&self, kind: Kind, snapshot: Option<Snapshot>) -> Result<TxnId, TxnError> {
        let now = self.env.now();
        let work = Arc::new(Mutex::new(Some(Work { snapshot, reads: ReadSet::default() })));
        let open = Open { kind, began: now, used: now, committing: false, work };
        self.locked(|registry| {
            if registry.open.len() >= self.limits.transactions_max {
                return Err(TxnError::TooMany);
            }
            let id = self.next_id();
            registry.open.insert(id, open);
            self.open_len.store(registry.open.len(), Ordering::Release);
            Ok(id)
        })
    }

    /// Ends the attempt that a new transaction retries. Says whether it was open until now.
    pub(crate) fn supersede(&self, id: TxnId) -> Result<bool, TxnError> {
        self.locked(|registry| {
            if let Some(open) = registry.open.get(&id) {
                if open.kind.mode == TxnMode::ReadOnly {
                    return Err(TxnError::RetryReadOnly);
                }
                self.finish_in(registry, id, Finish::RolledBack);
                return Ok(true);
            }
            match registry.finished.get(&id) {
                Some((_, TxnMode::ReadOnly)) => Err(TxnError::RetryReadOnly),
                Some((_, TxnMode::ReadWrite)) => Ok(false),
                None if self.was_given_out(id) => Ok(false),
                None => Err(TxnError::Unknown),
            }
        })
    }

    /// What kind of transaction `id` is, if it is open. Counts as a use of it.
    pub(crate) fn touch(&self, id: TxnId) -> Result<Kind, TxnError> {
        self.locked(|registry| self.open_mut(registry, id).map(|open| open.kind))
    }

    /// The snapshot that `id` reads `scope` from, noted in its read set. `head` is the newest state.
    pub(crate) fn read(
        &self,
        id: TxnId,
        scope: ReadScope,
        head: impl FnOnce() -> Snapshot,
        log: &CommitLog,
    ) -> Result<Snapshot, TxnError> {
        let (kind, work) = self.locked(|registry| {
            let open = self.open_mut(registry, id);
            open.map(|open| (open.kind, Arc::clone(&open.work)))
        })?;
        // The reads of one transaction wait for each other, and hold nobody else up.
        let mut work = work.lock();
        let Some(work) = work.as_mut() else {
            return Err(TxnError::Finished(Finish::Committed));
        };
        let is_noted = kind.mode == TxnMode::ReadWrite;
        if is_noted && !work.reads.has_room_for(&scope, self.limits.reads_max) {
            return Err(TxnError::TooManyReads);
        }
        let snapshot = match work.snapshot.take() {
            Some(current) if is_noted => {
                // The transaction may have waited for its turn since its first read. Where nothing it
                // read has changed, it moves on to the newest state, which is just as true of the
                // earlier reads and lets it commit.
                let head = head();
                let same = work.reads.check(current.version(), &head, log).is_ok();
                if same { head } else { current }
            }
            Some(current) => current,
            None => head(),
        };
        work.snapshot = Some(snapshot.clone());
        if is_noted {
            work.reads.add(scope, &snapshot);
        }
        Ok(snapshot)
    }

    /// Takes the work of `id` out, to commit it. Until it is finished or put back nobody else can use it.
    pub(crate) fn check_out(&self, id: TxnId) -> Result<(Kind, Work), TxnError> {
        let (kind, shared) = self.locked(|registry| {
            let open = self.open_mut(registry, id)?;
            if open.committing {
                return Err(TxnError::Finished(Finish::Committed));
            }
            open.committing = true;
            Ok((open.kind, Arc::clone(&open.work)))
        })?;
        // A read that came before ends first, and is part of what the commit checks.
        let work = shared.lock().take();
        work.map(|work| (kind, work)).ok_or(TxnError::Finished(Finish::Committed))
    }

    /// Gives the work of `id` back after a commit that did not happen.
    pub(crate) fn put_back(&self, id: TxnId, work: Work) {
        let ended = self.locked(|registry| match registry.open.get_mut(&id) {
            Some(open) => {
                // Whoever else takes this lock finds nothing there, and lets go at once.
                *open.work.lock() = Some(work);
                open.committing = false;
                None
            }
            None => Some(work),
        });
        drop(ended);
    }

    /// Ends `id`.
    pub(crate) fn finish(&self, id: TxnId, how: Finish) {
        self.locked(|registry| self.finish_in(registry, id, how));
    }

    /// Ends `id` at its client's wish. Ending it twice, or after it expired or was aborted, is fine.
    pub(crate) fn roll_back(&self, id: TxnId) -> Result<(), TxnError> {
        self.locked(|registry| match self.open_mut(registry, id) {
            Ok(Open { committing: true, .. }) => Err(TxnError::Finished(Finish::Committed)),
            Ok(_) => {
                self.finish_in(registry, id, Finish::RolledBack);
                Ok(())
            }
            Err(TxnError::Finished(Finish::Committed)) => {
                Err(TxnError::Finished(Finish::Committed))
            }
            Err(TxnError::Finished(_)) => Ok(()),
            Err(error) => Err(error),
        })
    }

    /// Whether the last look at what has expired is long enough ago at `now`. Costs a commit two loads.
    pub(crate) fn is_sweep_due(&self, now: UnixMicros) -> bool {
        self.open_len.load(Ordering::Acquire) > 0
            && now.since(UnixMicros(self.swept.load(Ordering::Acquire))) >= SWEEP_INTERVAL
    }

    /// Ends what has expired.
    pub(crate) fn sweep(&self) -> Expired {
        let now = self.env.now();
        let mut registry = self.registry.lock();
        self.swept.store(now.0, Ordering::Release);
        for open in registry.open.values_mut() {
            // A machine's clock that went back makes nobody live longer.
            open.used = open.used.min(now);
            open.began = open.began.min(now);
        }
        let expired = registry.open.iter().filter(|(_, open)| self.has_expired(open, now));
        let ids: Vec<TxnId> = expired.map(|(id, _)| *id).collect();
        for id in &ids {
            self.finish_in(&mut registry, *id, Finish::Expired);
        }
        Expired { ids, works: std::mem::take(&mut registry.ended) }
    }

    fn open_mut<'a>(
        &self,
        registry: &'a mut Registry,
        id: TxnId,
    ) -> Result<&'a mut Open, TxnError> {
        let now = self.env.now();
        if registry.open.get(&id).is_some_and(|open| self.has_expired(open, now)) {
            self.finish_in(registry, id, Finish::Expired);
        }
        match registry.open.get_mut(&id) {
            Some(open) => {
                open.used = now;
                Ok(open)
            }
            None => Err(match registry.finished.get(&id) {
                Some((how, _)) => TxnError::Finished(*how),
                None if self.was_given_out(id) => TxnError::Finished(Finish::Expired),
                None => TxnError::Unknown,
            }),
        }
    }

    fn has_expired(&self, open: &Open, now: UnixMicros) -> bool {
        // One that is being committed is about to end as the commit says.
        !open.committing
            && (now.since(open.used) > self.limits.idle_max
                || now.since(open.began) > self.limits.lifetime_max)
    }

    fn was_given_out(&self, id: TxnId) -> bool {
        (1..=self.last_id.load(Ordering::Relaxed)).contains(&id.counter())
    }

    /// Does something with the registry, and frees what has ended by it when it is unlocked.
    fn locked<T>(&self, change: impl FnOnce(&mut Registry) -> T) -> T {
        let mut registry = self.registry.lock();
        let result = change(&mut registry);
        let ended = std::mem::take(&mut registry.ended);
        drop(registry);
        drop(ended);
        result
    }

    /// Ends `id`.
    fn finish_in(&self, registry: &mut Registry, id: TxnId, how: Finish) {
        let Some(open) = registry.open.remove(&id) else { return };
        self.open_len.store(registry.open.len(), Ordering::Release);
        registry.finished.insert(id, (how, open.kind.mode));
        while registry.finished.len() > self.limits.finished_max {
            registry.finished.pop_first();
        }
        registry.ended.push(open.work);
    }
}

//! The registry of transactions: which are open, what they read, how the others ended.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// The part of an open transaction that a commit works on.
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
    /// Taken out while a commit works on it.
    work: Option<Work>,
}

#[derive(Debug, Default)]
struct Registry {
    open: BTreeMap<TxnId, Open>,
    finished: BTreeMap<TxnId, (Finish, TxnMode)>,
    swept: UnixMicros,
}

/// The transactions of one database.
#[derive(Debug)]
pub(crate) struct Transactions {
    env: Env,
    limits: Limits,
    last_id: AtomicU64,
    registry: Mutex<Registry>,
}

impl Transactions {
    pub(crate) fn new(env: Env, limits: Limits) -> Transactions {
        Transactions { env, limits, last_id: AtomicU64::new(0), registry: Mutex::default() }
    }

    /// Takes the next number. Commits without a transaction take one too, as in the official emulator.
    pub(crate) fn next_id(&self) -> TxnId {
        TxnId::new(self.last_id.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Opens a transaction; `snapshot` is what a read-only one reads.
    pub(crate) fn open(&self, kind: Kind, snapshot: Option<Snapshot>) -> Result<TxnId, TxnError> {
        let now = self.env.now();
        let mut registry = self.registry.lock();
        if registry.open.len() >= self.limits.transactions_max {
            return Err(TxnError::TooMany);
        }
        let id = self.next_id();
        let work = Some(Work { snapshot, reads: ReadSet::default() });
        registry.open.insert(id, Open { kind, began: now, used: now, work });
        Ok(id)
    }

    /// Ends the attempt that a new transaction retries. Says whether it was open until now.
    pub(crate) fn supersede(&self, id: TxnId) -> Result<bool, TxnError> {
        let mut registry = self.registry.lock();
        if let Some(open) = registry.open.get(&id) {
            if open.kind.mode == TxnMode::ReadOnly {
                return Err(TxnError::RetryReadOnly);
            }
            registry.finish(id, Finish::RolledBack, &self.limits);
            return Ok(true);
        }
        match registry.finished.get(&id) {
            Some((_, TxnMode::ReadOnly)) => Err(TxnError::RetryReadOnly),
            Some((_, TxnMode::ReadWrite)) => Ok(false),
            None if self.was_given_out(id) => Ok(false),
            None => Err(TxnError::Unknown),
        }
    }

    /// What kind of transaction `id` is, if it is open. Counts as a use of it.
    pub(crate) fn touch(&self, id: TxnId) -> Result<Kind, TxnError> {
        let mut registry = self.registry.lock();
        self.open_mut(&mut registry, id).map(|open| open.kind)
    }

    /// The snapshot that `id` reads `scope` from, noted in its read set. `head` is the newest state.
    pub(crate) fn read(
        &self,
        id: TxnId,
        scope: ReadScope,
        head: impl FnOnce() -> Snapshot,
        log: &CommitLog,
    ) -> Result<Snapshot, TxnError> {
        let mut registry = self.registry.lock();
        let open = self.open_mut(&mut registry, id)?;
        let kind = open.kind;
        let Some(work) = open.work.as_mut() else {
            return Err(TxnError::Finished(Finish::Committed));
        };
        let snapshot = match work.snapshot.take() {
            Some(current) if kind.mode == TxnMode::ReadWrite => {
                // The transaction may have waited for its turn since its first read. Where nothing it read has changed, it moves on to the newest state, which is just as true of
                // the earlier reads and lets it commit.
                let head = head();
                let same = work.reads.check(current.version(), &head, log).is_ok();
                if same { head } else { current }
            }
            Some(current) => current,
            None => head(),
        };
        work.snapshot = Some(snapshot.clone());
        if kind.mode == TxnMode::ReadWrite {
            if work.reads.len() >= self.limits.reads_max {
                return Err(TxnError::TooManyReads);
            }
            work.reads.add(scope, &snapshot);
        }
        Ok(snapshot)
    }

    /// Takes the work of `id` out, to commit it. Until it is finished or put back nobody else can use it.
    pub(crate) fn check_out(&self, id: TxnId) -> Result<(Kind, Work), TxnError> {
        let mut registry = self.registry.lock();
        let open = self.open_mut(&mut registry, id)?;
        match open.work.take() {
            Some(work) => Ok((open.kind, work)),
            None => Err(TxnError::Finished(Finish::Committed)),
        }
    }

    /// Gives the work of `id` back after a commit that did not happen.
    pub(crate) fn put_back(&self, id: TxnId, work: Work) {
        if let Some(open) = self.registry.lock().open.get_mut(&id) {
            open.work = Some(work);
        }
    }

    /// Ends `id`.
    pub(crate) fn finish(&self, id: TxnId, how: Finish) {
        self.registry.lock().finish(id, how, &self.limits);
    }

    /// Ends `id` at its client's wish. Ending it twice, or after it expired or was aborted, is fine.
    pub(crate) fn roll_back(&self, id: TxnId) -> Result<(), TxnError> {
        let mut registry = self.registry.lock();
        match self.open_mut(&mut registry, id) {
            Ok(Open { work: None, .. }) => Err(TxnError::Finished(Finish::Committed)),
            Ok(_) => {
                registry.finish(id, Finish::RolledBack, &self.limits);
                Ok(())
            }
            Err(TxnError::Finished(Finish::Committed)) => {
                Err(TxnError::Finished(Finish::Committed))
            }
            Err(TxnError::Finished(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends what has expired, if the last look was long enough ago, and says which.
    pub(crate) fn sweep(&self) -> Vec<TxnId> {
        let now = self.env.now();
        let mut registry = self.registry.lock();
        if now.since(registry.swept) < SWEEP_INTERVAL {
            return Vec::new();
        }
        registry.swept = now;
        let expired = registry.open.iter().filter(|(_, open)| self.has_expired(open, now));
        let expired: Vec<TxnId> = expired.map(|(id, _)| *id).collect();
        for id in &expired {
            registry.finish(*id, Finish::Expired, &self.limits);
        }
        expired
    }

    fn open_mut<'a>(
        &self,
        registry: &'a mut Registry,
        id: TxnId,
    ) -> Result<&'a mut Open, TxnError> {
        let now = self.env.now();
        if registry.open.get(&id).is_some_and(|open| self.has_expired(open, now)) {
            registry.finish(id, Finish::Expired, &self.limits);
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
        now.since(open.used) > self.limits.idle_max
            || now.since(open.began) > self.limits.lifetime_max
    }

    fn was_given_out(&self, id: TxnId) -> bool {
        (1..=self.last_id.load(Ordering::Relaxed)).contains(&id.counter())
    }
}

impl Registry {
    fn finish(&mut self, id: TxnId, how: Finish, limits: &Limits) {
        let Some(open) = self.open.remove(&id) else { return };
        self.finished.insert(id, (how, open.kind.mode));
        while self.finished.len() > limits.finished_max {
            self.finished.pop_first();
        }
    }
}

//! The handle to one database: snapshots, transactions, restore and clear.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use base_env::Env;
use engine_store::{
    Commit, Derive, Replaced, Snapshot, Store, StoreError, StoreOptions, UnixMicros, Version,
    Writer,
};
use parking_lot::RwLock;
use tokio::sync::oneshot;

use crate::commit_log::CommitLog;
use crate::error::{Finish, ReadTimeError, TxnError};
use crate::id::TxnId;
use crate::intents::{Intents, Rank};
use crate::limits::Limits;
use crate::observer::{Listing, Observer};
use crate::reads::ReadScope;
use crate::transactions::{Begin, Expired, Kind, Transactions, TxnMode};

/// One key space with its transactions and its commit log. Clones are handles to the same one.
#[derive(Clone)]
pub struct Database {
    inner: Arc<Inner>,
}

/// The parts of a database. Locks are taken in this order: store, log; store, intents; a transaction's
/// work, store, log; and the observer after the store. The registry's is held for moments only, and nothing is
/// waited for under it. None is held across an await.
pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) log: CommitLog,
    pub(crate) transactions: Transactions,
    pub(crate) intents: Intents,
    env: Env,
    limits: Limits,
    observer: RwLock<Option<Arc<dyn Observer>>>,
}

/// What a read in a transaction reads from. It answers for the scope it was asked for and for nothing
/// else: another read of the same transaction may see a later state.
#[derive(Clone, Debug)]
pub struct TxnView {
    /// The state that the transaction sees.
    pub snapshot: Snapshot,
}

impl Database {
    /// An empty database.
    pub fn new(env: Env, limits: Limits) -> Database {
        let log = CommitLog::new(&limits, Version::ZERO, None);
        Database::with(Store::memory(env.clone()), log, env, limits)
    }

    /// Opens a database, and finds in a kept one what was there. Its history begins here: earlier times
    /// cannot be read, and nobody can follow from an earlier version.
    ///
    /// # Errors
    /// [`StoreError`], where the folder cannot be used.
    pub fn open(env: Env, limits: Limits, options: StoreOptions) -> Result<Database, StoreError> {
        let store = Store::open(StoreOptions { env: env.clone(), ..options })?;
        let found = store.snapshot();
        let forgotten = (found.version() > Version::ZERO).then(|| found.time());
        let log = CommitLog::new(&limits, found.version(), forgotten);
        Ok(Database::with(store, log, env, limits))
    }

    /// A database in memory that starts with what `snapshot` shows, sharing its memory and its base.
    pub fn fork(env: Env, limits: Limits, snapshot: &Snapshot) -> Database {
        let log = CommitLog::new(&limits, snapshot.version(), Some(snapshot.time()));
        Database::with(Store::from_snapshot(env.clone(), snapshot), log, env, limits)
    }

    fn with(store: Store, log: CommitLog, env: Env, limits: Limits) -> Database {
        let inner = Inner {
            store,
            log,
            observer: RwLock::default(),
            transactions: Transactions::new(env.clone(), limits.clone()),
            intents: Intents::new(env.clone(), &limits),
            env,
            limits,
        };
        Database { inner: Arc::new(inner) }
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.inner
    }

    /// The newest state. Its time serves as a read time: [`Database::snapshot_at`] that time shows the
    /// same, for as long as the commit log reaches back.
    pub fn snapshot(&self) -> Snapshot {
        self.inner.store.snapshot()
    }

    /// The state at `time`, exactly.
    ///
    /// # Errors
    /// [`ReadTimeError`] when the time has not come, or the commit log no longer reaches back to it.
    pub fn snapshot_at(&self, time: UnixMicros) -> Result<Snapshot, ReadTimeError> {
        let head = self.inner.store.snapshot();
        if time > head.time() {
            return Err(ReadTimeError::Future);
        }
        let later = self.inner.log.later_than(time, &head).map_err(|_| ReadTimeError::TooOld)?;
        Ok(head.undo(later.iter().map(Arc::as_ref), time))
    }

    /// The commits so far.
    pub fn log(&self) -> &CommitLog {
        &self.inner.log
    }

    /// Tells `observer` of every commit from now on, in place of whom it told before. A snapshot that is taken after
    /// this shows every commit that the observer does not hear of.
    pub fn observe(&self, observer: Option<Arc<dyn Observer>>) {
        // The one before goes away after the lock does: it may hold the last handle to much.
        let _before = std::mem::replace(&mut *self.inner.observer.write(), observer);
    }

    /// Begins a transaction.
    ///
    /// A read-write transaction takes its snapshot at its first read, a read-only one here.
    ///
    /// # Errors
    /// [`TxnError::Unknown`] and [`TxnError::RetryReadOnly`] for the attempt to retry,
    /// [`TxnError::ReadTime`], [`TxnError::TooMany`].
    pub fn begin(&self, begin: Begin) -> Result<TxnId, TxnError> {
        let inner = &*self.inner;
        self.sweep_if_due(inner.env.now());
        match begin {
            Begin::ReadWrite { retry } => {
                if let Some(failed) = retry {
                    inner.transactions.supersede(failed)?;
                    inner.intents.release(failed);
                }
                let kind = Kind { mode: TxnMode::ReadWrite, retried: retry.is_some() };
                inner.transactions.open(kind, None)
            }
            Begin::ReadOnly { read_time } => {
                let snapshot = match read_time {
                    Some(time) => self.snapshot_at(time)?,
                    None => self.snapshot(),
                };
                let kind = Kind { mode: TxnMode::ReadOnly, retried: false };
                inner.transactions.open(kind, Some(snapshot))
            }
        }
    }

    /// Whether `id` may write. Counts as a use of it.
    ///
    /// # Errors
    /// [`TxnError::Unknown`], [`TxnError::Finished`].
    pub fn txn_mode(&self, id: TxnId) -> Result<TxnMode, TxnError> {
        self.inner.transactions.touch(id).map(|kind| kind.mode)
    }

    /// Checks that `id` may write. A read-only transaction that is asked to write has ended, as in
    /// production. What else may be wrong with `id` its commit says.
    ///
    /// # Errors
    /// [`TxnError::ReadOnly`].
    pub fn check_may_write(&self, id: TxnId) -> Result<(), TxnError> {
        match self.txn_mode(id) {
            Ok(TxnMode::ReadOnly) => {
                self.inner.transactions.finish(id, Finish::Refused);
                Err(TxnError::ReadOnly)
            }
            Ok(TxnMode::ReadWrite) | Err(_) => Ok(()),
        }
    }

    /// Notes that `id` reads `scope`, and gives the state to read it from.
    ///
    /// A read-write transaction first waits for its turn on the keys, and a retried one on ranges too: not
    /// long where the queue does not move ([`Limits::intent_stall_max`]), and never longer than
    /// [`Limits::intent_wait_max`]. It sees the newest state for as long as that agrees with all it has
    /// read. A read-only one never waits and sees one snapshot. Needs a tokio runtime with time.
    ///
    /// # Errors
    /// [`TxnError::Unknown`], [`TxnError::Finished`], [`TxnError::TooManyReads`].
    pub async fn txn_read(&self, id: TxnId, scope: ReadScope) -> Result<TxnView, TxnError> {
        let inner = &*self.inner;
        let kind = inner.transactions.touch(id)?;
        if kind.mode == TxnMode::ReadWrite {
            let rank = if kind.retried { Rank::Retried } else { Rank::Fresh };
            inner.intents.acquire(id, rank, &scope).await;
        }
        let read = inner.transactions.read(id, scope, || inner.store.snapshot(), &inner.log);
        if read.is_err() {
            // It ended while it waited, perhaps before it got what it waited for.
            inner.intents.release(id);
        }
        read.map(|snapshot| TxnView { snapshot })
    }

    /// Ends a transaction without committing it. Doing so again, or after it expired or was aborted, is fine.
    ///
    /// # Errors
    /// [`TxnError::Unknown`]; [`TxnError::Finished`] when it was committed.
    pub fn rollback(&self, id: TxnId) -> Result<(), TxnError> {
        self.inner.transactions.roll_back(id)?;
        self.inner.intents.release(id);
        Ok(())
    }

    /// Ends the transactions that have expired, and lets go of what they kept. A commit and the beginning
    /// of a transaction look too, once a second; this is for whoever moves the clock.
    pub fn expire_transactions(&self) {
        let inner = &*self.inner;
        let Expired { ids, works } = inner.transactions.sweep();
        if !ids.is_empty() {
            inner.intents.release_all(&ids);
            // Each of them may hold the last handle to a large state, and this may be somebody's commit.
            inner.store.retire(works, usize::MAX);
        }
    }

    /// Same as [`Database::expire_transactions`], where at `now` the last look is long enough ago.
    pub(crate) fn sweep_if_due(&self, now: UnixMicros) {
        if self.inner.transactions.is_sweep_due(now) {
            self.expire_transactions();
        }
    }

    /// Makes the database hold what `snapshot` shows, in one commit whose changes are the difference.
    /// Versions and update times go on; see [`engine_store::Writer::restore`]. Where more than
    /// [`Limits::clear_changes_max`] keys differ, it costs the same however much there is, and the
    /// commit log starts anew, as in [`Database::clear`]; but a kept database always lists.
    ///
    /// # Errors
    /// The disk's; then nothing was changed.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<Arc<Commit>, StoreError> {
        self.replace(|writer, listed_max| writer.restore(snapshot, listed_max))
    }

    /// Removes everything, in one commit. Up to [`Limits::clear_changes_max`] keys are its changes; with
    /// more it lists none, and the commit log starts anew: followers get [`crate::Lagged`], times before it are
    /// too old, transactions that read ranges are in conflict.
    ///
    /// # Errors
    /// The disk's; then nothing was changed.
    pub fn clear(&self) -> Result<Arc<Commit>, StoreError> {
        self.replace(|writer, listed_max| writer.clear(listed_max))
    }

    fn replace(
        &self,
        replace: impl FnOnce(&mut Writer<'_>, usize) -> Result<Replaced, StoreError>,
    ) -> Result<Arc<Commit>, StoreError> {
        let mut writer = self.inner.store.writer();
        let before = writer.head().version();
        let replaced = replace(&mut writer, self.inner.limits.clear_changes_max)?;
        let commit = Arc::new(replaced.commit);
        if commit.version == before {
            return Ok(commit);
        }
        let mut forgotten = VecDeque::new();
        let listing = if replaced.listed {
            self.inner.log.push(Arc::clone(&commit));
            Listing::Complete
        } else {
            forgotten = self.inner.log.forget(&commit);
            Listing::LeftOut
        };
        let to_wake = self.tell(&commit, listing);
        drop(writer);
        if let Some(observer) = to_wake {
            observer.wake();
        }
        // Few commits may hold many changes, and each is a part to be freed.
        let parts_len = forgotten.iter().map(|commit| commit.changes.len()).sum();
        self.inner.store.retire(forgotten, parts_len);
        Ok(commit)
    }

    /// Waits until `commit` has survived what the database's durability promises: not at all, but for
    /// one that is kept and syncs each commit. Acknowledge a commit after this.
    ///
    /// # Errors
    /// The disk's. The commit is there for readers, and may be gone when the database is opened again.
    pub async fn durable(&self, commit: &Commit) -> Result<(), StoreError> {
        let store = &self.inner.store;
        if !store.syncs_commits() {
            return Ok(());
        }
        let (done, wait) = oneshot::channel();
        // Nobody listens any more when the client went away.
        store.when_durable(commit.version, move |result| drop(done.send(result)));
        wait.await.unwrap_or(Err(StoreError::Closed))
    }

    /// Same as [`Database::durable`], for a thread that may wait.
    ///
    /// # Errors
    /// As there.
    pub fn wait_durable(&self, commit: &Commit) -> Result<(), StoreError> {
        let store = &self.inner.store;
        if !store.syncs_commits() {
            return Ok(());
        }
        let (done, wait) = std::sync::mpsc::sync_channel(1);
        store.when_durable(commit.version, move |result| drop(done.send(result)));
        wait.recv().unwrap_or(Err(StoreError::Closed))
    }

    /// Derives with `derive` from now on; see [`engine_store::Store::derive_with`].
    pub fn derive_with(&self, derive: Arc<dyn Derive>) {
        self.inner.store.derive_with(derive);
    }

    /// Asks for a fold soon: a query met many records that are not in the base yet.
    pub fn request_fold(&self) {
        self.inner.store.request_fold();
    }

    /// About how much memory the records take that are not in the base yet.
    pub fn unfolded_bytes(&self) -> usize {
        self.inner.store.unfolded_bytes()
    }

    /// Everything committed before is in the base afterwards. For tests and for measuring.
    ///
    /// # Errors
    /// The disk's.
    pub fn fold_now(&self) -> Result<(), StoreError> {
        self.inner.store.fold_now()
    }

    /// Writes everything committed so far to the disk, where it is kept there.
    ///
    /// # Errors
    /// The disk's.
    pub fn sync(&self) -> Result<(), StoreError> {
        self.inner.store.sync()
    }

    /// Whether it is to be found again when it is opened the next time.
    pub fn is_kept(&self) -> bool {
        self.inner.store.is_kept()
    }

    /// Makes the files of a kept database as small as they can be; see [`engine_store::Store::compact`].
    ///
    /// # Errors
    /// The disk's.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.inner.store.compact()
    }

    /// Writes everything to the disk, where it is kept there, and lets go of it; see
    /// [`engine_store::Store::close`].
    ///
    /// # Errors
    /// The disk's.
    pub fn close(&self) -> Result<(), StoreError> {
        self.inner.store.close()
    }

    /// Tells the observer of a commit, while it is the newest. Answers who is to be woken when the mutex is free.
    pub(crate) fn tell(&self, commit: &Arc<Commit>, listing: Listing) -> Option<Arc<dyn Observer>> {
        let observer = self.inner.observer.read();
        let observer = observer.as_ref()?;
        observer.committed(commit, listing).then(|| Arc::clone(observer))
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database").field("newest", &self.inner.log.newest()).finish_non_exhaustive()
    }
}

//! The one committer: plans on a snapshot, validates under the store's mutex, applies, logs.

use std::sync::Arc;

use engine_store::{Commit, Prepared, Snapshot, UnixMicros, Version, WriteBatch, Writer};

use crate::database::Database;
use crate::error::{CommitError, Conflict, Finish, TxnError};
use crate::id::TxnId;
use crate::limits::OPTIMISTIC_TRIES_MAX;
use crate::observer::Listing;
use crate::reads::{ReadSet, Reads};
use crate::transactions::{Kind, TxnMode, Work};

/// The time a plan may use, for server timestamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlanTime {
    /// The moment of the state that the plan reads: before the time of the commit it leads to, and
    /// not before that of any earlier commit.
    pub now: UnixMicros,
}

/// Why a commit ended without being one, while it is still known which side said so.
enum Failure<E> {
    Plan(E),
    Commit(CommitError),
}

impl Database {
    /// Commits what `plan` decides on.
    ///
    /// `plan` reads the state before the commit through [`Reads`] and answers the writes and a value of
    /// its own. It runs without a lock on a snapshot; if a key it got has changed by the time of the
    /// commit it runs again, after a few times inside the commit mutex. So it must be repeatable and quick, and
    /// **must not call this database**: inside the mutex that would never return.
    ///
    /// With a transaction, everything the transaction read must be unchanged. Without one nothing is
    /// ever in conflict and nothing is waited for.
    ///
    /// A plan without writes commits nothing, is never in conflict, and gets a time like any other.
    ///
    /// # Errors
    /// Those of `plan`; then nothing was written and the transaction stays open. A [`Conflict`] ends the
    /// transaction, and so do writes in a read-only one. [`TxnError`] when it cannot be committed.
    pub fn commit<T, E: From<CommitError>>(
        &self,
        txn: Option<TxnId>,
        mut plan: impl FnMut(&mut Reads, &PlanTime) -> Result<(WriteBatch, T), E>,
    ) -> Result<(Arc<Commit>, T), E> {
        let Some(id) = txn else {
            self.inner().transactions.next_id();
            return self.attempt(None, &mut plan).map_err(|failure| match failure {
                Failure::Plan(error) => error,
                Failure::Commit(error) => error.into(),
            });
        };
        let mut open = OpenAttempt::new(self, id).map_err(CommitError::Transaction)?;
        match self.attempt(Some(&open), &mut plan) {
            Ok(committed) => {
                open.end(Finish::Committed);
                Ok(committed)
            }
            Err(Failure::Commit(CommitError::Conflict(conflict))) => {
                open.end(Finish::Aborted);
                Err(CommitError::Conflict(conflict).into())
            }
            Err(Failure::Commit(CommitError::Transaction(TxnError::ReadOnly))) => {
                open.end(Finish::Refused);
                Err(CommitError::Transaction(TxnError::ReadOnly).into())
            }
            Err(Failure::Commit(error @ (CommitError::Transaction(_) | CommitError::Store(_)))) => {
                open.put_back();
                Err(error.into())
            }
            Err(Failure::Plan(error)) => {
                open.put_back();
                Err(error)
            }
        }
    }

    fn attempt<T, E>(
        &self,
        open: Option<&OpenAttempt<'_>>,
        plan: &mut impl FnMut(&mut Reads, &PlanTime) -> Result<(WriteBatch, T), E>,
    ) -> Result<(Arc<Commit>, T), Failure<E>> {
        let inner = self.inner();
        for _ in 0..OPTIMISTIC_TRIES_MAX {
            let planned = self.run_plan(open, inner.store.snapshot(), plan)?;
            let writer = inner.store.writer();
            if planned.seen.check(planned.version, writer.head(), &inner.log).is_ok() {
                return self.settle(open, writer, planned);
            }
        }
        let writer = inner.store.writer();
        let planned = self.run_plan(open, writer.head().clone(), plan)?;
        self.settle(open, writer, planned)
    }

    /// Runs `plan` on `snapshot`, of which nothing is left afterwards: the commit that follows can then
    /// change the map in place.
    fn run_plan<T, E>(
        &self,
        open: Option<&OpenAttempt<'_>>,
        snapshot: Snapshot,
        plan: &mut impl FnMut(&mut Reads, &PlanTime) -> Result<(WriteBatch, T), E>,
    ) -> Result<Planned<T>, Failure<E>> {
        // What the transaction read is checked here for all but the last few commits, so that little is
        // left to check inside the mutex.
        let checked = open.map_or(Ok(()), |open| open.check_reads(None, &snapshot));
        let time = PlanTime { now: snapshot.time() };
        let mut reads = Reads::new(snapshot);
        match (plan(&mut reads, &time), checked) {
            (Ok((batch, _)), Err(conflict)) if !batch.is_empty() => {
                Err(Failure::Commit(conflict.into()))
            }
            (Ok((batch, answer)), _) => {
                let got = |key: &[u8]| reads.got(key);
                let batch = self.inner().store.prepare_knowing(batch, reads.snapshot(), got);
                let (seen, version) = reads.finish();
                Ok(Planned { batch, answer, seen, version })
            }
            // The plan met a state that the transaction has not seen: its error would be about that
            // state (a document it saw missing exists), where trying again is the remedy.
            (Err(_), Err(conflict)) => Err(Failure::Commit(conflict.into())),
            (Err(error), Ok(())) => Err(Failure::Plan(error)),
        }
    }

    /// Validates the transaction and applies what was planned.
    fn settle<T, E>(
        &self,
        open: Option<&OpenAttempt<'_>>,
        mut writer: Writer<'_>,
        planned: Planned<T>,
    ) -> Result<(Arc<Commit>, T), Failure<E>> {
        let Planned { batch, answer, version, .. } = planned;
        if let Some(open) = open.filter(|_| !batch.batch().is_empty()) {
            open.check_writes(version, &writer, batch.batch()).map_err(Failure::Commit)?;
        }
        let before = writer.head().version();
        let applied = writer.apply_prepared(batch);
        let commit = Arc::new(applied.map_err(|error| Failure::Commit(error.into()))?);
        if commit.version != before {
            self.inner().log.push(Arc::clone(&commit));
            let to_wake = self.tell(&commit, Listing::Complete);
            drop(writer);
            if let Some(observer) = to_wake {
                observer.wake();
            }
            // The commit's time has been read already.
            self.sweep_if_due(commit.time);
        }
        Ok((commit, answer))
    }
}

/// What a plan decided on, what it read, and the version it read.
struct Planned<T> {
    batch: Prepared,
    answer: T,
    seen: ReadSet,
    version: Version,
}

/// A transaction that is being committed. It ends when this is dropped without having been ended or put
/// back, as a panic in a plan would do.
struct OpenAttempt<'a> {
    database: &'a Database,
    id: TxnId,
    kind: Kind,
    work: Option<Work>,
}

impl<'a> OpenAttempt<'a> {
    fn new(database: &'a Database, id: TxnId) -> Result<OpenAttempt<'a>, TxnError> {
        let (kind, work) = database.inner().transactions.check_out(id)?;
        Ok(OpenAttempt { database, id, kind, work: Some(work) })
    }

    /// Whether all that the transaction read is the same in `head`, where it is known to have been so
    /// up to `from`, or else up to its own snapshot.
    fn check_reads(&self, from: Option<Version>, head: &Snapshot) -> Result<(), Conflict> {
        let Some(Work { snapshot: Some(snapshot), reads }) = &self.work else { return Ok(()) };
        reads.check(from.unwrap_or(snapshot.version()), head, &self.database.inner().log)
    }

    /// Whether the transaction may write `batch` now. Its reads were checked up to version `from`.
    fn check_writes(
        &self,
        from: Version,
        writer: &Writer<'_>,
        batch: &WriteBatch,
    ) -> Result<(), CommitError> {
        if self.kind.mode == TxnMode::ReadOnly {
            return Err(TxnError::ReadOnly.into());
        }
        self.check_reads(Some(from), writer.head())?;
        let keys = batch.iter().map(|(key, _)| key);
        match self.database.inner().intents.blocking(self.id, keys) {
            Some(key) if !self.kind.retried => Err(Conflict::Intent(key.clone()).into()),
            _ => Ok(()),
        }
    }

    fn put_back(&mut self) {
        if let Some(work) = self.work.take() {
            self.database.inner().transactions.put_back(self.id, work);
        }
    }

    fn end(&mut self, how: Finish) {
        if self.work.take().is_some() {
            let inner = self.database.inner();
            inner.transactions.finish(self.id, how);
            inner.intents.release(self.id);
        }
    }
}

impl Drop for OpenAttempt<'_> {
    fn drop(&mut self) {
        self.end(Finish::RolledBack);
    }
}

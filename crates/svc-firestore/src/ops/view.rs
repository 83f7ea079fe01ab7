//! The state a read looks at: the newest, a past one, or a transaction's.

use base_env::UnixMicros;
use engine_store::Snapshot;
use engine_txn::{Begin, CommitError, Database, ReadScope, ReadTimeError, TxnId, TxnMode};

use crate::access::ReadKind;
use crate::error::Error;
use crate::limits::READ_TIME_AGE_MAX;
use crate::state::State;

/// What a read asks to be consistent with.
#[derive(Clone, Debug)]
pub(crate) enum Consistency {
    /// Everything committed before the read.
    Latest,
    /// The reads of this transaction.
    Transaction(TxnId),
    /// A transaction that the read begins.
    NewTransaction(Begin),
    /// The state at this time.
    ReadTime(UnixMicros),
}

/// The state a read looks at.
#[derive(Debug)]
pub(crate) struct View {
    pub(crate) snapshot: Snapshot,
    /// The transaction the read has begun, to be told to the client.
    pub(crate) new_transaction: Option<TxnId>,
    /// How rules see the read.
    pub(crate) kind: ReadKind,
}

impl View {
    /// Whether everything read so far was really there: a read that the disk fails answers as if nothing
    /// was stored, so this is asked before a client is told.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn check(&self) -> Result<(), Error> {
        Ok(self.snapshot.check().map_err(CommitError::from)?)
    }

    /// The read time told to clients.
    pub(crate) fn read_time(&self) -> UnixMicros {
        self.snapshot.time()
    }
}

/// Opens the view for a read of `scope`. In a read-write transaction the scope becomes part of what its
/// commit depends on.
///
/// # Errors
/// Transactions that are unknown, finished or too large; read times that cannot be served.
pub(crate) async fn open(
    state: &State,
    database: &Database,
    consistency: Consistency,
    scope: impl FnOnce() -> ReadScope,
) -> Result<View, Error> {
    let (id, new_transaction) = match consistency {
        Consistency::Latest => {
            let snapshot = database.snapshot();
            return Ok(View { snapshot, new_transaction: None, kind: ReadKind::Alone });
        }
        Consistency::ReadTime(time) => {
            check_age(state, time)?;
            let snapshot = database.snapshot_at(time)?;
            return Ok(View { snapshot, new_transaction: None, kind: ReadKind::Alone });
        }
        Consistency::Transaction(id) => (id, None),
        Consistency::NewTransaction(options) => {
            let id = begin(state, database, options)?;
            (id, Some(id))
        }
    };
    let kind = match database.txn_mode(id) {
        Ok(TxnMode::ReadOnly) | Err(_) => ReadKind::Alone,
        Ok(TxnMode::ReadWrite) => ReadKind::Transaction,
    };
    let view = database.txn_read(id, scope()).await?;
    Ok(View { snapshot: view.snapshot, new_transaction, kind })
}

/// Begins a transaction.
///
/// # Errors
/// A transaction to retry that is unknown or read-only; read times that cannot be served.
pub(crate) fn begin(state: &State, database: &Database, begin: Begin) -> Result<TxnId, Error> {
    if let Begin::ReadOnly { read_time: Some(time) } = begin {
        check_age(state, time)?;
    }
    Ok(database.begin(begin)?)
}

/// Refuses read times that production no longer serves, even where we still could.
fn check_age(state: &State, time: UnixMicros) -> Result<(), Error> {
    if state.env.now().since(time) > READ_TIME_AGE_MAX {
        return Err(ReadTimeError::TooOld.into());
    }
    Ok(())
}

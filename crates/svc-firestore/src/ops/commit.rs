//! Commit: applies writes together, in a transaction or on their own.

use std::sync::Arc;

use base_token::Identity;
use base_value::DatabaseName;
use engine_store::Commit;
use engine_txn::{CommitError, Database, TxnId};

use super::writes::{self, Action, Outcome, Write};
use crate::access::{self, Guard};
use crate::error::Error;
use crate::limits::IN_PLACE_MAX;
use crate::state::State;

/// What is to be committed.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) writes: Vec<Write>,
    pub(crate) transaction: Option<TxnId>,
}

/// What was committed: the outcomes are in the order of the writes.
pub(crate) struct Committed {
    pub(crate) outcomes: Vec<Outcome>,
    pub(crate) commit: Arc<Commit>,
}

/// Applies the writes, all or none; many of them on a thread where they hold nobody up but other writers.
///
/// # Errors
/// The first write that cannot be applied; ABORTED when the transaction's reads are no longer true.
pub(crate) async fn commit(
    state: &Arc<State>,
    caller: &Identity,
    request: Request,
) -> Result<Committed, Error> {
    let guard = access::guard(state, caller, &request.database);
    let database = state.database(&request.database)?;
    let Request { writes, transaction, .. } = request;
    let committed = if writes.len() <= IN_PLACE_MAX {
        apply(state, &database, guard, &writes, transaction)?
    } else {
        let (state, database) = (Arc::clone(state), database.clone());
        super::blocking(move || apply(&state, &database, guard, &writes, transaction)).await??
    };
    survived(&database, &committed).await?;
    Ok(committed)
}

/// Applies `writes` to `database` as one commit, where the guard allows all of them. The one way any operation
/// writes. It may be acknowledged when it has [`survived`].
///
/// # Errors
/// As [`commit`].
pub(crate) fn apply(
    state: &State,
    database: &Database,
    guard: Option<Guard>,
    writes: &[Write],
    transaction: Option<TxnId>,
) -> Result<Committed, Error> {
    let changes = writes.iter().any(|write| !matches!(write.action, Action::Verify));
    // Whatever is wrong with the writes, and also where none of them finds anything to change.
    if let Some(id) = transaction.filter(|_| changes) {
        database.check_may_write(id).map_err(CommitError::from)?;
    }
    let request_time = state.env.now();
    let name = writes.first().map(|write| &write.name.database);
    let definitions = name.map(|name| state.preparer.definitions(name)).unwrap_or_default();
    let limits = writes::Limits { policy: state.limits(), declared: definitions.declared() };
    let (commit, outcomes) = database.commit(transaction, |reads, _time| {
        if let Some(guard) = &guard {
            guard.writes(reads, writes, request_time)?;
        }
        let applied = writes::apply(reads, writes, request_time, &limits)?;
        Ok::<_, Error>((applied.batch, applied.outcomes))
    })?;
    Ok(Committed { outcomes, commit })
}

/// Waits until a commit has survived what the database's durability promises.
///
/// # Errors
/// The disk's.
pub(crate) async fn survived(database: &Database, committed: &Committed) -> Result<(), Error> {
    let durable = database.durable(&committed.commit).await;
    Ok(durable.map_err(CommitError::from)?)
}

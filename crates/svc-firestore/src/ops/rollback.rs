//! Rollback: ends a transaction without writing.

use base_value::DatabaseName;
use engine_txn::TxnId;

use crate::error::Error;
use crate::state::State;

/// Ends the transaction. One that has ended without a commit is fine.
///
/// # Errors
/// Ids that were never given out, and transactions that are committed.
pub(crate) fn rollback(
    state: &State,
    database: &DatabaseName,
    id: Option<TxnId>,
) -> Result<(), Error> {
    let id = id.ok_or(Error::InvalidTransaction)?;
    Ok(state.database(database)?.rollback(id)?)
}

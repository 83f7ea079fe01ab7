//! Rollback: ends a transaction without writing.

use base_value::DatabaseName;
use engine_txn::{Finish, TxnError, TxnId};

use crate::error::Error;
use crate::state::State;

/// Ends the transaction. One that is rolled back, aborted or expired already is fine.
///
/// # Errors
/// Ids that were never given out, and transactions that are committed.
pub(crate) fn rollback(
    state: &State,
    database: &DatabaseName,
    id: Option<TxnId>,
) -> Result<(), Error> {
    let id = id.ok_or(Error::InvalidTransaction)?;
    match state.database(database)?.rollback(id) {
        Ok(()) => Ok(()),
        Err(TxnError::Finished(Finish::RolledBack | Finish::Aborted | Finish::Expired)) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

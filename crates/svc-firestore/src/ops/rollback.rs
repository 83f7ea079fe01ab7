//! Rollback: ends a transaction without writing.

use base_token::Identity;
use base_value::DatabaseName;
use engine_txn::TxnId;

use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// Ends the transaction. One that has ended without a commit is fine.
///
/// # Errors
/// Ids that were never given out, and transactions that are committed.
pub(crate) fn rollback(
    state: &State,
    caller: &Identity,
    database: &DatabaseName,
    id: Option<TxnId>,
) -> Result<(), Error> {
    access::check(caller, Access::Read)?;
    let id = id.ok_or(Error::InvalidTransaction)?;
    Ok(state.database(database)?.rollback(id)?)
}

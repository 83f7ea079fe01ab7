//! BeginTransaction: a transaction to read and commit in.

use base_token::Identity;
use base_value::DatabaseName;
use engine_txn::{Begin, TxnId};

use super::view;
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// Begins a transaction in `database`.
///
/// # Errors
/// A transaction to retry that is unknown or read-only; read times that cannot be served.
pub(crate) fn begin_transaction(
    state: &State,
    caller: &Identity,
    database: &DatabaseName,
    begin: Begin,
) -> Result<TxnId, Error> {
    access::check(caller, Access::Read)?;
    view::begin(state, &state.database(database)?, begin)
}

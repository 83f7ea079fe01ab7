//! BeginTransaction: a transaction to read and commit in.

use base_value::DatabaseName;
use engine_txn::{Begin, TxnId};

use super::view;
use crate::error::Error;
use crate::state::State;

/// Begins a transaction in `database`. Everybody may: rules decide what is read and written in it.
///
/// # Errors
/// A transaction to retry that is unknown or read-only; read times that cannot be served.
pub(crate) fn begin_transaction(
    state: &State,
    database: &DatabaseName,
    begin: Begin,
) -> Result<TxnId, Error> {
    view::begin(state, &state.database(database)?, begin)
}

//! BatchWrite: independent writes in one request, each with a status of its own.

use std::collections::HashSet;

use base_status::Status;
use base_token::Identity;
use base_value::DatabaseName;

use super::commit::{self, Committed};
use super::writes::Write;
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// Applies each write as a commit of its own, in order.
///
/// # Errors
/// Only what is wrong with the whole request; what is wrong with one write is in its own result.
pub(crate) fn batch_write(
    state: &State,
    caller: &Identity,
    database: &DatabaseName,
    writes: &[Write],
) -> Result<Vec<Result<Committed, Status>>, Error> {
    access::check(caller, Access::Admin)?;
    let mut names = HashSet::with_capacity(writes.len());
    if !writes.iter().all(|write| names.insert(&write.name)) {
        return Err(Error::invalid(
            "the same document cannot be written more than once in a single request",
        ));
    }
    let database = state.database(database)?;
    let apply = |write| commit::apply(state, &database, std::slice::from_ref(write), None);
    Ok(writes.iter().map(|write| apply(write).map_err(Status::from)).collect())
}

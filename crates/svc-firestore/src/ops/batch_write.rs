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
pub(crate) async fn batch_write(
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
    let apply = |write| commit::apply(state, &database, None, std::slice::from_ref(write), None);
    let mut results: Vec<_> = writes.iter().map(apply).collect();
    // All are on their way to the disk before the first one is waited for.
    for result in &mut results {
        if let Ok(committed) = result
            && let Err(error) = commit::survived(&database, committed).await
        {
            *result = Err(error);
        }
    }
    Ok(results.into_iter().map(|result| result.map_err(Status::from)).collect())
}

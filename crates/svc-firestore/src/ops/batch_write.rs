//! BatchWrite: independent writes in one request, each with a status of its own.

use std::collections::HashSet;
use std::sync::Arc;

use base_status::Status;
use base_token::Identity;
use base_value::DatabaseName;
use engine_txn::Database;

use super::commit::{self, Committed};
use super::writes::Write;
use crate::access::{self, Access};
use crate::error::Error;
use crate::limits::IN_PLACE_MAX;
use crate::state::State;

/// Applies each write as a commit of its own, in order. Many of them are applied on a thread where they hold
/// nobody up, all of them whether or not anybody waits for it.
///
/// # Errors
/// Only what is wrong with the whole request; what is wrong with one write is in its own result.
pub(crate) async fn batch_write(
    state: &Arc<State>,
    caller: &Identity,
    database: &DatabaseName,
    writes: Vec<Write>,
) -> Result<Vec<Result<Committed, Status>>, Error> {
    access::check(caller, Access::Admin)?;
    let mut names = HashSet::with_capacity(writes.len());
    if !writes.iter().all(|write| names.insert(&write.name)) {
        return Err(Error::invalid(
            "the same document cannot be written more than once in a single request",
        ));
    }
    drop(names);
    let database = state.database(database)?;
    let mut results = if writes.len() <= IN_PLACE_MAX {
        apply(state, &database, &writes)
    } else {
        let (state, database) = (Arc::clone(state), database.clone());
        super::blocking(move || apply(&state, &database, &writes)).await?
    };
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

fn apply(state: &State, database: &Database, writes: &[Write]) -> Vec<Result<Committed, Error>> {
    let apply = |write| commit::apply(state, database, None, std::slice::from_ref(write), None);
    writes.iter().map(apply).collect()
}

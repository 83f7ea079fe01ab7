//! The emulator's own routes that delete: a whole database, a collection, or a document with all below it.

use std::sync::Arc;

use base_value::{DatabaseName, ResourcePath};
use engine_store::{Commit, WriteBatch};
use engine_txn::{CommitError, Database};

use crate::error::Error;
use crate::state::State;

/// Deletes everything at and below `path`; everything at all when it is the root.
///
/// # Errors
/// When the suite may not hold another database; the disk's.
pub(crate) async fn clear(
    state: &State,
    database: &DatabaseName,
    path: &ResourcePath,
) -> Result<(), Error> {
    let database = state.database(database)?;
    let commit = if path.is_empty() {
        database.clear().map_err(CommitError::from)?
    } else {
        let (all, path) = (database.clone(), path.clone());
        super::blocking(move || delete_below(&all, &path)).await??
    };
    Ok(database.durable(&commit).await.map_err(CommitError::from)?)
}

/// In one commit. What comes to be below meanwhile may be there afterwards, as if it came just then.
fn delete_below(database: &Database, path: &ResourcePath) -> Result<Arc<Commit>, Error> {
    let snapshot = database.snapshot();
    let keys = engine_query::keys_below(&snapshot, path);
    snapshot.check().map_err(CommitError::from)?;
    let (commit, ()) = database.commit(None, |reads, _time| {
        let mut batch = WriteBatch::new();
        for key in &keys {
            if reads.get(key).is_some() {
                batch.delete(key.clone());
            }
        }
        Ok::<_, Error>((batch, ()))
    })?;
    Ok(commit)
}

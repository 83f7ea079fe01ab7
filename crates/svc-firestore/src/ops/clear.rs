//! The emulator's own routes that delete: a whole database, a collection, or a document with all below it.

use std::sync::Arc;

use base_value::{DatabaseName, DocumentPath, ResourcePath, key};
use engine_store::{Commit, KeyRange, WriteBatch};
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
        delete_below(&database, path)?
    };
    Ok(database.durable(&commit).await.map_err(CommitError::from)?)
}

fn delete_below(database: &Database, path: &ResourcePath) -> Result<Arc<Commit>, Error> {
    let (commit, ()) = database.commit(None, |reads, _time| {
        let mut batch = WriteBatch::new();
        for entry in reads.snapshot().range(&KeyRange::all()) {
            if key::parse(entry.key()).is_some_and(|document| lies_below(path, &document)) {
                batch.delete(entry.key().clone());
            }
        }
        Ok::<_, Error>((batch, ()))
    })?;
    Ok(commit)
}

fn lies_below(path: &ResourcePath, document: &DocumentPath) -> bool {
    let mut segments = document.segments();
    path.segments().all(|segment| segments.next() == Some(segment))
}

//! The emulator's own routes that delete: a whole database, a collection, or a document with all below it.

use base_value::{DatabaseName, DocumentPath, ResourcePath, key};
use engine_store::{KeyRange, WriteBatch};
use engine_txn::CommitError;

use crate::error::Error;
use crate::state::State;

/// Deletes everything at and below `path`; everything at all when it is the root.
///
/// # Errors
/// When the suite may not hold another database.
pub(crate) fn clear(
    state: &State,
    database: &DatabaseName,
    path: &ResourcePath,
) -> Result<(), Error> {
    let database = state.database(database)?;
    if path.is_empty() {
        database.clear().map_err(CommitError::from)?;
        return Ok(());
    }
    database.commit(None, |reads, _time| {
        let mut batch = WriteBatch::new();
        for entry in reads.snapshot().range(&KeyRange::all()) {
            if key::parse(entry.key()).is_some_and(|document| lies_below(path, &document)) {
                batch.delete(entry.key().clone());
            }
        }
        Ok::<_, Error>((batch, ()))
    })?;
    Ok(())
}

fn lies_below(path: &ResourcePath, document: &DocumentPath) -> bool {
    let mut segments = document.segments();
    path.segments().all(|segment| segments.next() == Some(segment))
}

//! The emulator's own routes that delete: a whole database, a collection, or a document with all below it.

use std::collections::VecDeque;
use std::sync::Arc;

use base_value::{DatabaseName, ResourcePath};
use engine_store::{Commit, WriteBatch};
use engine_txn::{CommitError, Database};

use crate::error::Error;
use crate::limits::{CLEARED_BYTES_MAX, CLEARED_TOGETHER_MAX};
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

/// In one commit where it is not much. What comes to be below meanwhile may be there afterwards, as if it came just then.
fn delete_below(database: &Database, path: &ResourcePath) -> Result<Arc<Commit>, Error> {
    let snapshot = database.snapshot();
    let mut keys = engine_query::keys_below(&snapshot, path);
    let mut part = VecDeque::new();
    loop {
        let room = CLEARED_TOGETHER_MAX.saturating_sub(part.len());
        part.extend(keys.by_ref().take(room));
        snapshot.check().map_err(CommitError::from)?;
        // A commit holds what it deletes.
        let (commit, done) = database.commit(None, |reads, _time| {
            let (mut batch, mut bytes, mut done) = (WriteBatch::new(), 0, 0);
            for key in &part {
                if bytes >= CLEARED_BYTES_MAX {
                    break;
                }
                if let Some(record) = reads.get(key) {
                    bytes += record.value.len();
                    batch.delete(key.clone());
                }
                done += 1;
            }
            Ok::<_, Error>((batch, done))
        })?;
        part.drain(..done);
        if part.is_empty() && done < CLEARED_TOGETHER_MAX {
            return Ok(commit);
        }
    }
}

#[cfg(test)]
mod tests {
    use base_env::{Env, UnixMicros};
    use base_value::{DocumentPath, key};
    use bytes::Bytes;
    use engine_txn::Limits;

    use super::*;

    #[test]
    fn much_is_deleted_in_parts() {
        #[track_caller]
        fn check(documents: usize, len: usize, commits: u64) {
            let database = Database::new(Env::simulated(1, UnixMicros(1)), Limits::default());
            let value = Bytes::from(vec![7; len]);
            let mut batch = WriteBatch::new();
            for number in 0..documents {
                // In several collection groups, and beside what stays.
                let path = DocumentPath::parse(&format!("c/d/g{}/{number}", number % 3));
                batch.put(key::document(&path.unwrap()), value.clone());
            }
            let stays = key::document(&DocumentPath::parse("c/e").unwrap());
            batch.put(stays.clone(), value.clone());
            database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ()))).unwrap();
            let before = database.snapshot().version().get();
            let last = delete_below(&database, &ResourcePath::parse("c/d").unwrap()).unwrap();
            let after = database.snapshot();
            assert_eq!((after.len(), after.get(&stays).is_some()), (1, true), "{documents}");
            assert_eq!(after.version().get() - before, commits, "{documents}");
            assert_eq!(last.version, after.version());
        }
        check(10, 1, 1);
        check(CLEARED_TOGETHER_MAX - 1, 1, 1);
        check(CLEARED_TOGETHER_MAX + 1, 1, 2);
        check(2 * CLEARED_TOGETHER_MAX + 1, 1, 3);
        // Three documents are as many bytes as one commit is to hold.
        check(7, CLEARED_BYTES_MAX / 3 + 1, 3);
    }
}

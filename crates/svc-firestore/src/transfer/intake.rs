//! Documents of an export on their way into the databases: checked, encoded and committed many at a time.

use std::collections::HashMap;
use std::path::Path;

use base_status::Status;
use base_value::{DatabaseName, DocumentName, LimitPolicy, codec, key, validate};
use engine_export::Document;
use engine_store::WriteBatch;
use engine_txn::{CommitError, Database};
use parking_lot::Mutex;
use svc_kit::Import;

use super::bad_export;
use crate::error::Error;
use crate::limits::{IMPORT_BATCH_BYTES, IMPORT_BATCH_DOCUMENTS, UNFOLDED_MAX};
use crate::state::State;

/// Where documents go that somebody has exported.
pub(super) struct Intake<'a> {
    state: &'a State,
    import: &'a Import,
    /// Those that were written to, each with how often.
    written: Mutex<HashMap<DatabaseName, (Database, usize)>>,
}

/// What one reader has not committed yet.
#[derive(Default)]
pub(super) struct Batch {
    writes: HashMap<DatabaseName, WriteBatch>,
    documents: usize,
    bytes: usize,
}

/// Why a document could not be taken.
pub(super) enum TakeError {
    /// It cannot be a document here.
    Document { name: String, reason: String },
    /// It could not be written.
    Write(Status),
}

impl TakeError {
    /// The refusal of a document that was read there.
    pub(super) fn at(self, file: &Path, offset: u64) -> Status {
        match self {
            TakeError::Document { name, reason } => bad_export(format!(
                "`{}` cannot be imported at byte {offset}, in document `{name}`: {reason}",
                file.display()
            )),
            TakeError::Write(status) => status,
        }
    }
}

impl<'a> Intake<'a> {
    pub(super) fn new(state: &'a State, import: &'a Import) -> Intake<'a> {
        Intake { state, import, written: Mutex::default() }
    }

    pub(super) fn batch(&self) -> Batch {
        Batch::default()
    }

    /// Takes a document, unless nobody wants it.
    pub(super) fn take(&self, document: Document, batch: &mut Batch) -> Result<(), TakeError> {
        let Document { name, fields } = document;
        let is_wanted = |wanted: &Option<Vec<String>>, id: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted.iter().any(|one| one == id))
        };
        if !is_wanted(&self.import.databases, &name.database.database)
            || !is_wanted(&self.import.collections, name.path.collection_id())
        {
            return Ok(());
        }
        let database = DatabaseName::new(&self.state.project, &name.database.database);
        let name = DocumentName { database, path: name.path };
        // Production's limits are for those who write. What is there already was allowed where it comes from.
        validate::check_fields(&fields, &name, LimitPolicy::Off).map_err(|error| {
            TakeError::Document { name: name.path.to_string(), reason: error.to_string() }
        })?;
        let (key, value) = (key::document(&name.path), codec::encode_fields(&fields));
        batch.documents += 1;
        batch.bytes += key.len() + value.len();
        batch.writes.entry(name.database).or_default().put(key, value);
        if batch.documents >= IMPORT_BATCH_DOCUMENTS || batch.bytes >= IMPORT_BATCH_BYTES {
            self.commit(batch).map_err(TakeError::Write)?;
        }
        Ok(())
    }

    /// Commits what a reader has taken. Waits where memory has its fill.
    pub(super) fn commit(&self, batch: &mut Batch) -> Result<(), Status> {
        let Batch { writes, .. } = std::mem::take(batch);
        for (name, writes) in writes {
            let database = self.state.database(&name)?;
            let count = writes.len();
            let committed = database.commit(None, |_reads, _time| {
                // Nothing is read, so this is asked once.
                Ok::<_, CommitError>((writes.clone(), ()))
            });
            committed.map_err(|error| Status::from(Error::from(error)))?;
            self.written.lock().entry(name).or_insert((database, 0)).1 += count;
        }
        Ok(())
    }

    /// Brings what is kept to the disk, and what is much into the indexes.
    pub(super) fn finish(self) -> Result<(), Status> {
        for (database, documents) in self.written.into_inner().into_values() {
            let synced = database.sync().map_err(CommitError::from);
            synced.map_err(|error| Status::from(Error::from(error)))?;
            if documents > UNFOLDED_MAX {
                database.request_fold();
            }
        }
        Ok(())
    }
}

//! Writes the databases of the suite's project as official exports.

use std::path::Path;

use base_status::Status;
use base_value::{DatabaseName, Timestamp, codec, key};
use engine_export::{FolderWriter, WriteError};
use engine_store::{KeyRange, Snapshot};
use engine_txn::CommitError;
use serde_json::{Map, Value, json};
use svc_kit::{Exported, Progress};

use super::cancelled;
use crate::catalog::DEFAULT;
use crate::error::Error;
use crate::kept::escape;
use crate::state::State;

/// The export of the `(default)` database, as the official command line calls it.
const NAME: &str = "firestore_export";

/// Documents after which is told how far it is.
const TELL_DOCUMENTS: u64 = 256;

/// Writes every database of the suite's project into a folder of its own in `into`, all as they are now. There is
/// always one of `(default)`; of others where they hold something, as importers look for them only where they are
/// told of.
///
/// # Errors
/// The disk's; a value that the format cannot hold.
pub(crate) fn export(state: &State, into: &Path, progress: &Progress) -> Result<Exported, Status> {
    let own = DatabaseName::new(&state.project, DEFAULT);
    let default = state.database(&own)?.snapshot();
    let mut others: Vec<(DatabaseName, Snapshot)> = state
        .databases
        .all()
        .into_iter()
        .filter(|(name, _)| name.project == own.project && *name != own)
        .map(|(name, database)| (name, database.snapshot()))
        .filter(|(_, snapshot)| !snapshot.is_empty())
        .collect();
    others.sort_by(|(one, _), (other, _)| one.database.cmp(&other.database));

    let mut metadata = write(into, NAME, &own, &default, progress)?;
    let mut databases = Map::new();
    for (name, snapshot) in others {
        let folder = format!("{NAME}_{}", escape(&name.database)?);
        let written = write(into, &folder, &name, &snapshot, progress)?;
        databases.insert(name.database.to_string(), Value::Object(written));
    }
    if !databases.is_empty() {
        metadata.insert("databases".to_owned(), Value::Object(databases));
    }
    Ok(Exported { metadata, items: progress.items() })
}

/// Writes one database, and answers where it is.
fn write(
    into: &Path,
    folder: &str,
    database: &DatabaseName,
    snapshot: &Snapshot,
    progress: &Progress,
) -> Result<Map<String, Value>, Status> {
    let mut writer = FolderWriter::create(into, folder, database).map_err(unwritten)?;
    let overall = writer.overall_file();
    let mut told = 0;
    for entry in snapshot.range(&KeyRange::all()) {
        let path = key::parse(entry.key()).ok_or(Error::Bug("a stored key is no document's"))?;
        let fields = codec::decode_fields(&entry.record().value).map_err(Error::from)?;
        writer.write(&path, &fields).map_err(unwritten)?;
        let documents = writer.written().documents;
        if documents - told >= TELL_DOCUMENTS {
            progress.add_items(documents - told);
            told = documents;
            if progress.is_cancelled() {
                return Err(cancelled());
            }
        }
    }
    snapshot.check().map_err(|error| Error::from(CommitError::from(error)))?;
    // The same data makes the same bytes, whenever it is exported.
    let written = writer.finish(Timestamp::default(), Timestamp::default()).map_err(unwritten)?;
    progress.add_items(written.documents - told);
    let file = overall.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let members = json!({ "path": folder, "metadata_file": format!("{folder}/{file}") });
    Ok(match members {
        Value::Object(members) => members,
        _ => Map::new(),
    })
}

fn unwritten(error: WriteError) -> Status {
    Status::unavailable(error.to_string())
}

//! The databases that the `firestore` section names, and the index file of each.

use serde_json::Value;
use svc_firestore::{DatabaseConfig, Indexes};

use super::{ConfigError, FirebaseConfig, jsonc};
use crate::notice::Notice;

/// The database of an entry that names none.
pub(crate) const DEFAULT_DATABASE: &str = "(default)";

/// What the project declares. A file that is missing is a notice, as it matters for deploying only.
///
/// # Errors
/// A file is there and is no index file; its path leaves the project.
pub fn firestore_indexes(config: &FirebaseConfig) -> Result<(Indexes, Vec<Notice>), ConfigError> {
    let mut indexes = Indexes::default();
    let mut notices = Vec::new();
    if config.emulator("firestore").is_some_and(is_enterprise) {
        indexes.set_enterprise(None);
    }
    for entry in entries(config).iter().filter(|entry| is_enterprise(entry)) {
        indexes.set_enterprise(Some(database(entry)));
    }
    for IndexFile { database, path } in files(config) {
        let file = config.path(path)?;
        match jsonc::read(&file)? {
            Some(value) => indexes
                .declare(database, &value)
                .map_err(|problems| ConfigError::Invalid { file, problems })?,
            None => {
                let text = format!("there is no `{path}`, so no composite indexes are declared");
                notices.push(Notice::warning("firestore", text));
            }
        }
    }
    Ok((indexes, notices))
}

/// The databases that are named.
#[must_use]
pub fn firestore_databases(config: &FirebaseConfig) -> Vec<DatabaseConfig> {
    let named = entries(config).iter();
    named.map(|entry| DatabaseConfig { id: database(entry).to_owned() }).collect()
}

/// One index file.
pub(super) struct IndexFile<'c> {
    /// The database it is for.
    pub(super) database: &'c str,
    /// Its path as firebase.json has it.
    pub(super) path: &'c str,
}

/// The index files that are named.
pub(super) fn files(config: &FirebaseConfig) -> impl Iterator<Item = IndexFile<'_>> {
    entries(config).iter().filter_map(|entry| {
        let path = entry.get("indexes").and_then(Value::as_str)?;
        Some(IndexFile { database: database(entry), path })
    })
}

/// One entry, or one for each database.
fn entries(config: &FirebaseConfig) -> &[Value] {
    match config.section("firestore") {
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(entry) => std::slice::from_ref(entry),
        None => &[],
    }
}

fn is_enterprise(entry: &Value) -> bool {
    let edition = entry.get("edition").and_then(Value::as_str);
    edition.is_some_and(|edition| edition.eq_ignore_ascii_case("enterprise"))
}

fn database(entry: &Value) -> &str {
    entry.get("database").and_then(Value::as_str).unwrap_or(DEFAULT_DATABASE)
}

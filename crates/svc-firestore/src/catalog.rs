//! The databases of a suite as the admin API shows them: which there are, and how each is set up.
//!
//! Clients of the product can use any database without making it first. So a database is there when it was
//! made, when the project's files name it, or when something was written to it; and `(default)` is there always.

use std::collections::{BTreeSet, HashMap};

use base_env::{Env, UnixMicros};
use base_status::Status;
use base_value::DatabaseName;
use engine_store::Version;
use parking_lot::Mutex;

use crate::databases::Databases;
use crate::limits::DATABASES_MAX;

/// The database that every project has.
const DEFAULT: &str = "(default)";

/// Where databases are that nobody has placed.
const LOCATION: &str = "nam5";

/// One database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatabaseInfo {
    pub(crate) name: DatabaseName,
    /// Tells it from others that had the name before.
    pub(crate) uid: String,
    pub(crate) create_time: UnixMicros,
    pub(crate) update_time: UnixMicros,
    pub(crate) settings: DatabaseSettings,
}

/// How a database is set up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DatabaseSettings {
    pub(crate) location_id: String,
    pub(crate) concurrency: Concurrency,
    pub(crate) has_point_in_time_recovery: bool,
    pub(crate) is_delete_protected: bool,
}

/// The mode of transactions, which is kept and shown; here they are as documented whatever it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Concurrency {
    Optimistic,
    Pessimistic,
    OptimisticWithEntityGroups,
}

impl Default for DatabaseSettings {
    fn default() -> DatabaseSettings {
        DatabaseSettings {
            location_id: LOCATION.to_owned(),
            concurrency: Concurrency::Pessimistic,
            has_point_in_time_recovery: false,
            is_delete_protected: false,
        }
    }
}

impl DatabaseInfo {
    /// Changes with every change of the settings.
    pub(crate) fn etag(&self) -> String {
        crate::ops::page_token::encode(&self.update_time.0.to_be_bytes())
    }
}

/// What is known of databases beside what they hold.
pub(crate) struct Catalog {
    env: Env,
    /// Ids that the project's files name.
    configured: Vec<String>,
    entries: Mutex<HashMap<DatabaseName, Entry>>,
}

enum Entry {
    There(DatabaseInfo),
    /// It is there again when something was written after this version.
    Deleted(Version),
}

impl Catalog {
    pub(crate) fn new(env: Env, configured: Vec<String>) -> Catalog {
        Catalog { env, configured, entries: Mutex::default() }
    }

    /// The databases of a project, in the order of their ids.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when more are known than a suite may have.
    pub(crate) fn list(
        &self,
        databases: &Databases,
        project: &str,
    ) -> Result<Vec<DatabaseInfo>, Status> {
        let mut ids: BTreeSet<String> = self.configured.iter().cloned().collect();
        ids.insert(DEFAULT.to_owned());
        ids.extend(databases.ids(project));
        let entries = self.entries.lock();
        let known = entries.keys().filter(|name| *name.project == *project);
        ids.extend(known.map(|name| name.database.to_string()));
        drop(entries);
        let found = ids.iter().map(|id| self.find(databases, &DatabaseName::new(project, id)));
        found.filter_map(Result::transpose).collect()
    }

    /// One database; `None` where there is none of that name.
    ///
    /// # Errors
    /// As [`Catalog::list`].
    pub(crate) fn find(
        &self,
        databases: &Databases,
        name: &DatabaseName,
    ) -> Result<Option<DatabaseInfo>, Status> {
        let version = databases.version(name);
        let mut entries = self.entries.lock();
        let is_there = match entries.get(name) {
            Some(Entry::There(info)) => return Ok(Some(info.clone())),
            Some(Entry::Deleted(at)) => version > *at,
            None => {
                *name.database == *DEFAULT
                    || self.configured.iter().any(|id| **id == *name.database)
                    || version > Version::ZERO
            }
        };
        if !is_there {
            return Ok(None);
        }
        check_room(entries.len())?;
        let info = self.made(name, DatabaseSettings::default());
        entries.insert(name.clone(), Entry::There(info.clone()));
        Ok(Some(info))
    }

    /// Notes a new database.
    ///
    /// # Errors
    /// As [`Catalog::list`].
    pub(crate) fn create(
        &self,
        name: &DatabaseName,
        settings: DatabaseSettings,
    ) -> Result<DatabaseInfo, Status> {
        let info = self.made(name, settings);
        let mut entries = self.entries.lock();
        check_room(entries.len())?;
        entries.insert(name.clone(), Entry::There(info.clone()));
        Ok(info)
    }

    /// Sets up a database anew that was found before.
    pub(crate) fn update(&self, before: DatabaseInfo, settings: DatabaseSettings) -> DatabaseInfo {
        let after = before.update_time.plus(std::time::Duration::from_micros(1));
        let info = DatabaseInfo { update_time: self.env.now().max(after), settings, ..before };
        self.entries.lock().insert(info.name.clone(), Entry::There(info.clone()));
        info
    }

    /// Forgets a database that has been emptied.
    pub(crate) fn delete(&self, databases: &Databases, name: &DatabaseName) {
        let version = databases.version(name);
        self.entries.lock().insert(name.clone(), Entry::Deleted(version));
    }

    fn made(&self, name: &DatabaseName, settings: DatabaseSettings) -> DatabaseInfo {
        let now = self.env.now();
        let mut random = [0; 16];
        self.env.random(&mut random);
        DatabaseInfo {
            name: name.clone(),
            uid: uuid(random),
            create_time: now,
            update_time: now,
            settings,
        }
    }
}

fn check_room(len: usize) -> Result<(), Status> {
    if len < DATABASES_MAX {
        return Ok(());
    }
    let text = format!("this suite already knows {DATABASES_MAX} databases");
    Err(Status::resource_exhausted(text))
}

/// Random bytes as a UUID of version 4.
fn uuid(mut bytes: [u8; 16]) -> String {
    let [_, _, _, _, _, _, version, _, variant, ..] = &mut bytes;
    *version = *version & 0x0F | 0x40;
    *variant = *variant & 0x3F | 0x80;
    let mut text = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uuids_are_of_version_4() {
        assert_eq!(uuid([0xFF; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    }
}

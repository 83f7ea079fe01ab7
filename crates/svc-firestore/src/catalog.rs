//! The databases of a suite as the admin API shows them: which there are, and how each is set up.
//!
//! Clients of the product can use any database without making it first. So a database is there when it was
//! made, when the project's files name it, or when something was written to it; and `(default)` is there, too.
//! One that was deleted is there again when it is made or written to.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_status::Status;
use base_value::DatabaseName;
use engine_store::{Commit, Version};
use parking_lot::Mutex;

use crate::databases::Databases;
use crate::error::Error;
use crate::limits::DATABASES_MAX;

/// The database that every project has.
pub(crate) const DEFAULT: &str = "(default)";

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
    /// When the suite began, and with it the databases that nobody has made.
    began: UnixMicros,
    /// Tells the databases of this suite from those of others.
    seed: u64,
    // INVARIANT: at most DATABASES_MAX.
    entries: Mutex<Entries>,
}

/// What somebody has said of databases. There is none for a database that is as it came to be.
type Entries = HashMap<DatabaseName, Entry>;

enum Entry {
    There(DatabaseInfo),
    /// It is there again when something was written after this version.
    Deleted {
        version: Version,
        time: UnixMicros,
    },
}

impl Catalog {
    pub(crate) fn new(env: Env, configured: Vec<String>) -> Catalog {
        let mut seed = [0; 8];
        env.random(&mut seed);
        let (began, seed) = (env.now(), u64::from_be_bytes(seed));
        Catalog { env, configured, began, seed, entries: Mutex::default() }
    }

    /// The databases of a project, in the order of their ids.
    pub(crate) fn list(&self, databases: &Databases, project: &str) -> Vec<DatabaseInfo> {
        let mut ids: BTreeSet<String> = self.configured.iter().cloned().collect();
        ids.insert(DEFAULT.to_owned());
        ids.extend(databases.ids(project));
        let entries = self.entries.lock();
        let known = entries.keys().filter(|name| *name.project == *project);
        ids.extend(known.map(|name| name.database.to_string()));
        let names = ids.iter().map(|id| DatabaseName::new(project, id));
        names.filter_map(|name| self.known(&entries, databases, &name)).collect()
    }

    /// One database; `None` where there is none of that name.
    pub(crate) fn find(&self, databases: &Databases, name: &DatabaseName) -> Option<DatabaseInfo> {
        self.known(&self.entries.lock(), databases, name)
    }

    /// Makes a database.
    ///
    /// # Errors
    /// ALREADY_EXISTS; RESOURCE_EXHAUSTED where more are known than a suite may have.
    pub(crate) fn create(
        &self,
        databases: &Databases,
        name: &DatabaseName,
        settings: DatabaseSettings,
    ) -> Result<DatabaseInfo, Error> {
        let mut entries = self.entries.lock();
        if self.known(&entries, databases, name).is_some() {
            return Err(Error::DatabaseAlreadyExists);
        }
        let written = databases.version(name);
        let info = DatabaseInfo { settings, ..self.usual(name, self.env.now(), written) };
        note(&mut entries, name, Entry::There(info.clone()))?;
        Ok(info)
    }

    /// Sets a database up anew.
    ///
    /// # Errors
    /// NOT_FOUND; those of `change`, which sees it as it is; as [`Catalog::create`].
    pub(crate) fn update(
        &self,
        databases: &Databases,
        name: &DatabaseName,
        change: impl FnOnce(&DatabaseInfo) -> Result<DatabaseSettings, Error>,
    ) -> Result<DatabaseInfo, Error> {
        let mut entries = self.entries.lock();
        let before = self.known(&entries, databases, name);
        let before = before.ok_or_else(|| Error::DatabaseNotFound(name.clone()))?;
        let settings = change(&before)?;
        let after = before.update_time.plus(std::time::Duration::from_micros(1));
        let info = DatabaseInfo { update_time: self.env.now().max(after), settings, ..before };
        note(&mut entries, name, Entry::There(info.clone()))?;
        Ok(info)
    }

    /// Forgets a database, and answers as what it was known.
    ///
    /// # Errors
    /// NOT_FOUND; those of `empty`, which sees it as it is and empties it; as [`Catalog::create`].
    pub(crate) fn delete(
        &self,
        databases: &Databases,
        name: &DatabaseName,
        empty: impl FnOnce(&DatabaseInfo) -> Result<Arc<Commit>, Error>,
    ) -> Result<(DatabaseInfo, Arc<Commit>), Error> {
        let mut entries = self.entries.lock();
        let before = self.known(&entries, databases, name);
        let before = before.ok_or_else(|| Error::DatabaseNotFound(name.clone()))?;
        check_room(&entries, name)?;
        let commit = empty(&before)?;
        // What is written from here on makes it anew, also while the delete has not been answered.
        let deleted = Entry::Deleted { version: commit.version, time: self.env.now() };
        note(&mut entries, name, deleted)?;
        Ok((before, commit))
    }

    fn known(
        &self,
        entries: &Entries,
        databases: &Databases,
        name: &DatabaseName,
    ) -> Option<DatabaseInfo> {
        let written = databases.version(name);
        let (is_there, since, after) = match entries.get(name) {
            Some(Entry::There(info)) => return Some(info.clone()),
            Some(Entry::Deleted { version, time }) => (written > *version, *time, *version),
            None => {
                let is_named = || self.configured.iter().any(|id| **id == *name.database);
                let is_there = *name.database == *DEFAULT || is_named() || written > Version::ZERO;
                (is_there, self.began, Version::ZERO)
            }
        };
        is_there.then(|| self.usual(name, since, after))
    }

    /// A database that came to be at that time, after that version of what has its name, and that nobody has set up.
    fn usual(&self, name: &DatabaseName, time: UnixMicros, after: Version) -> DatabaseInfo {
        let half = |which: u8| {
            let mut hash = DefaultHasher::new();
            (self.seed, which, name, time.0, after.get()).hash(&mut hash);
            u128::from(hash.finish())
        };
        DatabaseInfo {
            name: name.clone(),
            uid: uuid((half(0) << 64 | half(1)).to_be_bytes()),
            create_time: time,
            update_time: time,
            settings: DatabaseSettings::default(),
        }
    }
}

fn note(entries: &mut Entries, name: &DatabaseName, entry: Entry) -> Result<(), Status> {
    check_room(entries, name)?;
    entries.insert(name.clone(), entry);
    Ok(())
}

fn check_room(entries: &Entries, name: &DatabaseName) -> Result<(), Status> {
    if entries.len() < DATABASES_MAX || entries.contains_key(name) {
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
    use base_value::{DocumentPath, LimitPolicy, key};
    use bytes::Bytes;
    use engine_store::WriteBatch;
    use engine_txn::CommitError;
    use svc_kit::{Log, Place};

    use super::*;
    use crate::indexes::{Indexes, Preparer};

    struct Suite {
        catalog: Catalog,
        databases: Databases,
    }

    fn suite() -> Suite {
        let env = Env::simulated(1, UnixMicros(1_780_000_000_000_000));
        let preparer = Preparer::new(Indexes::default(), LimitPolicy::Production, Log::default());
        let preparer = Arc::new(preparer);
        let databases = Databases::open(env.clone(), Place::Memory, preparer, None).unwrap();
        Suite { catalog: Catalog::new(env, vec!["named".to_owned()]), databases }
    }

    impl Suite {
        fn write(&self, name: &DatabaseName) -> Arc<Commit> {
            let mut batch = WriteBatch::new();
            batch.put(key::document(&DocumentPath::parse("c/a").unwrap()), Bytes::new());
            let database = self.databases.get(name).unwrap();
            let written = database.commit(None, |_, _| Ok::<_, CommitError>((batch.clone(), ())));
            written.unwrap().0
        }

        fn uid(&self, name: &DatabaseName) -> Option<String> {
            self.catalog.find(&self.databases, name).map(|info| info.uid)
        }

        fn clear(&self, name: &DatabaseName) -> Result<Arc<Commit>, Error> {
            Ok(self.databases.get(name)?.clear().map_err(CommitError::from)?)
        }
    }

    #[test]
    fn databases_are_there_when_made_named_or_written_to() {
        let suite = suite();
        let name = |id| DatabaseName::new("p", id);
        let listed = |suite: &Suite| {
            let listed = suite.catalog.list(&suite.databases, "p").into_iter();
            listed.map(|info| info.name.database.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(listed(&suite), ["(default)", "named"]);
        suite.write(&name("written"));
        suite.catalog.create(&suite.databases, &name("made"), DatabaseSettings::default()).unwrap();
        assert_eq!(listed(&suite), ["(default)", "made", "named", "written"]);
        assert_eq!(suite.uid(&name("other")), None);
        for id in ["(default)", "made", "named", "written"] {
            assert_eq!(suite.uid(&name(id)), suite.uid(&name(id)), "{id}");
            let clear = |_: &DatabaseInfo| suite.clear(&name(id));
            suite.catalog.delete(&suite.databases, &name(id), clear).unwrap();
        }
        assert!(listed(&suite).is_empty());
    }

    #[test]
    fn looking_fills_nothing() {
        let suite = suite();
        for number in 0..100 {
            assert!(suite.uid(&DatabaseName::new(&number.to_string(), DEFAULT)).is_some());
        }
        assert!(suite.catalog.entries.lock().is_empty());
    }

    #[test]
    fn changes_see_what_the_one_before_has_left() {
        let suite = suite();
        let name = DatabaseName::new("p", "made");
        let create = || suite.catalog.create(&suite.databases, &name, DatabaseSettings::default());
        create().unwrap();
        assert!(matches!(create(), Err(Error::DatabaseAlreadyExists)));
        let update = |change: fn(&mut DatabaseSettings)| {
            suite.catalog.update(&suite.databases, &name, |before| {
                let mut settings = before.settings.clone();
                change(&mut settings);
                Ok(settings)
            })
        };
        let one = update(|settings| settings.has_point_in_time_recovery = true).unwrap();
        let both = update(|settings| settings.is_delete_protected = true).unwrap();
        assert!(both.settings.has_point_in_time_recovery && both.settings.is_delete_protected);
        assert!(one.etag() != both.etag() && one.uid == both.uid);
        let refuse = |_: &DatabaseInfo| Err(Error::DeleteProtected(name.clone()));
        suite.catalog.delete(&suite.databases, &name, refuse).unwrap_err();
        assert_eq!(suite.uid(&name), Some(both.uid));
    }

    #[test]
    fn what_is_written_while_a_delete_ends_makes_the_database_anew() {
        let suite = suite();
        let name = DatabaseName::new("p", "written");
        suite.write(&name);
        let before = suite.uid(&name).unwrap();
        let empty_and_go_on = |_: &DatabaseInfo| {
            let commit = suite.clear(&name)?;
            suite.write(&name);
            Ok(commit)
        };
        suite.catalog.delete(&suite.databases, &name, empty_and_go_on).unwrap();
        assert!(suite.uid(&name).is_some_and(|uid| uid != before));
    }

    #[test]
    fn uuids_are_of_version_4() {
        assert_eq!(uuid([0xFF; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(uuid([0; 16]), "00000000-0000-4000-8000-000000000000");
    }
}

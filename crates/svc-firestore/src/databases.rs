//! The databases of one suite: found again where they are kept, made when they are first named.

use std::collections::HashMap;
use std::sync::Arc;

use base_env::Env;
use base_status::Status;
use base_value::DatabaseName;
use engine_store::{Commit, Snapshot, StoreError, StoreOptions, Version};
use engine_txn::{CommitError, Database, Limits};
use parking_lot::{Mutex, RwLock};
use svc_kit::Place;

use crate::error::Error;
use crate::indexes::Preparer;
use crate::kept::Kept;
use crate::limits::{DATABASES_MAX, KEPT_DATABASES_MAX};

/// One store for each database that was named, of every project.
pub(crate) struct Databases {
    env: Env,
    preparer: Arc<Preparer>,
    kept: Option<Kept>,
    cache_bytes: Option<usize>,
    /// Held for a look at the map or a change of it, never while a database works.
    open: RwLock<HashMap<DatabaseName, Database>>,
    /// Held from reading what is declared until it is derived, so that what is older never comes last.
    deriving: Mutex<()>,
}

impl Databases {
    /// Opens what is kept in `place`.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn open(
        env: Env,
        place: Place,
        preparer: Arc<Preparer>,
        cache_bytes: Option<usize>,
    ) -> Result<Databases, Status> {
        let kept = Kept::at(place);
        let names = kept.as_ref().map_or_else(|| Ok(Vec::new()), Kept::names)?;
        let (open, deriving) = (RwLock::default(), Mutex::default());
        let databases = Databases { env, preparer, kept, cache_bytes, open, deriving };
        for name in names {
            databases.get(&name)?;
        }
        Ok(databases)
    }

    /// One database. Any project and any database can be named, as with the official emulator: what does
    /// not exist yet is empty.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when the suite already holds as many databases as it may; the disk's.
    pub(crate) fn get(&self, name: &DatabaseName) -> Result<Database, Status> {
        if let Some(database) = self.open.read().get(name) {
            return Ok(database.clone());
        }
        let mut open = self.open.write();
        if let Some(database) = open.get(name) {
            return Ok(database.clone());
        }
        self.check_room(open.len())?;
        let database = Database::open(self.env.clone(), Limits::default(), self.options(name)?);
        let database = database.map_err(refused)?;
        open.insert(name.clone(), database.clone());
        Ok(database)
    }

    /// The ids of a project's databases that somebody has used.
    pub(crate) fn ids(&self, project: &str) -> Vec<String> {
        let open = self.open.read();
        let used = open.iter().filter(|(name, database)| {
            *name.project == *project && database.log().newest() > Version::ZERO
        });
        used.map(|(name, _)| name.database.to_string()).collect()
    }

    /// The version of a database; zero where nothing was ever written.
    pub(crate) fn version(&self, name: &DatabaseName) -> Version {
        let open = self.open.read();
        open.get(name).map_or(Version::ZERO, |database| database.log().newest())
    }

    /// The databases that are open.
    pub(crate) fn all(&self) -> Vec<(DatabaseName, Database)> {
        let open = self.open.read();
        open.iter().map(|(name, database)| (name.clone(), database.clone())).collect()
    }

    /// Derives what the declarations of a database say now.
    ///
    /// # Errors
    /// As [`Databases::get`].
    pub(crate) fn redefined(&self, name: &DatabaseName) -> Result<(), Status> {
        self.derive(name, &self.get(name)?);
        Ok(())
    }

    fn derive(&self, name: &DatabaseName, database: &Database) {
        let _deriving = self.deriving.lock();
        database.derive_with(Arc::new(self.preparer.indexer(name)));
    }

    /// The databases of one project, or of all.
    pub(crate) fn of(&self, project: Option<&str>) -> Vec<(DatabaseName, Database)> {
        let mut all = self.all();
        all.retain(|(name, _)| is_of(name, project));
        all
    }

    /// The options of a database in memory, but for its indexes.
    pub(crate) fn usual(&self) -> StoreOptions {
        let usual = StoreOptions::memory(self.env.clone());
        let cache_bytes = self.cache_bytes.unwrap_or(usual.cache_bytes);
        StoreOptions { cache_bytes, ..usual }
    }

    fn options(&self, name: &DatabaseName) -> Result<StoreOptions, Status> {
        let memory = self.usual();
        let derive = Arc::new(self.preparer.indexer(name));
        Ok(match &self.kept {
            Some(kept) => StoreOptions {
                derive,
                place: engine_store::Place::Kept { dir: kept.folder(name)? },
                durability: kept.durability(),
                ..memory
            },
            None => StoreOptions { derive, ..memory },
        })
    }

    fn check_room(&self, len: usize) -> Result<(), Status> {
        let (most, what) = match self.kept {
            Some(_) => {
                (KEPT_DATABASES_MAX, "kept databases; start a suite that does not keep its data")
            }
            None => (DATABASES_MAX, "databases; stop it and start a new one"),
        };
        if len < most {
            return Ok(());
        }
        Err(Status::resource_exhausted(format!("this suite already holds {most} {what}")))
    }

    /// Empties the databases of one project, or of all.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn clear(&self, project: Option<&str>) -> Result<(), Status> {
        replace_all(&self.of(project), |(_, database)| database.clear())
    }

    /// Makes the project `to` a copy of `from`. Databases that come to be by this live in memory, also
    /// where data is kept.
    ///
    /// # Errors
    /// As [`Databases::get`].
    pub(crate) fn fork(&self, from: &str, to: &str) -> Result<(), Status> {
        self.preparer.fork(from, to);
        let mut copies: HashMap<DatabaseName, Snapshot> = self
            .of(Some(from))
            .iter()
            .map(|(name, it)| (DatabaseName::new(to, &name.database), it.snapshot()))
            .collect();
        let targets = self.of(Some(to));
        replace_all(&targets, |(name, database)| replace(database, copies.get(name)))?;
        for (name, database) in &targets {
            copies.remove(name);
            self.derive(name, database);
        }
        for (name, snapshot) in copies {
            let fork = Database::fork(self.env.clone(), Limits::default(), &snapshot);
            self.derive(&name, &fork);
            let mut open = self.open.write();
            // Somebody may have named it meanwhile; nothing can be in it that counts.
            if !open.contains_key(&name) {
                self.check_room(open.len())?;
            }
            open.insert(name, fork);
        }
        Ok(())
    }

    /// Makes the files of what is kept as small as they can be.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn compact(&self) -> Result<(), Status> {
        let all = self.all();
        let mut kept = all.iter().filter(|(_, database)| database.is_kept());
        kept.try_for_each(|(_, database)| database.compact()).map_err(refused)
    }

    /// Lets go of every database, and writes what is kept to the disk. Of one that nothing was ever written
    /// to nothing is kept.
    ///
    /// # Errors
    /// The disk's; every other database is closed all the same.
    pub(crate) fn close(&self) -> Result<(), Status> {
        let close = |(name, database): (DatabaseName, Database)| {
            let is_unused = database.log().newest() == Version::ZERO;
            database.close().map_err(refused)?;
            match &self.kept {
                Some(kept) if is_unused => kept.remove(&name),
                Some(_) | None => Ok(()),
            }
        };
        let closed: Vec<_> = self.all().into_iter().map(close).collect();
        closed.into_iter().collect()
    }
}

/// Whether a database is of that project, or of any.
pub(crate) fn is_of(name: &DatabaseName, project: Option<&str>) -> bool {
    project.is_none_or(|project| *project == *name.project)
}

/// Makes a database hold what a snapshot shows, or nothing.
pub(crate) fn replace(
    database: &Database,
    by: Option<&Snapshot>,
) -> Result<Arc<Commit>, StoreError> {
    match by {
        Some(snapshot) => database.restore(snapshot),
        None => database.clear(),
    }
}

/// Replaces what databases hold, and waits until that has survived what their durability promises.
pub(crate) fn replace_all(
    databases: &[(DatabaseName, Database)],
    replace: impl Fn(&(DatabaseName, Database)) -> Result<Arc<Commit>, StoreError>,
) -> Result<(), Status> {
    let commits: Result<Vec<_>, _> = databases.iter().map(replace).collect();
    // All are on their way to the disk before the first one is waited for.
    let commits = commits.map_err(refused)?;
    let mut done = databases.iter().zip(&commits);
    done.try_for_each(|((_, database), commit)| database.wait_durable(commit)).map_err(refused)
}

/// The disk's refusal as clients read it.
pub(crate) fn refused(error: StoreError) -> Status {
    Error::Commit(CommitError::from(error)).into()
}

//! Everything Firestore keeps: one store per database, made when it is first named.

use std::collections::HashMap;
use std::sync::Arc;

use base_env::Env;
use base_status::Status;
use base_value::DatabaseName;
use engine_store::StoreOptions;
use engine_txn::{CommitError, Database, Limits};
use parking_lot::RwLock;
use tokio::sync::watch;

use crate::error::Error;
use crate::indexes::indexer;
use crate::limits::DATABASES_MAX;

/// The databases of one suite, of every project that was named.
pub(crate) struct State {
    pub(crate) env: Env,
    /// A number that tells this suite's resume tokens from those of any other.
    pub(crate) suite: u64,
    databases: RwLock<HashMap<DatabaseName, Database>>,
    stopping: watch::Sender<bool>,
}

impl State {
    pub(crate) fn new(env: Env) -> State {
        let (stopping, _) = watch::channel(false);
        let mut suite = [0; 8];
        env.random(&mut suite);
        State { env, suite: u64::from_be_bytes(suite), databases: RwLock::default(), stopping }
    }

    /// The store of a database. Any project and any database can be named, as with the official
    /// emulator: what does not exist yet is empty.
    ///
    /// # Errors
    /// RESOURCE_EXHAUSTED when a suite already holds as many databases as it may.
    pub(crate) fn database(&self, name: &DatabaseName) -> Result<Database, Status> {
        if let Some(database) = self.databases.read().get(name) {
            return Ok(database.clone());
        }
        let mut databases = self.databases.write();
        if databases.len() >= DATABASES_MAX && !databases.contains_key(name) {
            return Err(Status::resource_exhausted(format!(
                "this suite already holds {DATABASES_MAX} databases; stop it and start a new one"
            )));
        }
        if let Some(database) = databases.get(name) {
            return Ok(database.clone());
        }
        let derive = Arc::new(indexer());
        let options = StoreOptions { derive, ..StoreOptions::memory(self.env.clone()) };
        let database = Database::open(self.env.clone(), Limits::default(), options);
        let database = database.map_err(|error| Status::from(Error::Commit(error.into())))?;
        databases.insert(name.clone(), database.clone());
        Ok(database)
    }

    /// Empties the databases of one project, or of all.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn clear(&self, project: Option<&str>) -> Result<(), Error> {
        let databases = self.databases.read();
        for (name, database) in databases.iter() {
            if project.is_none_or(|project| *project == *name.project) {
                database.clear().map_err(CommitError::from)?;
            }
        }
        Ok(())
    }

    /// Tells every stream to end.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
    }

    /// Becomes true when the service stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

/// Waits until the service stops.
pub(crate) async fn stopped(stopping: &mut watch::Receiver<bool>) {
    // An error means that the state is gone, which is as good as stopped.
    let _stopped = stopping.wait_for(|stopping| *stopping).await.map(drop);
}

//! What the operations of one suite share: its databases, its clock, and whether it is stopping.

use std::sync::Arc;

use base_env::Env;
use base_env::file::FileWatch;
use base_status::Status;
use base_value::{DatabaseName, LimitPolicy};
use engine_txn::Database;
use parking_lot::Mutex;
use svc_kit::Context;
use tokio::sync::watch;

use crate::access::{self, Rules};
use crate::catalog::Catalog;
use crate::config::Config;
use crate::databases::Databases;
use crate::feed::Feed;
use crate::hubs::Hubs;
use crate::indexes::Preparer;
use crate::operations::Operations;
use crate::ttl::Sweeper;

/// Everything the operations work on.
pub(crate) struct State {
    pub(crate) env: Env,
    /// The suite's own project.
    pub(crate) project: String,
    /// A number that tells this suite's resume tokens from those of any other.
    pub(crate) suite: u64,
    pub(crate) preparer: Arc<Preparer>,
    pub(crate) databases: Arc<Databases>,
    pub(crate) hubs: Hubs,
    pub(crate) rules: Arc<Rules>,
    /// Those who follow what rules decide.
    pub(crate) feed: Arc<Feed>,
    pub(crate) catalog: Catalog,
    pub(crate) operations: Operations,
    pub(crate) sweeper: Sweeper,
    /// Follows rules files, until the service stops.
    rules_files: Mutex<Option<FileWatch>>,
    stopping: watch::Sender<bool>,
}

impl State {
    /// # Errors
    /// What is kept cannot be opened.
    pub(crate) fn open(context: Context, config: Config) -> Result<State, Status> {
        let Context { env, project, place, log, .. } = context;
        let (stopping, _) = watch::channel(false);
        let mut suite = [0; 8];
        env.random(&mut suite);
        let preparer = Arc::new(Preparer::new(config.indexes, config.limits, log.clone()));
        let databases =
            Databases::open(env.clone(), place, Arc::clone(&preparer), config.cache_bytes)?;
        let databases = Arc::new(databases);
        let rules = Arc::new(Rules::default());
        for start in &config.rules {
            start.put_in(&rules);
        }
        let rules_files = access::watch_files(config.rules, Arc::clone(&rules), log.clone());
        let ids = config.databases.into_iter().map(|database| database.id).collect();
        Ok(State {
            project,
            suite: u64::from_be_bytes(suite),
            hubs: Hubs::default(),
            feed: Arc::default(),
            catalog: Catalog::new(env.clone(), ids),
            operations: Operations::new(env.clone()),
            sweeper: Sweeper::new(env.clone(), log, Arc::clone(&databases), Arc::clone(&preparer)),
            env,
            preparer,
            databases,
            rules,
            rules_files: Mutex::new(rules_files),
            stopping,
        })
    }

    /// Follows a change of what is declared for a database.
    ///
    /// # Errors
    /// As [`Databases::get`].
    pub(crate) fn redefined(&self, name: &DatabaseName) -> Result<(), Status> {
        self.databases.redefined(name)?;
        self.sweeper.wake();
        Ok(())
    }

    /// Makes the project `to` a copy of `from`, rules and indexes included.
    ///
    /// # Errors
    /// As [`Databases::get`]; the disk's.
    pub(crate) fn fork(&self, from: &str, to: &str) -> Result<(), Status> {
        self.databases.fork(from, to)?;
        self.rules.fork(from, to);
        Ok(())
    }

    /// Whether production's limits hold.
    pub(crate) fn limits(&self) -> LimitPolicy {
        self.preparer.limits()
    }

    /// Same as [`Databases::get`].
    ///
    /// # Errors
    /// As there.
    pub(crate) fn database(&self, name: &DatabaseName) -> Result<Database, Status> {
        self.databases.get(name)
    }

    /// Tells every stream to end.
    pub(crate) fn stop(&self) {
        self.stopping.send_replace(true);
        drop(self.rules_files.lock().take());
    }

    /// Becomes true when the service stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

//! What the operations of one suite share: its databases, its clock, and whether it is stopping.

use std::sync::Arc;

use base_env::Env;
use base_status::Status;
use base_value::{DatabaseName, LimitPolicy};
use engine_txn::Database;
use svc_kit::Context;
use tokio::sync::watch;

use crate::catalog::Catalog;
use crate::config::Config;
use crate::databases::Databases;
use crate::indexes::Preparer;
use crate::operations::Operations;
use crate::ttl::Sweeper;

/// Everything the operations work on.
pub(crate) struct State {
    pub(crate) env: Env,
    /// A number that tells this suite's resume tokens from those of any other.
    pub(crate) suite: u64,
    pub(crate) preparer: Arc<Preparer>,
    pub(crate) databases: Arc<Databases>,
    pub(crate) catalog: Catalog,
    pub(crate) operations: Operations,
    pub(crate) sweeper: Sweeper,
    stopping: watch::Sender<bool>,
}

impl State {
    /// # Errors
    /// What is kept cannot be opened.
    pub(crate) fn open(context: Context, config: Config) -> Result<State, Status> {
        let Context { env, place, log, .. } = context;
        let (stopping, _) = watch::channel(false);
        let mut suite = [0; 8];
        env.random(&mut suite);
        let preparer = Arc::new(Preparer::new(config.indexes, config.limits, log.clone()));
        let databases =
            Databases::open(env.clone(), place, Arc::clone(&preparer), config.cache_bytes)?;
        let databases = Arc::new(databases);
        let ids = config.databases.into_iter().map(|database| database.id).collect();
        Ok(State {
            suite: u64::from_be_bytes(suite),
            catalog: Catalog::new(env.clone(), ids),
            operations: Operations::new(env.clone()),
            sweeper: Sweeper::new(env.clone(), log, Arc::clone(&databases), Arc::clone(&preparer)),
            env,
            preparer,
            databases,
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
    }

    /// Becomes true when the service stops.
    pub(crate) fn stopping(&self) -> watch::Receiver<bool> {
        self.stopping.subscribe()
    }
}

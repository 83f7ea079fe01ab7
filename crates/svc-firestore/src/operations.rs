//! Long-running operations of the admin API. Here they are done when they are answered, and kept for clients
//! that ask again.

use std::collections::VecDeque;
use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::DatabaseName;
use parking_lot::Mutex;

use crate::catalog::DatabaseInfo;
use crate::limits::OPERATIONS_MAX;
use crate::ops::admin::fields::{FieldChange, FieldInfo};
use crate::ops::admin::indexes::IndexInfo;

/// One operation, which is done.
#[derive(Clone, Debug)]
pub(crate) struct Operation {
    pub(crate) database: DatabaseName,
    /// The last part of its name.
    pub(crate) id: String,
    /// When it was begun and done.
    pub(crate) time: UnixMicros,
    pub(crate) outcome: Outcome,
}

/// What an operation has done.
#[derive(Clone, Debug)]
pub(crate) enum Outcome {
    IndexCreated(IndexInfo),
    FieldUpdated { field: FieldInfo, changes: Vec<FieldChange> },
    DatabaseCreated(DatabaseInfo),
    DatabaseUpdated(DatabaseInfo),
    DatabaseDeleted(DatabaseInfo),
}

/// The newest operations of a suite.
pub(crate) struct Operations {
    env: Env,
    // INVARIANT: at most OPERATIONS_MAX, the oldest one first.
    done: Mutex<VecDeque<Arc<Operation>>>,
}

impl Operations {
    pub(crate) fn new(env: Env) -> Operations {
        Operations { env, done: Mutex::default() }
    }

    /// Notes that something was done.
    pub(crate) fn note(&self, database: &DatabaseName, outcome: Outcome) -> Arc<Operation> {
        let (id, time) = (self.env.auto_id(), self.env.now());
        let operation = Arc::new(Operation { database: database.clone(), id, time, outcome });
        let mut done = self.done.lock();
        if done.len() >= OPERATIONS_MAX {
            done.pop_front();
        }
        done.push_back(Arc::clone(&operation));
        operation
    }

    /// The operations of a database, the oldest one first.
    pub(crate) fn of(&self, database: &DatabaseName) -> Vec<Arc<Operation>> {
        let done = self.done.lock();
        done.iter().filter(|operation| operation.database == *database).cloned().collect()
    }

    /// Forgets one. Says whether there was one.
    pub(crate) fn remove(&self, database: &DatabaseName, id: &str) -> bool {
        let mut done = self.done.lock();
        let before = done.len();
        done.retain(|operation| operation.database != *database || operation.id != id);
        done.len() < before
    }
}

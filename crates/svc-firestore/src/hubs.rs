//! Who listens to which database.

use std::collections::HashMap;

use base_value::DatabaseName;
use engine_txn::Database;
use engine_watch::Hub;
use parking_lot::Mutex;

use crate::ops::listen::TargetShape;

/// One hub for each database that was ever listened to.
#[derive(Default)]
pub(crate) struct Hubs {
    hubs: Mutex<HashMap<DatabaseName, Hub<TargetShape>>>,
}

impl Hubs {
    /// The hub of a database.
    pub(crate) fn of(&self, name: &DatabaseName, database: &Database) -> Hub<TargetShape> {
        let mut hubs = self.hubs.lock();
        hubs.entry(name.clone()).or_insert_with(|| Hub::new(database)).clone()
    }

    /// Waits until everybody who listens has been sent what was committed before.
    pub(crate) async fn idle(&self) {
        let hubs: Vec<_> = self.hubs.lock().values().cloned().collect();
        for hub in hubs {
            hub.idle().await;
        }
    }
}

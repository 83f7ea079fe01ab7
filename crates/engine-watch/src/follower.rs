//! One reader of a database's commit log.

use std::sync::Arc;

use engine_store::{Commit, Version};
use engine_txn::Database;
use tokio::sync::watch;

use crate::limits::EVENT_COMMITS_MAX;

/// What a follower hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next commits, oldest first: at least one, and none left out.
    Commits(Vec<Arc<Commit>>),
    /// Commits were lost: the follower was too slow, or the database was cleared of more than a log can
    /// list. It goes on after the newest commit. Take a snapshot, start over from it, and
    /// [`Follower::skip_to`] its version.
    Lagged,
}

/// Reads the commits of one database in order, at its own pace. It never slows a commit.
#[derive(Debug)]
pub struct Follower {
    database: Database,
    published: watch::Receiver<Version>,
    version: Version,
}

impl Follower {
    /// Follows what is committed from now on.
    pub fn new(database: &Database) -> Follower {
        Follower::after(database, database.log().newest())
    }

    /// Follows what was committed after `version`, of a snapshot for example.
    pub fn after(database: &Database, version: Version) -> Follower {
        Follower { published: database.subscribe(), database: database.clone(), version }
    }

    /// The version after which the next event begins.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Leaves out what was committed up to `version`, if that is ahead.
    pub fn skip_to(&mut self, version: Version) {
        self.version = self.version.max(version);
    }

    /// Waits for the next commits. Nothing is lost when the future is dropped before it is ready.
    pub async fn next(&mut self) -> Event {
        loop {
            // Marked as seen before the log is read: what comes in between is news again.
            self.published.borrow_and_update();
            if let Some(event) = self.try_next() {
                return event;
            }
            if self.published.changed().await.is_err() {
                // The sender lives in the database that this follower holds.
                std::future::pending::<()>().await;
            }
        }
    }

    /// The next commits, if there are some already.
    pub fn try_next(&mut self) -> Option<Event> {
        let log = self.database.log();
        let Ok(commits) = log.since_limited(self.version, EVENT_COMMITS_MAX) else {
            self.version = log.newest();
            return Some(Event::Lagged);
        };
        self.version = commits.last()?.version;
        Some(Event::Commits(commits))
    }
}

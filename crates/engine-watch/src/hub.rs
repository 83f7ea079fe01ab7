//! The hub of one database: who listens to it, and what commits have to do with that.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use engine_store::Commit;
use engine_txn::{Database, Listing, Observer};
use parking_lot::{Mutex, RwLock};

use crate::feed::Feed;
use crate::inbox::{Inbox, Item};
use crate::queue::{Ping, Queue};
use crate::registry::Registry;
use crate::runner::Runner;
use crate::select::Select;

/// Everything that is listened to in one database. Clones are the same hub.
pub struct Hub<S: Select> {
    pub(crate) shared: Arc<Shared<S>>,
}

/// The parts of a hub. Locks are taken in this order: readers, registry, those of a view, a queue. A commit takes the
/// registry and the inbox, so neither is held where the database is called, but for its log.
pub(crate) struct Shared<S: Select> {
    pub(crate) database: Database,
    pub(crate) registry: RwLock<Registry<S>>,
    pub(crate) inbox: Inbox<S>,
    pub(crate) readers: Mutex<Readers<S>>,
}

pub(crate) struct Readers<S: Select> {
    pub(crate) queues: BTreeMap<u64, Arc<Queue<S>>>,
    /// Whether somebody works for the hub. While nobody does, there are no readers, and commits cost nothing.
    pub(crate) running: bool,
    last: u64,
}

impl<S: Select> Hub<S> {
    /// The hub of a database. There must be one only: commits tell the last one made.
    pub fn new(database: &Database) -> Hub<S> {
        let readers = Readers { queues: BTreeMap::new(), running: false, last: 0 };
        let shared = Shared {
            database: database.clone(),
            registry: RwLock::new(Registry::new()),
            inbox: Inbox::new(),
            readers: Mutex::new(readers),
        };
        Hub { shared: Arc::new(shared) }
    }

    /// A new reader, who watches nothing yet. The first one gets the hub's work, too, which has to be run somewhere
    /// for as long as it takes.
    pub fn join(&self) -> (Feed<S>, Option<Runner<S>>) {
        let mut readers = self.shared.readers.lock();
        readers.last += 1;
        let queue = Arc::new(Queue::new(readers.last));
        readers.queues.insert(queue.reader, Arc::clone(&queue));
        let starts = !std::mem::replace(&mut readers.running, true);
        if starts {
            self.shared.database.observe(Some(Arc::<Shared<S>>::clone(&self.shared)));
        }
        drop(readers);
        let runner = starts.then(|| Runner::new(Arc::clone(&self.shared)));
        (Feed::new(self.clone(), queue), runner)
    }

    /// Waits until all readers have passed on everything that was committed before.
    pub async fn idle(&self) {
        let (ping, gone) = Ping::new();
        {
            let readers = self.shared.readers.lock();
            if !readers.running {
                return;
            }
            self.shared.inbox.push(Item::Ping(ping));
        }
        gone.await;
    }
}

impl<S: Select> Observer for Shared<S> {
    fn committed(&self, commit: &Arc<Commit>, listing: Listing) -> bool {
        match listing {
            Listing::LeftOut => self.inbox.lose(commit.version),
            Listing::Complete if self.registry.read().concerns(&commit.changes) => {
                self.inbox.push_commit(commit);
            }
            Listing::Complete => return false,
        }
        true
    }

    fn wake(&self) {
        self.inbox.wake();
    }
}

impl<S: Select> Clone for Hub<S> {
    fn clone(&self) -> Hub<S> {
        Hub { shared: Arc::clone(&self.shared) }
    }
}

impl<S: Select> fmt::Debug for Hub<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").field("database", &self.shared.database).finish_non_exhaustive()
    }
}

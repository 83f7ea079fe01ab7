//! A reader's end: what he watches, and what he hears of it.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use engine_store::Version;

use crate::hub::Hub;
use crate::inbox::Item;
use crate::queue::{News, Queue};
use crate::select::{Row, Select};
use crate::view::{View, ViewId};

/// What one reader watches. Dropping it ends that.
///
/// To begin with a target: watch it, take a snapshot, work out what it selects there, [`Feed::offer`] that, and take
/// the news until a [`Feed::mark`] comes. What is newer than the snapshot by then, and what comes later, is what
/// changed since.
pub struct Feed<S: Select> {
    hub: Hub<S>,
    queue: Arc<Queue<S>>,
    /// With how many times each is watched.
    views: HashMap<ViewId, (Arc<View<S>>, usize)>,
    last_mark: u64,
}

impl<S: Select> Feed<S> {
    pub(crate) fn new(hub: Hub<S>, queue: Arc<Queue<S>>) -> Feed<S> {
        Feed { hub, queue, views: HashMap::new(), last_mark: 0 }
    }

    /// Watches a target from now on. One that is watched already is the same view, and is to be unwatched as often.
    pub fn watch(&mut self, shape: &Arc<S>) -> ViewId {
        let shared = &self.hub.shared;
        let mut registry = shared.registry.write();
        // Commits look into the registry once they are in the log: later ones find the view.
        let newest = shared.database.log().newest();
        let view = registry.join(shape, &self.queue, newest);
        drop(registry);
        let (_, times) = self.views.entry(view.id).or_insert_with(|| (Arc::clone(&view), 0));
        *times += 1;
        view.id
    }

    /// Watches a target no more. What has come of it already still waits.
    pub fn unwatch(&mut self, id: ViewId) {
        let Some((_, times)) = self.views.get_mut(&id) else { return };
        *times -= 1;
        if *times == 0
            && let Some((view, _)) = self.views.remove(&id)
        {
            self.hub.shared.registry.write().leave(&view, self.queue.reader);
        }
    }

    /// Says what a watched target with bounds selects ([`Select::run`]) in a snapshot that was taken since it is
    /// watched, so that nobody needs to find out again.
    pub fn offer(&self, id: ViewId, version: Version, rows: Vec<Row>) {
        if let Some((view, _)) = self.views.get(&id) {
            let view = Arc::clone(view);
            self.hub.shared.inbox.push(Item::Offer { view, version, rows });
        }
    }

    /// Asks for a [`News::Mark`] with the number answered, once everything has come that is committed already.
    pub fn mark(&mut self) -> u64 {
        self.last_mark += 1;
        let queue = Arc::clone(&self.queue);
        self.hub.shared.inbox.push(Item::Mark(queue, self.last_mark));
        self.last_mark
    }

    /// Waits for the next news. Nothing is lost when the future is dropped before it is ready.
    pub async fn next(&mut self) -> News<S> {
        self.queue.next().await
    }
}

impl<S: Select> Drop for Feed<S> {
    fn drop(&mut self) {
        let shared = &self.hub.shared;
        let mut registry = shared.registry.write();
        for (view, _) in self.views.values() {
            registry.leave(view, self.queue.reader);
        }
        drop(registry);
        shared.readers.lock().queues.remove(&self.queue.reader);
        // The last one to go ends the hub's work.
        shared.inbox.wake();
    }
}

impl<S: Select> fmt::Debug for Feed<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Feed").field("views", &self.views.keys()).finish_non_exhaustive()
    }
}

//! What waits for the hub: commits that concern some view, and what readers want of it, in one order.

use std::collections::VecDeque;
use std::sync::Arc;

use engine_store::{Change, Commit, Version};
use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::limits::{INBOX_BYTES_MAX, INBOX_COMMITS_MAX};
use crate::queue::{Ping, Queue};
use crate::select::{Row, Select};
use crate::view::View;

/// Something for the hub to do.
pub(crate) enum Item<S: Select> {
    Commit(Arc<Commit>),
    /// What a view with bounds shows in the state of a version.
    Offer {
        view: Arc<View<S>>,
        version: Version,
        rows: Vec<Row>,
    },
    /// Tell a reader that all before this has come.
    Mark(Arc<Queue<S>>, u64),
    /// Tell all of them, and hand this on.
    Ping(Ping),
    /// Commits up to this version were left out, and with them all that depended on them.
    Lost(Version),
}

/// The hub's bounded queue.
pub(crate) struct Inbox<S: Select> {
    contents: Mutex<Contents<S>>,
    ready: Notify,
}

struct Contents<S: Select> {
    items: VecDeque<Item<S>>,
    commits: usize,
    bytes: usize,
}

impl<S: Select> Inbox<S> {
    pub(crate) fn new() -> Inbox<S> {
        let contents = Contents { items: VecDeque::new(), commits: 0, bytes: 0 };
        Inbox { contents: Mutex::new(contents), ready: Notify::new() }
    }

    /// Adds something that is not a commit.
    pub(crate) fn push(&self, item: Item<S>) {
        self.contents.lock().items.push_back(item);
        self.wake();
    }

    /// Adds a commit; the hub is woken by [`Inbox::wake`].
    pub(crate) fn push_commit(&self, commit: &Arc<Commit>) {
        let bytes = size(commit);
        let mut contents = self.contents.lock();
        let is_full = contents.commits >= INBOX_COMMITS_MAX
            || (contents.commits > 0 && contents.bytes + bytes > INBOX_BYTES_MAX);
        if is_full {
            contents.lose(commit.version);
            return;
        }
        contents.commits += 1;
        contents.bytes += bytes;
        contents.items.push_back(Item::Commit(Arc::clone(commit)));
    }

    /// Leaves out everything up to a version.
    pub(crate) fn lose(&self, version: Version) {
        self.contents.lock().lose(version);
    }

    pub(crate) fn wake(&self) {
        self.ready.notify_one();
    }

    pub(crate) fn take(&self) -> Option<Item<S>> {
        let mut contents = self.contents.lock();
        let item = contents.items.pop_front();
        if let Some(Item::Commit(commit)) = &item {
            contents.commits -= 1;
            contents.bytes -= size(commit);
        }
        item
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.contents.lock().items.is_empty()
    }

    /// Drops everything.
    pub(crate) fn clear(&self) {
        let mut contents = self.contents.lock();
        (contents.commits, contents.bytes) = (0, 0);
        // Dropped behind the lock: an item may hold the last handle to much.
        let items = std::mem::take(&mut contents.items);
        drop(contents);
        drop(items);
    }

    /// Waits until there may be something.
    pub(crate) async fn ready(&self) {
        self.ready.notified().await;
    }
}

impl<S: Select> Contents<S> {
    /// What is left is for readers, who are to hear that they lost something first.
    fn lose(&mut self, version: Version) {
        self.items.retain(|item| match item {
            Item::Mark(..) | Item::Ping(_) => true,
            Item::Commit(_) | Item::Offer { .. } | Item::Lost(_) => false,
        });
        (self.commits, self.bytes) = (0, 0);
        self.items.push_front(Item::Lost(version));
    }
}

fn size(commit: &Commit) -> usize {
    commit.changes.iter().map(Change::size).sum()
}

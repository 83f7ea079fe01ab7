//! Syncing: getting the journal of a kept store onto the disk, on a thread of its own.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use base_env::thread;
use parking_lot::{Condvar, Mutex};

use crate::error::StoreError;
use crate::limits::{IDLE_FOLD_BYTES, IDLE_INTERVALS, SYNC_INTERVAL};
use crate::record::Version;
use crate::shared::Shared;

/// Told when a version is on the disk, or why it is not.
pub(crate) type Waiter = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// What the sync thread and those who wait for it share.
#[derive(Default)]
pub(crate) struct Syncing {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Held while somebody syncs.
    one: Mutex<()>,
    /// The newest version known to be on the disk.
    synced: AtomicU64,
    /// A sync failed. What the disk holds is not known any more, and never will be.
    failed: OnceLock<StoreError>,
}

#[derive(Default)]
struct Queue {
    waiters: Vec<(Version, Waiter)>,
    stopping: bool,
    thread: Option<JoinHandle<()>>,
}

impl Syncing {
    /// Everything up to `version` is on the disk already.
    pub(crate) fn starting_at(version: Version) -> Syncing {
        Syncing { synced: AtomicU64::new(version.get()), ..Syncing::default() }
    }

    /// The newest version known to be on the disk.
    pub(crate) fn synced(&self) -> Version {
        Version::new(self.synced.load(Ordering::Acquire))
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.failed.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Calls `waiter` once `version` is on the disk.
    pub(crate) fn wait(&self, version: Version, waiter: Waiter) {
        if self.synced() >= version {
            return waiter(Ok(()));
        }
        let mut queue = self.queue.lock();
        if queue.thread.is_none() {
            drop(queue);
            return waiter(Err(StoreError::Closed));
        }
        queue.waiters.push((version, waiter));
        drop(queue);
        self.changed.notify_one();
    }

    /// Starts the thread.
    pub(crate) fn start(&self, shared: &Arc<Shared>) -> Result<(), StoreError> {
        let work = {
            let shared = Arc::clone(shared);
            move || keep_synced(&shared)
        };
        let thread = thread::spawn("store-sync", work);
        let thread = thread.map_err(|error| {
            StoreError::io("start a thread for", &shared.settings().scratch.dir, &error)
        })?;
        self.queue.lock().thread = Some(thread);
        Ok(())
    }

    /// Ends the thread, after a last sync. Doing so twice is fine.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut queue = self.queue.lock();
            queue.stopping = true;
            queue.thread.take()
        };
        self.changed.notify_one();
        if let Some(thread) = thread {
            // It has no result, and a panic in it has been reported.
            let _ = thread.join();
        }
    }
}

impl fmt::Debug for Syncing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Syncing").field("synced", &self.synced()).finish_non_exhaustive()
    }
}

/// Syncs once an interval, and at once when somebody waits: one sync serves all who came before it.
fn keep_synced(shared: &Arc<Shared>) {
    let syncing = &shared.syncing;
    let mut last_version = syncing.synced();
    let mut idle_intervals = 0;
    loop {
        let (waiters, stopping, waited) = {
            let mut queue = syncing.queue.lock();
            let mut waited = false;
            if queue.waiters.is_empty() && !queue.stopping {
                waited = syncing.changed.wait_for(&mut queue, SYNC_INTERVAL).timed_out();
            }
            (std::mem::take(&mut queue.waiters), queue.stopping, waited)
        };
        let result = sync(shared);
        for (version, waiter) in waiters {
            // A waiter's version was appended before it came, so this sync covered it.
            debug_assert!(result.is_err() || version <= syncing.synced(), "appended, not synced");
            waiter(result.clone());
        }
        if stopping {
            return;
        }
        if waited {
            if shared.folding.check().is_err() {
                // Nobody may be writing who would ask for it.
                shared.folding.request(shared);
            }
            let version = syncing.synced();
            idle_intervals = if version == last_version { idle_intervals + 1 } else { 0 };
            last_version = version;
            if idle_intervals == IDLE_INTERVALS {
                let unfolded = shared.head.lock().unfolded_bytes();
                if unfolded >= IDLE_FOLD_BYTES {
                    shared.folding.request(shared);
                }
            }
        }
    }
}

/// Gets everything appended so far onto the disk.
pub(crate) fn sync(shared: &Shared) -> Result<(), StoreError> {
    let syncing = &shared.syncing;
    let _one = syncing.one.lock();
    syncing.check()?;
    let (to_sync, spare) = {
        let head = shared.head.lock();
        let Some(journal) = &head.journal else { return Ok(()) };
        (journal.to_sync(), journal.wanted_spare())
    };
    if to_sync.version > syncing.synced() {
        if let Err(error) = to_sync.sync() {
            let dir = shared.folder.as_ref().map(|folder| folder.dir.clone());
            let error = StoreError::io("sync", &dir.unwrap_or_default(), &error);
            return Err(syncing.failed.get_or_init(|| error).clone());
        }
        syncing.synced.fetch_max(to_sync.version.get(), Ordering::AcqRel);
        if let Some(journal) = &mut shared.head.lock().journal {
            journal.synced(&to_sync);
        }
    }
    if let Some(spare) = spare {
        spare.make();
    }
    Ok(())
}

//! Syncing: getting the journal of a kept store onto the disk, on a thread of its own.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use base_env::thread;
use parking_lot::{Condvar, Mutex};

use crate::error::StoreError;
use crate::journal::Journal;
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
    /// There is something to do beside syncing. Where the thread is just about to wait it comes to it an interval
    /// later.
    woken: AtomicBool,
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
    /// The thread has panicked.
    ended: bool,
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
        if queue.thread.is_none() || queue.ended {
            drop(queue);
            return waiter(Err(self.check().err().unwrap_or(StoreError::Closed)));
        }
        queue.waiters.push((version, waiter));
        drop(queue);
        self.changed.notify_one();
    }

    /// Has the thread look at the journal soon. Takes no lock.
    pub(crate) fn wake(&self) {
        self.woken.store(true, Ordering::Release);
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

/// Lets those who wait go where a panic ends the thread: nobody would tell them any more.
struct Running<'a> {
    syncing: &'a Syncing,
    ended: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        self.syncing.failed.get_or_init(|| StoreError::Panicked { doing: "sync" });
        let waiters = {
            let mut queue = self.syncing.queue.lock();
            queue.ended = true;
            std::mem::take(&mut queue.waiters)
        };
        // Not called: another panic would end the process.
        drop(waiters);
    }
}

/// The making of a segment beforehand, on a thread of its own: the disk takes its time for it, and nobody who waits for
/// a sync waits for that.
#[derive(Default)]
struct Making {
    thread: Option<JoinHandle<()>>,
}

impl Making {
    fn begin_if_due(&mut self, shared: &Shared) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            return;
        }
        self.end();
        let spare = shared.head.lock().journal.as_ref().and_then(Journal::wanted_spare);
        if let Some(spare) = spare {
            // Without a thread it is left to the commit that needs it.
            self.thread = thread::spawn("store-segment", move || spare.make()).ok();
        }
    }

    fn end(&mut self) {
        if let Some(thread) = self.thread.take() {
            // It has no result, and a panic in it has been reported.
            let _ = thread.join();
        }
    }
}

/// Syncs once an interval, and at once when somebody waits: one sync serves all who came before it.
fn keep_synced(shared: &Arc<Shared>) {
    let syncing = &shared.syncing;
    let mut running = Running { syncing, ended: false };
    let mut making = Making::default();
    let mut last_version = syncing.synced();
    let mut idle_intervals = 0;
    loop {
        let (waiters, stopping, waited) = {
            let mut queue = syncing.queue.lock();
            let mut waited = false;
            let woken = syncing.woken.swap(false, Ordering::AcqRel);
            if queue.waiters.is_empty() && !queue.stopping && !woken {
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
            making.end();
            running.ended = true;
            return;
        }
        making.begin_if_due(shared);
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
    let to_sync = {
        let head = shared.head.lock();
        let Some(journal) = &head.journal else { return Ok(()) };
        journal.to_sync()
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
    Ok(())
}

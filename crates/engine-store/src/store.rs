//! A key space: its newest state, and the right to change it.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use base_env::Env;
use parking_lot::{Condvar, Mutex, RwLock};

use crate::base::CacheBudget;
use crate::batch::WriteBatch;
use crate::compact::compact;
use crate::derive::Derive;
use crate::diff::Listing;
use crate::disk::Scratch;
use crate::error::StoreError;
use crate::folding::{Folding, fold};
use crate::limits::RETIRE_INLINE_LEN_MAX;
use crate::lower::{Lower, Settings};
use crate::open::Opened;
use crate::options::{Durability, Place, StoreOptions};
use crate::prepared::Prepared;
use crate::record::{Commit, Record, Version};
use crate::retire::Retirement;
use crate::room::Room;
use crate::shared::{Head, OwnFile, Shared};
use crate::snapshot::Snapshot;
use crate::sync::{Syncing, sync};
use crate::writer::{Replaced, Writer};

/// One key space. Reading takes an O(1) snapshot; writing happens under one mutex, in the caller's
/// thread. Folding and syncing happen on threads of the store's, which end with it.
pub struct Store {
    shared: Arc<Shared>,
    durability: Durability,
    retirement: Retirement,
}

impl Store {
    /// Opens a store, and finds in a kept one what was there.
    ///
    /// # Errors
    /// [`StoreError`], where the folder cannot be used.
    pub fn open(options: StoreOptions) -> Result<Store, StoreError> {
        let settings = Arc::new(options.settings());
        let dir = match &options.place {
            Place::Memory { .. } => {
                let state = Snapshot::with(Lower::empty(settings), options.env.now());
                return Ok(Store::with(options.env, state));
            }
            Place::Kept { dir } => dir.clone(),
        };
        let Opened { folder, file, state, journal } = Opened::find(&options, &dir, &settings)?;
        let version = state.version;
        let wants_fold = journal.is_long() || state.table_bytes >= settings.fold_bytes;
        let shared = Arc::new(Shared {
            env: options.env,
            fold_bytes: settings.fold_bytes,
            settings: RwLock::new(settings),
            head: Mutex::new(Head { state, journal: Some(journal), closed: false }),
            folded: Condvar::new(),
            room: Room::default(),
            folding: Folding::default(),
            closing: AtomicBool::new(false),
            syncing: Syncing::starting_at(version),
            folder: Some(folder),
            own_file: Mutex::new(OwnFile::kept(file)),
        });
        shared.syncing.start(&shared)?;
        if wants_fold {
            shared.folding.request(&shared);
        }
        let durability = options.durability;
        Ok(Store { shared, durability, retirement: Retirement::default() })
    }

    /// An empty store in memory.
    pub fn memory(env: Env) -> Store {
        let state = Snapshot::empty(env.now());
        Store::with(env, state)
    }

    /// A store in memory that starts with what `snapshot` shows, sharing its memory and its base. Versions
    /// go on from its, and it derives as the snapshot's store does.
    pub fn from_snapshot(env: Env, snapshot: &Snapshot) -> Store {
        Store::with(env, snapshot.unbound())
    }

    fn with(env: Env, state: Snapshot) -> Store {
        let shared = Shared {
            env,
            fold_bytes: state.lower.settings.fold_bytes,
            settings: RwLock::new(Arc::clone(&state.lower.settings)),
            head: Mutex::new(Head { state, journal: None, closed: false }),
            folded: Condvar::new(),
            room: Room::default(),
            folding: Folding::default(),
            closing: AtomicBool::new(false),
            syncing: Syncing::default(),
            folder: None,
            own_file: Mutex::default(),
        };
        Store {
            shared: Arc::new(shared),
            durability: Durability::default(),
            retirement: Retirement::default(),
        }
    }

    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// The newest state, as of now: every later commit has a later time than the snapshot's.
    pub fn snapshot(&self) -> Snapshot {
        let mut head = self.shared.head.lock();
        head.state.time = head.state.time.max(self.shared.env.now());
        head.state.clone()
    }

    /// The right to write, held by one caller at a time. Never hold it across an await, and never call
    /// the store again while holding it. Waits for a fold where far too much is unfolded.
    pub fn writer(&self) -> Writer<'_> {
        let shared = &*self.shared;
        let mut head = shared.head.lock();
        while self.shared.waits_for_room(&head) {
            shared.folded.wait(&mut head);
        }
        Writer::new(self, head)
    }

    /// Same as [`Store::writer`], but never waits for a fold: `None` where that would. For callers whose thread
    /// has other things to do, which wait by [`Store::when_room`] and try again.
    pub fn try_writer(&self) -> Option<Writer<'_>> {
        let head = self.shared.head.lock();
        let waits = self.shared.waits_for_room(&head);
        (!waits).then(|| Writer::new(self, head))
    }

    /// Calls `waiter` when it is worth to try [`Store::try_writer`] again: at once where that does not have to wait,
    /// or else after the next fold, on its thread. Others may have taken the room by then. It must be quick. Where the
    /// fold panics it is dropped, which is worth another try too.
    pub fn when_room(&self, waiter: impl FnOnce() + Send + 'static) {
        {
            let head = self.shared.head.lock();
            if self.shared.waits_for_room(&head) {
                return self.shared.room.add(Box::new(waiter));
            }
        }
        waiter();
    }

    /// Does what can be done of a commit before its turn: reads in the base what `batch` meets there, as
    /// seen in `snapshot`, and encodes it for a journal. Give it to [`Writer::apply_prepared`].
    pub fn prepare(&self, batch: WriteBatch, snapshot: &Snapshot) -> Prepared {
        self.prepare_knowing(batch, snapshot, |_| None)
    }

    /// Same as [`Store::prepare`] where some records were got from `snapshot` before: `known` answers them, or that
    /// there was none, and they are not looked up again.
    pub fn prepare_knowing(
        &self,
        batch: WriteBatch,
        snapshot: &Snapshot,
        known: impl Fn(&[u8]) -> Option<Option<Record>>,
    ) -> Prepared {
        Prepared::new(batch, snapshot, known, self.is_kept())
    }

    /// Applies `batch` if `validate` agrees with the newest state.
    ///
    /// # Errors
    /// What `validate` says, or the disk; then nothing is written.
    pub fn apply<E: From<StoreError>>(
        &self,
        validate: impl FnOnce(&Snapshot) -> Result<(), E>,
        batch: WriteBatch,
    ) -> Result<Commit, E> {
        let mut writer = self.writer();
        validate(writer.head())?;
        Ok(writer.apply(batch)?)
    }

    /// Same as [`Writer::restore`], with every change listed.
    ///
    /// # Errors
    /// The disk's; then nothing was changed.
    pub fn restore(&self, snapshot: &Snapshot) -> Result<Commit, StoreError> {
        let restored = self.writer().restore_listing(snapshot, Listing::All);
        restored.map(|restored| restored.commit)
    }

    /// Same as [`Writer::clear`].
    ///
    /// # Errors
    /// The disk's; then nothing was changed.
    pub fn clear(&self, changes_len_max: usize) -> Result<Replaced, StoreError> {
        self.writer().clear(changes_len_max)
    }

    /// Calls `waiter` when `version` has survived what the store's durability promises: at once, or
    /// from the sync thread once it is on the disk. It must be quick. Where that thread panics, which is a bug, it is
    /// dropped.
    pub fn when_durable(
        &self,
        version: Version,
        waiter: impl FnOnce(Result<(), StoreError>) + Send + 'static,
    ) {
        match self.durability {
            Durability::PerCommit if self.is_kept() => {
                self.shared.syncing.wait(version, Box::new(waiter));
            }
            Durability::PerCommit | Durability::WriteBehind => waiter(Ok(())),
        }
    }

    /// Whether [`Store::when_durable`] ever has to wait.
    pub fn syncs_commits(&self) -> bool {
        self.is_kept() && self.durability == Durability::PerCommit
    }

    /// Whether the store is to be found again when it is opened the next time.
    pub fn is_kept(&self) -> bool {
        self.shared.folder.is_some()
    }

    /// Asks for a fold soon: a query met many records that are not in the base yet.
    pub fn request_fold(&self) {
        self.shared.folding.request(&self.shared);
    }

    /// Folds now: everything committed before is in the base afterwards.
    ///
    /// # Errors
    /// The disk's, and [`StoreError::Closed`].
    pub fn fold_now(&self) -> Result<(), StoreError> {
        fold(&self.shared)
    }

    /// Makes the files of a kept store as small as they can be: folds now, and writes the base anew without the room
    /// that its file had to spare. Takes as long as there is much, and meanwhile as much room again.
    ///
    /// # Errors
    /// The disk's, and [`StoreError::Closed`]; then all is as it was.
    pub fn compact(&self) -> Result<(), StoreError> {
        compact(&self.shared)
    }

    /// About how much memory the records take that are not in the base yet.
    pub fn unfolded_bytes(&self) -> usize {
        self.shared.head.lock().unfolded_bytes()
    }

    /// Why the newest fold failed, if it did. Reads and writes go on for as long as there is memory for it.
    ///
    /// # Errors
    /// The disk's.
    pub fn check_folds(&self) -> Result<(), StoreError> {
        self.shared.folding.check()
    }

    /// Writes everything committed so far to the disk, where it is kept there.
    ///
    /// # Errors
    /// The disk's.
    pub fn sync(&self) -> Result<(), StoreError> {
        sync(&self.shared)
    }

    /// Writes everything to the disk, where it is kept there, and lets go of it. Writes are refused from
    /// now on. Doing so twice is fine. The folder can be opened again when this store and its snapshots
    /// are gone.
    ///
    /// # Errors
    /// The disk's.
    pub fn close(&self) -> Result<(), StoreError> {
        let shared = &*self.shared;
        {
            let mut head = shared.head.lock();
            if head.closed {
                return Ok(());
            }
            head.closed = true;
        }
        // What is not folded is read again at the next opening, which is quicker than the fold would be.
        shared.closing.store(true, Ordering::Release);
        shared.tell_of_room();
        shared.syncing.stop();
        shared.folding.stop();
        // A caller's own fold gives up too, and is awaited: nothing is written to the base after this.
        drop(shared.own_file.lock());
        if !self.is_kept() {
            return Ok(());
        }
        sync(shared)?;
        let journal = shared.head.lock().journal.take();
        journal.map_or(Ok(()), |journal| journal.finish())
    }

    /// Derives with `derive` from now on. Where the base was derived in another way, a fold makes it anew soon, at
    /// the cost of writing it; [`Snapshot::derivation`] says what a base holds.
    pub fn derive_with(&self, derive: Arc<dyn Derive>) {
        let shared = &self.shared;
        {
            let mut settings = shared.settings.write();
            if settings.derive.fingerprint() == derive.fingerprint() {
                return;
            }
            *settings = Arc::new(settings.with(derive));
        }
        // A fold under way finishes as it began; the next one derives anew.
        if shared.head.lock().state.lower.base.is_some() || shared.folding.is_running() {
            shared.folding.request(shared);
        }
    }

    /// Frees `garbage`, which has `len` parts: here when it is small, on a thread of the store's when
    /// it is large.
    pub fn retire<T: Send + 'static>(&self, garbage: T, len: usize) {
        if len >= RETIRE_INLINE_LEN_MAX {
            self.retirement.retire(Box::new(garbage));
        }
    }
}

impl StoreOptions {
    fn settings(&self) -> Settings {
        let dir = match &self.place {
            Place::Memory { scratch } => scratch.clone(),
            Place::Kept { .. } => std::env::temp_dir(),
        };
        let scratch = Scratch { disk: Arc::clone(&self.disk), dir };
        Settings {
            scratch,
            derive: Arc::clone(&self.derive),
            cache: CacheBudget::new(self.cache_bytes),
            fold_bytes: self.fold_bytes,
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        // Who wants to know of errors closes first; what was written is safe either way.
        let _ = self.close();
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("kept", &self.is_kept()).finish_non_exhaustive()
    }
}

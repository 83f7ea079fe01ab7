//! One file of the base.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use redb::{Builder, Database, ReadableDatabase};

use super::backend::Backend;
use super::budget::CacheShare;
use super::encode::{COUNTERS, META, RUNS};
use super::layer::Base;
use super::recent::Recent;
use super::run::Run;
use super::storage::{Lasting, Storage};
use crate::disk::{DiskFile, Scratch};
use crate::error::StoreError;
use crate::journal::Folder;

/// A redb database. Only the store that made it writes to it, one fold after the other.
pub(crate) struct BaseFile {
    pub(crate) database: Database,
    storage: Arc<Storage>,
    path: Mutex<PathBuf>,
    /// The folder of a kept store, which stays locked for as long as this may be read.
    folder: Option<Arc<Folder>>,
    /// The number of the newest state: what folds go on from.
    pub(crate) tip: Mutex<u64>,
    /// Records of its states that were read last.
    pub(super) recent: Recent,
    _cache: CacheShare,
    /// The first error that a read met. Reads themselves answer nothing then.
    failed: OnceLock<StoreError>,
}

impl BaseFile {
    /// A new file that is gone with its last user.
    pub(crate) fn temporary(
        scratch: &Scratch,
        cache: CacheShare,
    ) -> Result<Arc<BaseFile>, StoreError> {
        BaseFile::with(scratch.file()?, &scratch.dir, cache, None)
    }

    /// The file of a kept store, made where it is missing.
    pub(crate) fn kept(
        folder: &Arc<Folder>,
        path: &Path,
        cache: CacheShare,
    ) -> Result<Arc<BaseFile>, StoreError> {
        let file = folder.disk.open(path, true);
        let file = file.map_err(|error| StoreError::io("open", path, &error))?;
        BaseFile::with(file, path, cache, Some(Arc::clone(folder)))
    }

    fn with(
        file: Arc<dyn DiskFile>,
        path: &Path,
        cache: CacheShare,
        folder: Option<Arc<Folder>>,
    ) -> Result<Arc<BaseFile>, StoreError> {
        let lasting = if folder.is_some() { Lasting::Kept } else { Lasting::Temporary };
        let storage = Arc::new(Storage::new(file, lasting));
        let database = Builder::new()
            .set_cache_size(cache.bytes)
            .create_with_backend(Backend(Arc::clone(&storage)))
            .map_err(|error| base_error(path, error))?;
        Ok(Arc::new(BaseFile {
            database,
            storage,
            path: Mutex::new(path.to_owned()),
            folder,
            tip: Mutex::new(0),
            recent: Recent::new(),
            _cache: cache,
            failed: OnceLock::new(),
        }))
    }

    /// How long the file is.
    pub(super) fn size(&self) -> Option<u64> {
        self.storage.len().ok()
    }

    /// Whether the disk is full, and holds less than what is read here.
    pub(crate) fn is_full(&self) -> bool {
        self.storage.is_full()
    }

    /// The same for a fold, which must not go on then.
    pub(super) fn check_room(&self) -> io::Result<()> {
        if self.is_full() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    /// Brings what there was no room for to the disk.
    ///
    /// # Errors
    /// The disk's; [`StoreError::Full`] while there is no room.
    pub(crate) fn settle(&self) -> Result<(), StoreError> {
        let settled = self.storage.settle();
        settled.map_err(|error| StoreError::io("write", &self.path.lock(), &error))
    }

    /// The file has got this name.
    pub(crate) fn renamed(&self, path: PathBuf) {
        *self.path.lock() = path;
    }

    /// Whether nothing in it has to outlive the process.
    pub(crate) fn is_temporary(&self) -> bool {
        self.folder.is_none()
    }

    /// The number of the store that it belongs to; zero for a temporary one.
    pub(crate) fn store(&self) -> u64 {
        self.folder.as_ref().map_or(0, |folder| folder.store)
    }

    /// The newest state; `None` while there was no fold.
    pub(crate) fn newest(
        self: &Arc<BaseFile>,
        generation: u64,
        under: Option<Arc<Base>>,
    ) -> Result<Option<Base>, StoreError> {
        let open = || -> Result<Option<Base>, redb::Error> {
            let transaction = self.database.begin_read()?;
            let meta = match transaction.open_table(META) {
                Ok(meta) => meta,
                Err(redb::TableError::TableDoesNotExist(_)) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            let store = meta.get("store")?.map_or(0, |store| store.value());
            if store != self.store() {
                let what = "it belongs to the data of another store";
                return Err(redb::Error::Corrupted(what.to_owned()));
            }
            let mut runs = Vec::new();
            for run in transaction.open_table(RUNS)?.range::<u64>(..)?.rev() {
                let (number, sizes) = run?;
                runs.push(Run::open(&transaction, number.value(), sizes.value())?);
            }
            let base = Base::new(
                Arc::clone(self),
                generation,
                under,
                super::layer::Tables { runs, counters: transaction.open_table(COUNTERS)? },
                &meta,
            )?;
            Ok(Some(base))
        };
        open().map_err(|error| self.error(error))
    }

    /// Keeps the first error of a read, for who asks before answering.
    pub(crate) fn note(&self, error: impl Into<redb::Error>) {
        // Whoever came first is told.
        let _ = self.failed.set(self.error(error));
    }

    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.failed.get().map_or(Ok(()), |error| Err(error.clone()))
    }

    pub(crate) fn error(&self, error: impl Into<redb::Error>) -> StoreError {
        base_error(&self.path.lock(), error)
    }
}

fn base_error(path: &Path, error: impl Into<redb::Error>) -> StoreError {
    match error.into() {
        redb::Error::Io(error) => StoreError::io("use", path, &error),
        other => StoreError::Base { path: path.to_owned(), message: other.to_string().into() },
    }
}

impl fmt::Debug for BaseFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BaseFile").field("path", &*self.path.lock()).finish_non_exhaustive()
    }
}

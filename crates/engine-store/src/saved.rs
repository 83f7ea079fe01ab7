//! A snapshot in a folder of its own: written whole, found again by a later process, read and never changed.
//!
//! The folder is that of a store with a base and no journal (`docs/internals/store/formats.md`), and the base holds
//! records alone, with nothing derived from them.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::base::{BaseFile, CacheBudget, Fold};
use crate::derive::NoDerive;
use crate::disk::Scratch;
use crate::error::StoreError;
use crate::journal::Folder;
use crate::lower::{Lower, Settings};
use crate::options::StoreOptions;
use crate::snapshot::Snapshot;
use crate::table::Table;

impl Snapshot {
    /// Writes everything that the snapshot shows to `dir`, which is made where it is missing, in place of what an
    /// earlier snapshot may have written there. It is on the disk when this returns. Takes as long as there is much,
    /// and little memory; whoever writes to the store meanwhile does not wait for it.
    ///
    /// Of the options disk and clock count. Update times are those of the records themselves: that a whole state
    /// was restored later is not kept.
    ///
    /// # Errors
    /// The disk's; and when `cancelled` is set, which is looked at all the time. Then what is in the folder is no
    /// snapshot, unless one was there before.
    pub fn save(
        &self,
        dir: &Path,
        options: &StoreOptions,
        cancelled: &AtomicBool,
    ) -> Result<(), StoreError> {
        let folder = Arc::new(Folder::open(Arc::clone(&options.disk), dir, &options.env)?);
        let scratch = Scratch { disk: Arc::clone(&options.disk), dir: dir.to_owned() };
        let records = self.overlay_table();
        let fold = Fold {
            records: &records,
            version: self.version,
            time: self.time,
            len: self.len,
            derive: &NoDerive,
            scratch: &scratch,
            cancelled,
        };
        let path = folder.new_base_path()?;
        let file = BaseFile::kept(&folder, &path, CacheBudget::new(options.cache_bytes).whole())?;
        match &self.lower.base {
            Some(base) => fold.deriving(&file, base),
            None => fold.onto_nothing(&file),
        }?;
        file.settle()?;
        folder.rename(&path, &folder.base_path())?;
        folder.sync_names()
    }

    /// Finds what [`Snapshot::save`] has written to `dir`. The folder is locked while the snapshot, or a store that
    /// was restored or forked from it, shows it.
    ///
    /// Of the options disk, clock and memory for pages count.
    ///
    /// # Errors
    /// The disk's; [`StoreError::InUse`], [`StoreError::Format`]; [`StoreError::Missing`] where there is none.
    pub fn find(dir: &Path, options: &StoreOptions) -> Result<Snapshot, StoreError> {
        let missing = || StoreError::Missing { dir: dir.to_owned() };
        // A look must not make the folder.
        let names = options.disk.list(dir).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => missing(),
            _ => StoreError::io("read", dir, &error),
        })?;
        if names.is_empty() {
            return Err(missing());
        }
        let folder = Arc::new(Folder::open(Arc::clone(&options.disk), dir, &options.env)?);
        if !folder.has_base()? {
            return Err(missing());
        }
        let cache = CacheBudget::new(options.cache_bytes);
        let file = BaseFile::kept(&folder, &folder.base_path(), cache.whole())?;
        let base = file.newest(0, None)?.ok_or_else(missing)?;
        let scratch = Scratch { disk: Arc::clone(&options.disk), ..Scratch::default() };
        let fold_bytes = options.fold_bytes;
        let settings = Settings { scratch, derive: Arc::new(NoDerive), cache, fold_bytes };
        let (version, time, len) = (base.version, base.time, base.len);
        let settings = Arc::new(settings);
        let lower = Lower { frozen: None, base: Some(Arc::new(base)), settings };
        Ok(Snapshot { version, len, ..Snapshot::with(Arc::new(lower), time) })
    }

    /// What the records newer than the base say, in one table.
    fn overlay_table(&self) -> Table {
        match &self.lower.frozen {
            // Of a key that is in both, the newer one counts.
            Some(frozen) => self.table.clone().union(frozen.table.clone()),
            None => self.table.clone(),
        }
    }
}

//! Why the store could not do what it was asked for. The texts are for developers.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;

/// What went wrong between the store and its disk.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The operating system refused an operation on a file.
    #[error("could not {doing} {}: {message}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The kind of the system's error.
        kind: io::ErrorKind,
        /// The system's own words.
        message: Arc<str>,
    },
    /// The disk has no room for the write. Nothing was written; writes work again once there is room.
    #[error("the disk is full: no room for {}", path.display())]
    Full {
        /// The file that was to grow, or the folder of a temporary one.
        path: PathBuf,
    },
    /// Another process, or another store of this one, uses the folder.
    #[error("{} is in use by another process", dir.display())]
    InUse {
        /// The store's folder.
        dir: PathBuf,
    },
    /// The folder was written by a newer program.
    #[error(
        "{} has format {found}, and this program reads up to {supported}: use a newer version of it",
        dir.display()
    )]
    Format {
        /// The store's folder.
        dir: PathBuf,
        /// The format found.
        found: u32,
        /// The newest format that this program reads.
        supported: u32,
    },
    /// Stored bytes that were safely on the disk once are not what they were.
    #[error("{} is damaged at byte {offset}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        offset: u64,
        /// What is wrong there.
        what: &'static str,
    },
    /// The base could not be read or written.
    #[error("the base {} failed: {message}", path.display())]
    Base {
        /// The base's file.
        path: PathBuf,
        /// What it said.
        message: Arc<str>,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
}

impl StoreError {
    pub(crate) fn io(doing: &'static str, path: &std::path::Path, error: &io::Error) -> StoreError {
        if let Some(told) = error.get_ref().and_then(|inner| inner.downcast_ref::<StoreError>()) {
            return told.clone();
        }
        let path = path.to_owned();
        match error.kind() {
            kind if is_full(kind) => StoreError::Full { path },
            kind => StoreError::Io { doing, path, kind, message: error.to_string().into() },
        }
    }
}

/// Whether a system's error says that there is no room.
pub(crate) fn is_full(kind: io::ErrorKind) -> bool {
    matches!(kind, io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}

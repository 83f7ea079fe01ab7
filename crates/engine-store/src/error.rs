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
    /// The writes of one commit are more than a record of the journal holds. Nothing was written.
    #[error(
        "the writes of one commit are {bytes} bytes, and a kept store takes up to {bytes_max} at once"
    )]
    TooLarge {
        /// How many bytes they are in the journal.
        bytes: usize,
        /// How many they may be.
        bytes_max: u32,
    },
    /// Another process uses the folder, or this one: another store, or a snapshot of one that was closed.
    #[error("{} is in use: by another process, or by a store or snapshot of this one", dir.display())]
    InUse {
        /// The store's folder.
        dir: PathBuf,
    },
    /// There is no snapshot in the folder.
    #[error("{} holds no snapshot, or one that was never finished", dir.display())]
    Missing {
        /// The folder.
        dir: PathBuf,
    },
    /// The folder was written by a program that is newer, or too old.
    #[error(
        "{} has format {found}, and this program reads format {supported}: {}",
        dir.display(),
        if found > supported {
            "use a newer version of it"
        } else {
            "export the data with the older version that wrote it and import it here, or remove the folder"
        }
    )]
    Format {
        /// The store's folder.
        dir: PathBuf,
        /// The format found.
        found: u32,
        /// The format that this program reads.
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
    /// A thread of the store has panicked. It is a bug of ours, or of who was called from it.
    #[error("the store could not {doing}: it panicked, which is a bug")]
    Panicked {
        /// What was being done.
        doing: &'static str,
    },
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// Walks were ended early, as nobody waits for what they find; see [`crate::Snapshot::until`].
    #[error("the read was cancelled")]
    Cancelled,
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

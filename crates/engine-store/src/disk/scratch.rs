//! Where temporary files go.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use super::{Disk, DiskFile, RealDisk};
use crate::error::StoreError;

/// The folder for temporary files. It is somebody else's, and never made here.
#[derive(Clone)]
pub(crate) struct Scratch {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
}

impl Scratch {
    /// A new file without a name.
    pub(crate) fn file(&self) -> Result<Arc<dyn DiskFile>, StoreError> {
        let doing = "make a temporary file in";
        self.disk.temporary(&self.dir).map_err(|error| match error.kind() {
            kind @ io::ErrorKind::NotFound => {
                let message = "there is no such folder, and TMPDIR must name one".into();
                StoreError::Io { doing, path: self.dir.clone(), kind, message }
            }
            _ => StoreError::io(doing, &self.dir, &error),
        })
    }

    /// Writes to such a file.
    pub(crate) fn write(
        &self,
        file: &dyn DiskFile,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), StoreError> {
        let written = file.write_at(offset, bytes);
        written.map_err(|error| StoreError::io("write a temporary file in", &self.dir, &error))
    }
}

impl Default for Scratch {
    fn default() -> Scratch {
        Scratch { disk: Arc::new(RealDisk), dir: std::env::temp_dir() }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scratch").field("dir", &self.dir).finish_non_exhaustive()
    }
}

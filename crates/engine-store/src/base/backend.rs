//! redb's storage on our files.

use std::io;
use std::sync::Arc;

use redb::StorageBackend;

use super::storage::Storage;

/// A file as redb wants it.
#[derive(Debug)]
pub(super) struct Backend(pub(super) Arc<Storage>);

impl StorageBackend for Backend {
    fn len(&self) -> io::Result<u64> {
        self.0.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.0.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.sync()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write(offset, data)
    }
}

//! Files, behind traits: the real disk, and whatever a test puts in its place.

mod real;
mod scratch;

use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

pub use real::RealDisk;
pub(crate) use scratch::Scratch;

/// An open file that is read and written at offsets.
pub trait DiskFile: fmt::Debug + Send + Sync + 'static {
    /// How long the file is.
    ///
    /// # Errors
    /// The system's.
    fn size(&self) -> io::Result<u64>;

    /// Fills `out` from `offset` on.
    ///
    /// # Errors
    /// The system's, and when the file ends before `out` is full.
    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()>;

    /// Writes all of `bytes` at `offset`.
    ///
    /// # Errors
    /// The system's; then part of it may be written.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file off, or lengthens it with zeros.
    ///
    /// # Errors
    /// The system's.
    fn set_len(&self, len: u64) -> io::Result<()>;

    /// Lengthens the file with zeros that have their place on the disk, where the system can.
    ///
    /// # Errors
    /// The system's, above all that there is no room.
    fn allocate(&self, len: u64) -> io::Result<()> {
        self.set_len(len)
    }

    /// Where, from `offset` on, there may be anything but zeros; `None` where there is nothing more. The system knows
    /// what was never written; where it does not, the answer is `offset`.
    ///
    /// # Errors
    /// The system's.
    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        Ok((offset < self.size()?).then_some(offset))
    }

    /// Returns when everything written is on the disk.
    ///
    /// # Errors
    /// The system's; then what was written since the last time may be lost.
    fn sync(&self) -> io::Result<()>;
}

/// The files of a store.
pub trait Disk: fmt::Debug + Send + Sync + 'static {
    /// Opens a file to read and write, and makes it where it is missing and `create` says so.
    ///
    /// # Errors
    /// The system's.
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>>;

    /// Makes a file without a name in a folder, which must be there. It is gone with its handle, whatever becomes of
    /// the process, and never synced: nothing in it has to last.
    ///
    /// # Errors
    /// The system's.
    fn temporary(&self, dir: &Path) -> io::Result<Arc<dyn DiskFile>>;

    /// The names in a folder, in no order.
    ///
    /// # Errors
    /// The system's.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;

    /// Removes a file.
    ///
    /// # Errors
    /// The system's.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Gives a file another name, in place of one that may be there.
    ///
    /// # Errors
    /// The system's.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Makes a folder in one that is there; answers whether it was missing.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::NotFound`] where the one above is missing too.
    fn make_dir(&self, dir: &Path) -> io::Result<bool>;

    /// Returns when the names in a folder, those of folders included, are on the disk.
    ///
    /// # Errors
    /// The system's.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;

    /// Takes a file for this store alone, for as long as the answer lives; `None` when somebody has it.
    ///
    /// # Errors
    /// The system's.
    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>>;
}

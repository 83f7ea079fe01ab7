//! The machine's files.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;
use std::sync::Arc;

use super::{Disk, DiskFile};

/// The machine's disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(create).truncate(false);
        Ok(Arc::new(RealFile(options.open(path)?)))
    }

    fn temporary(&self, dir: &Path) -> io::Result<Arc<dyn DiskFile>> {
        Ok(Arc::new(RealFile(tempfile::tempfile_in(dir)?)))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            names.push(entry?.file_name().to_string_lossy().into_owned());
        }
        Ok(names)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn make_dir(&self, dir: &Path) -> io::Result<bool> {
        match fs::create_dir(dir) {
            Ok(()) => Ok(true),
            // The error is not the same everywhere, for the root of a drive for one.
            Err(_) if dir.is_dir() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        // Windows has no way to sync a folder, and writes names through.
        if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[derive(Debug)]
struct RealFile(File);

impl DiskFile for RealFile {
    fn size(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        read_at(&self.0, offset, out)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        write_at(&self.0, offset, bytes)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }

    #[cfg(target_os = "linux")]
    fn allocate(&self, len: u64) -> io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};

        match fallocate(&self.0, FallocateFlags::empty(), 0, len) {
            Ok(()) => Ok(()),
            // Not every file system can.
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => self.0.set_len(len),
            Err(error) => Err(error.into()),
        }
    }

    #[cfg(target_os = "linux")]
    fn next_data(&self, offset: u64) -> io::Result<Option<u64>> {
        use rustix::fs::{SeekFrom, seek};

        // Reads and writes say where, so it does not matter where this leaves the file.
        match seek(&self.0, SeekFrom::Data(offset)) {
            Ok(found) => Ok(Some(found)),
            Err(rustix::io::Errno::NXIO) => Ok(None),
            // Not every file system can.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::OPNOTSUPP) => {
                Ok((offset < self.size()?).then_some(offset))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }
}

#[cfg(unix)]
fn read_at(file: &File, offset: u64, out: &mut [u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, out, offset)
}

#[cfg(unix)]
fn write_at(file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_at(file: &File, mut offset: u64, mut out: &mut [u8]) -> io::Result<()> {
    use std::os::windows::fs::FileExt;

    while !out.is_empty() {
        match file.seek_read(out, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(len) => {
                out = out.get_mut(len..).unwrap_or_default();
                offset += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(windows)]
fn write_at(file: &File, mut offset: u64, mut bytes: &[u8]) -> io::Result<()> {
    use std::os::windows::fs::FileExt;

    while !bytes.is_empty() {
        match file.seek_write(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(len) => {
                bytes = bytes.get(len..).unwrap_or_default();
                offset += len as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

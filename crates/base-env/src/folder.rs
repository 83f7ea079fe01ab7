//! Folders: bringing all of one to the disk, and putting one in the place of another.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Folders inside of one another that are followed. Deeper ones are not ours.
const DEPTH_MAX: usize = 64;

/// Brings the names in a folder and in those below it to the disk. What the files hold is for whoever wrote them to
/// sync.
///
/// # Errors
/// The operating system's; folders that are nested without end.
pub fn sync_tree(dir: &Path) -> io::Result<()> {
    sync_below(dir, DEPTH_MAX)
}

fn sync_below(dir: &Path, depth: usize) -> io::Result<()> {
    let depth = depth.checked_sub(1).ok_or_else(|| io::Error::other("folders nested too deep"))?;
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_below(&entry.path(), depth)?;
        }
    }
    sync(dir)
}

/// Brings the names in one folder to the disk, where the system has a way to ask for it.
///
/// # Errors
/// The operating system's.
pub fn sync(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

/// Puts `fresh` in the place of the folder `old`, and `old` in that of `fresh`, in one step: at no moment is there
/// none. Answers `false`, with nothing done, where the system or the file system has no way to do it.
///
/// # Errors
/// The operating system's.
#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
pub fn exchange(fresh: &Path, old: &Path) -> io::Result<bool> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(CWD, fresh, CWD, old, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(true),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// See above: there is no such way here.
#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
pub fn exchange(_fresh: &Path, _old: &Path) -> io::Result<bool> {
    Ok(false)
}

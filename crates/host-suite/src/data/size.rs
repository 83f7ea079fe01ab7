//! How much room a folder takes, and when something in it was last written.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use base_env::UnixMicros;

use super::{DataError, failed};
use crate::limits::DATA_FILES_MAX;

/// What the files of a folder come to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// The room on the disk, reserved room included.
    pub bytes: u64,
    /// When a file was last written.
    pub written: Option<UnixMicros>,
}

impl Usage {
    /// Adds up a folder and all below it. Links are not followed.
    ///
    /// # Errors
    /// A folder cannot be read.
    pub fn of(dir: &Path) -> Result<Usage, DataError> {
        let mut usage = Usage::default();
        for file in files(dir)? {
            // A suite that runs may remove a file meanwhile.
            let Ok(metadata) = fs::symlink_metadata(&file) else { continue };
            usage.bytes += room(&metadata);
            let written = metadata.modified().ok();
            let written = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
            let written =
                written.and_then(|since| i64::try_from(since.as_micros()).ok()).map(UnixMicros);
            usage.written = usage.written.max(written);
        }
        Ok(usage)
    }
}

/// The files of a folder and of all below it, in no order. Links are left out.
///
/// # Errors
/// A folder cannot be read; there are more files than any suite makes.
pub(super) fn files(dir: &Path) -> Result<Vec<PathBuf>, DataError> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        let read = failed("read the folder", &folder);
        for entry in fs::read_dir(&folder).map_err(&read)? {
            let entry = entry.map_err(&read)?;
            let kind = entry.file_type().map_err(&read)?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                found.push(entry.path());
            }
        }
        if found.len() + folders.len() > DATA_FILES_MAX {
            return Err(DataError::NotOurs { dir: dir.to_owned() });
        }
    }
    Ok(found)
}

#[cfg(unix)]
fn room(metadata: &fs::Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt;

    // In units of 512 bytes, whatever the file system's own are.
    metadata.blocks() * 512
}

#[cfg(not(unix))]
fn room(metadata: &fs::Metadata) -> u64 {
    metadata.len()
}

/// Bytes as people read them.
#[must_use]
pub(crate) fn human(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    // Exact enough for one digit.
    let mut value = bytes as f64 / 1024.0;
    let mut units = UNITS.iter();
    let mut unit = units.next().copied().unwrap_or_default();
    for larger in units {
        if value < 1023.95 {
            break;
        }
        value /= 1024.0;
        unit = larger;
    }
    format!("{value:.1} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_added_up() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(Usage::of(dir.path()).unwrap(), Usage::default());
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/c"), vec![7; 100_000]).unwrap();
        fs::write(dir.path().join("d"), "x").unwrap();
        let usage = Usage::of(dir.path()).unwrap();
        assert!(usage.bytes >= 100_001 && usage.bytes < 200_000, "{usage:?}");
        assert!(usage.written.is_some());
        assert!(Usage::of(&dir.path().join("missing")).is_err());
    }

    #[test]
    fn sizes_are_readable() {
        for (bytes, shown) in [
            (0, "0.0 KiB"),
            (1_536, "1.5 KiB"),
            (1_048_575, "1.0 MiB"),
            (3 << 30, "3.0 GiB"),
            (5 << 50, "5120.0 TiB"),
        ] {
            assert_eq!(human(bytes), shown);
        }
    }
}

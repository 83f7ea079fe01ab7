//! Copying kept data to another folder.

use std::fs::{self, File};
use std::path::Path;

use super::size::files;
use super::{DataError, DataFolder, FORMAT_FILE, LOCK_FILE, failed};

/// Copies everything in a folder to `to`, which must be new or empty. The copy is on the disk when this returns, and
/// one that was cut short is not taken for kept data.
///
/// # Errors
/// The disk's; `to` holds something.
pub(crate) fn copy(from: &DataFolder, to: &Path) -> Result<(), DataError> {
    let from = from.dir();
    fs::create_dir_all(to).map_err(failed("make the folder", to))?;
    let mut entries = fs::read_dir(to).map_err(failed("read the folder", to))?;
    let is_inside = fs::canonicalize(to).ok().zip(fs::canonicalize(from).ok());
    let is_inside = is_inside.is_some_and(|(to, from)| to.starts_with(from));
    if entries.next().is_some() || is_inside {
        return Err(DataError::CopyNotEmpty { dir: to.to_owned() });
    }
    let format = from.join(FORMAT_FILE);
    // Locks are for those who hold them; the format says that all is there.
    let content = files(from)?
        .into_iter()
        .filter(|file| file.file_name().is_none_or(|name| name != LOCK_FILE) && *file != format);
    for file in content.chain([format.clone()]) {
        let target = to.join(file.strip_prefix(from).unwrap_or(&file));
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(failed("make the folder", folder))?;
        }
        let copied = fs::copy(&file, &target).and_then(|_| File::open(&target)?.sync_all());
        copied.map_err(failed("copy to", &target))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_whole_and_takes_nobodys_place() {
        let dir = tempfile::tempdir().unwrap();
        let (from, to) = (dir.path().join("from"), dir.path().join("deep/to"));
        let folder = DataFolder::open(&from).unwrap();
        fs::create_dir_all(folder.of("firestore").join("demo/db")).unwrap();
        fs::write(folder.of("firestore").join("demo/db/base.redb"), "bytes").unwrap();
        copy(&folder, &to).unwrap();
        assert_eq!(fs::read_to_string(to.join("firestore/demo/db/base.redb")).unwrap(), "bytes");
        assert!(!to.join(LOCK_FILE).exists());
        let again = copy(&folder, &to).unwrap_err();
        assert_eq!(again, DataError::CopyNotEmpty { dir: to.clone() });
        assert!(matches!(copy(&folder, &from.join("in")), Err(DataError::CopyNotEmpty { .. })));
        // It is a folder of its own, which can be used at the same time.
        drop(DataFolder::existing(&to).unwrap());
    }
}

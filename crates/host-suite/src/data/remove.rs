//! Removing what is kept, whole or not at all.

use std::fs;
use std::io;
use std::path::Path;

use super::{DataError, DataFolder, failed};

/// Where a database goes before its files do: cut short, it is nobody's any more, and never half a database.
const DROPPED_DIR: &str = "dropped";

/// Removes the folder of one database, and that of its project if it was the only one.
///
/// # Errors
/// The disk's.
pub(crate) fn remove_database(folder: &DataFolder, database: &Path) -> Result<(), DataError> {
    let dropped = folder.of(DROPPED_DIR);
    remove_all(&dropped)?;
    fs::rename(database, &dropped).map_err(failed("remove", database))?;
    if let Some(project) = database.parent() {
        // It holds others, which is as good.
        let _removed = fs::remove_dir(project);
    }
    remove_all(&dropped)
}

fn remove_all(dir: &Path) -> Result<(), DataError> {
    match fs::remove_dir_all(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("remove", dir)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_goes_and_the_others_stay() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        let project = folder.of("firestore").join("demo");
        for name in ["a", "b"] {
            fs::create_dir_all(project.join(name)).unwrap();
            fs::write(project.join(name).join("base.redb"), "x").unwrap();
        }
        // What an earlier attempt has left.
        fs::create_dir_all(folder.of(DROPPED_DIR).join("more")).unwrap();
        remove_database(&folder, &project.join("a")).unwrap();
        assert!(!project.join("a").exists() && project.join("b/base.redb").exists());
        remove_database(&folder, &project.join("b")).unwrap();
        assert!(!project.exists() && !folder.of(DROPPED_DIR).exists());
        assert!(remove_database(&folder, &project.join("b")).is_err());
    }
}

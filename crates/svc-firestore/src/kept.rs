//! Where kept databases lie: a folder for each project, in it one for each database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base_status::Status;
use base_value::DatabaseName;
use engine_store::Durability;
use svc_kit::{Place, folder_name};

use crate::limits::KEPT_NAME_LEN_MAX;

/// The folder of kept databases.
pub(crate) struct Kept {
    dir: PathBuf,
    durability: Durability,
}

impl Kept {
    /// `None` where nothing is kept.
    pub(crate) fn at(place: Place) -> Option<Kept> {
        let Place::Kept { dir, durability } = place else { return None };
        let durability = match durability {
            svc_kit::Durability::WriteBehind => Durability::WriteBehind,
            svc_kit::Durability::PerCommit => Durability::PerCommit,
        };
        Some(Kept { dir, durability })
    }

    /// The same folders in another place.
    pub(crate) fn in_folder(dir: &Path) -> Kept {
        Kept { dir: dir.to_owned(), durability: Durability::default() }
    }

    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    /// The databases that are kept, in the order of their names.
    ///
    /// # Errors
    /// The folders cannot be read.
    pub(crate) fn names(&self) -> Result<Vec<DatabaseName>, Status> {
        let mut names = Vec::new();
        for project in folders(&self.dir)? {
            for database in folders(&self.dir.join(&project))? {
                // What we have not written is not ours to open.
                if let (Some(project), Some(database)) =
                    (folder_name::unescape(&project), folder_name::unescape(&database))
                {
                    names.push(DatabaseName::new(&project, &database));
                }
            }
        }
        Ok(names)
    }

    /// The folder of one database.
    ///
    /// # Errors
    /// Its name is too long for a folder.
    pub(crate) fn folder(&self, name: &DatabaseName) -> Result<PathBuf, Status> {
        Ok(self.dir.join(escape(&name.project)?).join(escape(&name.database)?))
    }

    /// Removes the folder of a database that nothing was written to, and that of its project if it was the only one.
    ///
    /// # Errors
    /// The disk's.
    pub(crate) fn remove(&self, name: &DatabaseName) -> Result<(), Status> {
        let folder = self.folder(name)?;
        let removed = match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        };
        removed.map_err(|error| {
            Status::unavailable(format!("could not remove {}: {error}", folder.display()))
        })?;
        if let Some(project) = folder.parent() {
            // It holds others, which is as good.
            let _removed = fs::remove_dir(project);
        }
        Ok(())
    }
}

/// One database on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptDatabase {
    /// Its project.
    pub project: String,
    /// Its id.
    pub database: String,
    /// Its folder.
    pub dir: PathBuf,
    /// The format of its files; `None` where nothing says.
    pub format: Option<u32>,
}

/// The databases in the folder of a suite's kept data that is Firestore's, in the order of their names. Nothing is
/// opened for it.
///
/// # Errors
/// The folders cannot be read.
pub fn kept_databases(dir: &Path) -> Result<Vec<KeptDatabase>, Status> {
    let kept = Kept::in_folder(dir);
    let database = |name: DatabaseName| {
        let dir = kept.folder(&name)?;
        let format = engine_store::format_of(&dir);
        let (project, database) = (name.project.to_string(), name.database.to_string());
        Ok(KeptDatabase { project, database, dir, format })
    };
    kept.names()?.into_iter().map(database).collect()
}

/// The names of the folders in a folder, sorted; none if it does not exist.
fn folders(dir: &Path) -> Result<Vec<String>, Status> {
    let failed = |error: io::Error| {
        Status::unavailable(format!("could not read the folder {}: {error}", dir.display()))
    };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(failed)?;
        if entry.file_type().map_err(failed)?.is_dir()
            && let Ok(name) = entry.file_name().into_string()
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// A name as a folder's name.
pub(crate) fn escape(name: &str) -> Result<String, Status> {
    let escaped = folder_name::escape(name);
    if escaped.len() > KEPT_NAME_LEN_MAX {
        return Err(Status::invalid_argument(format!(
            "the name `{name}` is too long to be kept on the disk"
        )));
    }
    Ok(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_found_by_their_folders() {
        let dir = tempfile::tempdir().unwrap();
        let kept = Kept::in_folder(dir.path());
        assert_eq!(kept.names().unwrap(), []);
        let names = [
            DatabaseName::new("Demo:Other", "(default)"),
            DatabaseName::new("demo", "(default)"),
            DatabaseName::new("demo", "second"),
        ];
        for name in &names {
            fs::create_dir_all(kept.folder(name).unwrap()).unwrap();
        }
        fs::create_dir_all(dir.path().join("Not Ours/(default)")).unwrap();
        assert_eq!(kept.names().unwrap(), names);
        let long = DatabaseName::new(&"x".repeat(KEPT_NAME_LEN_MAX + 1), "(default)");
        assert!(kept.folder(&long).is_err());
    }
}

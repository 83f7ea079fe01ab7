//! Where kept databases lie: a folder for each project, in it one for each database.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use base_status::Status;
use base_value::DatabaseName;
use engine_store::Durability;
use svc_kit::Place;

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
                if let (Some(project), Some(database)) = (unescape(&project), unescape(&database)) {
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

/// A name as a folder's name, the same on every system: case is not told apart everywhere, so capitals
/// are escaped like all that could mean something.
pub(crate) fn escape(name: &str) -> Result<String, Status> {
    let mut escaped = String::new();
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'(' | b')' => escaped.push(char::from(byte)),
            other => escaped.push_str(&format!("%{other:02x}")),
        }
    }
    if escaped.len() > KEPT_NAME_LEN_MAX {
        return Err(Status::invalid_argument(format!(
            "the name `{name}` is too long to be kept on the disk"
        )));
    }
    Ok(escaped)
}

/// The name that a folder's name stands for; `None` if [`escape`] did not make it.
fn unescape(escaped: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = escaped.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (!name.is_empty() && escape(&name).ok()? == escaped).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_back() {
        fn check(name: &str, folder: &str) {
            assert_eq!(escape(name).unwrap(), folder);
            assert_eq!(unescape(folder).as_deref(), Some(name));
        }
        check("demo-shop_1", "demo-shop_1");
        check("(default)", "(default)");
        check("Demo", "%44emo");
        check("example.com:shop", "example%2ecom%3ashop");
        check("..", "%2e%2e");
        check("a/b\\c%", "a%2fb%5cc%25");
        check("\u{e9}", "%c3%a9");
        assert!(escape(&"x".repeat(KEPT_NAME_LEN_MAX + 1)).is_err());
    }

    #[test]
    fn other_folders_are_left_alone() {
        for folder in ["", "Demo", "a.b", "%2E", "%zz", "%2", "%ff", "a b", "%61"] {
            assert_eq!(unescape(folder), None, "{folder}");
        }
    }
}

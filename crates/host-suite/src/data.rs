//! The folder of kept data: one suite at a time uses it, and an older firelet leaves it alone.

mod compact;
mod copy;
mod remove;
mod size;
mod snapshots;

use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base_env::folder;

use crate::services;

pub(crate) use compact::compact;
pub(crate) use copy::copy;
pub(crate) use remove::remove_database;
pub use size::Usage;
pub(crate) use size::human;
pub use snapshots::KeptSnapshot;
pub(crate) use snapshots::{SnapshotFolders, is_name};

/// The folder in a project where nobody names another.
pub(crate) const DEFAULT_DIR: &str = ".firelet";

/// The newest format this program reads, and the one it writes. It covers what lies where; the services'
/// own files have formats of their own.
const FORMAT: u32 = 1;

const FORMAT_FILE: &str = "format";
const LOCK_FILE: &str = "lock";
const IGNORE_FILE: &str = ".gitignore";
/// Where the format is written before it gets its name.
const UNFINISHED_FILE: &str = "format.new";

/// Names the service whose data is being imported, and which had none before: half of it is no data at all.
const IMPORT_FILE: &str = "importing";

/// How often a folder in use is tried, and how long each wait is: long enough for a suite that is just
/// stopping, short enough for a person to wait.
const LOCK_TRIES_MAX: u32 = 25;
const LOCK_TRY_INTERVAL: Duration = Duration::from_millis(20);

/// A folder that is this suite's until the value is dropped.
#[derive(Debug)]
pub(crate) struct DataFolder {
    dir: PathBuf,
    /// Locked for as long as it is open.
    _lock: File,
}

/// Why a folder cannot be used. Nothing in it was changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DataError {
    /// The operating system refused.
    #[error("could not {doing} {}: {message}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        message: String,
    },
    /// Another suite uses it.
    #[error(
        "the data in {} is in use by another suite: stop that one, or name another folder",
        dir.display()
    )]
    InUse {
        /// The folder.
        dir: PathBuf,
    },
    /// A newer firelet wrote it.
    #[error(
        "the data in {} has format {found}, and this firelet reads up to {FORMAT}: use a newer one",
        dir.display()
    )]
    Newer {
        /// The folder.
        dir: PathBuf,
        /// The format found.
        found: u32,
    },
    /// No suite has kept anything there.
    #[error(
        "there is no kept data in {}: `--keep-data` keeps some, and `--data-dir` names another folder",
        dir.display()
    )]
    Missing {
        /// The folder.
        dir: PathBuf,
    },
    /// A copy would be mixed with something else.
    #[error("{} is not empty, or lies in what is to be copied: name a new folder", dir.display())]
    CopyNotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// Data is to be imported where there is some already.
    #[error(
        "the data kept in {} would be mixed with what is to be imported: start without the import to go on with it, \
         or remove the folder to start with the import",
        dir.display()
    )]
    NotEmpty {
        /// The folder.
        dir: PathBuf,
    },
    /// What says what a snapshot is cannot be read.
    #[error(
        "{} is not what this firelet writes: use a newer one, or remove the folder it is in",
        path.display()
    )]
    SnapshotUnreadable {
        /// The file.
        path: PathBuf,
    },
    /// Something else lies there.
    #[error(
        "{} holds other files: name an empty folder, or one that firelet has made",
        dir.display()
    )]
    NotOurs {
        /// The folder.
        dir: PathBuf,
    },
}

impl DataFolder {
    /// Takes the folder, and makes it where there is none. May wait a moment for another suite to end.
    pub(crate) fn open(dir: &Path) -> Result<DataFolder, DataError> {
        fs::create_dir_all(dir).map_err(failed("make the folder", dir))?;
        if !dir.join(FORMAT_FILE).exists() && holds_other_files(dir)? {
            return Err(DataError::NotOurs { dir: dir.to_owned() });
        }
        let lock = lock(dir)?;
        // Looked at only now: another suite may just have written it.
        if !is_ours(dir)? {
            write_format(dir)?;
        }
        let folder = DataFolder { dir: dir.to_owned(), _lock: lock };
        // Of an import that was killed.
        folder.undo_import()?;
        Ok(folder)
    }

    /// Notes that data comes into the folder of a service that holds none: until [`DataFolder::end_import`] all that is in it
    /// goes when the folder is opened again.
    pub(crate) fn begin_import(&self, service: &'static str) -> Result<(), DataError> {
        let file = self.dir.join(IMPORT_FILE);
        let write = || {
            let mut file = File::create(&file)?;
            file.write_all(service.as_bytes())?;
            file.sync_all()?;
            folder::sync(&self.dir)
        };
        write().map_err(failed("write", &file))
    }

    /// The data is all there.
    pub(crate) fn end_import(&self) -> Result<(), DataError> {
        let file = self.dir.join(IMPORT_FILE);
        let remove = fs::remove_file(&file).and_then(|()| folder::sync(&self.dir));
        remove.map_err(failed("remove", &file))
    }

    /// Removes what was imported and is not all there; nothing where nothing is being imported.
    pub(crate) fn undo_import(&self) -> Result<(), DataError> {
        let file = self.dir.join(IMPORT_FILE);
        let service = match fs::read_to_string(&file) {
            Ok(service) => service,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(failed("read", &file)(error)),
        };
        // One that was killed while it noted the name has imported nothing.
        if let Some(row) = services::find(&service) {
            let dir = self.of(row.name);
            match fs::remove_dir_all(&dir) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(failed("remove", &dir)(error));
                }
                Ok(()) | Err(_) => {}
            }
        }
        self.end_import()
    }

    /// Takes a folder that a suite has made.
    pub(crate) fn existing(dir: &Path) -> Result<DataFolder, DataError> {
        check_existing(dir)?;
        Ok(DataFolder { dir: dir.to_owned(), _lock: lock(dir)? })
    }

    /// The folder itself.
    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The folder of one service.
    pub(crate) fn of(&self, service: &str) -> PathBuf {
        self.dir.join(service)
    }
}

/// Checks that a suite has made the folder, without taking it.
pub(crate) fn check_existing(dir: &Path) -> Result<(), DataError> {
    let is_there = dir.is_dir() && is_ours(dir)?;
    if is_there { Ok(()) } else { Err(DataError::Missing { dir: dir.to_owned() }) }
}

/// Whether a suite uses the folder right now.
pub(crate) fn is_in_use(dir: &Path) -> bool {
    let file = File::options().write(true).open(dir.join(LOCK_FILE));
    file.is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

/// Whether the folder has the format that this program reads; false where it has none yet.
fn is_ours(dir: &Path) -> Result<bool, DataError> {
    match format(dir)? {
        Some(FORMAT) => Ok(true),
        Some(found) if found > FORMAT => Err(DataError::Newer { dir: dir.to_owned(), found }),
        Some(_) => Err(DataError::NotOurs { dir: dir.to_owned() }),
        None => Ok(false),
    }
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> DataError {
    let path = path.to_owned();
    move |error| DataError::Io { doing, path: path.clone(), message: error.to_string() }
}

fn holds_other_files(dir: &Path) -> Result<bool, DataError> {
    let read = failed("read the folder", dir);
    for entry in fs::read_dir(dir).map_err(&read)? {
        let name = entry.map_err(&read)?.file_name();
        // A first start that was killed leaves these.
        if ![LOCK_FILE, IGNORE_FILE, UNFINISHED_FILE].iter().any(|known| name == *known) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn lock(dir: &Path) -> Result<File, DataError> {
    let path = dir.join(LOCK_FILE);
    let open = File::options().create(true).truncate(false).write(true).open(&path);
    let file = open.map_err(failed("open", &path))?;
    for tried in 1.. {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if tried < LOCK_TRIES_MAX => {
                std::thread::sleep(LOCK_TRY_INTERVAL);
            }
            Err(TryLockError::WouldBlock) => return Err(DataError::InUse { dir: dir.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &path)(error)),
        }
    }
    Ok(file)
}

/// The format of a folder; `None` if it has none yet, 0 if nobody knows what it is.
fn format(dir: &Path) -> Result<Option<u32>, DataError> {
    let path = dir.join(FORMAT_FILE);
    match fs::read_to_string(&path) {
        Ok(text) => {
            Ok(Some(text.trim().strip_prefix("firelet ").and_then(|n| n.parse().ok()).unwrap_or(0)))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", &path)(error)),
    }
}

fn write_format(dir: &Path) -> Result<(), DataError> {
    let ignore = dir.join(IGNORE_FILE);
    fs::write(&ignore, "*\n").map_err(failed("write", &ignore))?;
    let unfinished = dir.join(UNFINISHED_FILE);
    let write = || {
        let mut file = File::create(&unfinished)?;
        writeln!(file, "firelet {FORMAT}")?;
        file.sync_all()?;
        fs::rename(&unfinished, dir.join(FORMAT_FILE))
    };
    write().map_err(failed("write", &unfinished))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_one_suites_at_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("deep/.firelet");
        let folder = DataFolder::open(&dir).unwrap();
        assert_eq!(folder.of("firestore"), dir.join("firestore"));
        assert_eq!(DataFolder::open(&dir).unwrap_err(), DataError::InUse { dir: dir.clone() });
        drop(folder);
        drop(DataFolder::open(&dir).unwrap());
        assert_eq!(fs::read_to_string(dir.join(FORMAT_FILE)).unwrap(), "firelet 1\n");
        assert_eq!(fs::read_to_string(dir.join(IGNORE_FILE)).unwrap(), "*\n");
    }

    #[test]
    fn what_is_not_ours_is_left_alone() {
        fn check(file: &str, text: &str, expected: fn(PathBuf) -> DataError) {
            let dir = tempfile::tempdir().unwrap();
            fs::write(dir.path().join(file), text).unwrap();
            let error = DataFolder::open(dir.path()).unwrap_err();
            assert_eq!(error, expected(dir.path().to_owned()));
            assert_eq!(fs::read_to_string(dir.path().join(file)).unwrap(), text);
        }
        check("notes.txt", "mine", |dir| DataError::NotOurs { dir });
        check("format", "mine", |dir| DataError::NotOurs { dir });
        check("format", "firelet 2\n", |dir| DataError::Newer { dir, found: 2 });
    }

    #[test]
    fn half_an_import_is_none() {
        let dir = tempfile::tempdir().unwrap();
        let folder = DataFolder::open(dir.path()).unwrap();
        let data = folder.of("firestore").join("p/d");
        folder.begin_import("firestore").unwrap();
        fs::create_dir_all(&data).unwrap();
        drop(folder);
        let folder = DataFolder::open(dir.path()).unwrap();
        assert!(!folder.of("firestore").exists());
        folder.begin_import("firestore").unwrap();
        fs::create_dir_all(&data).unwrap();
        folder.end_import().unwrap();
        drop(folder);
        let folder = DataFolder::open(dir.path()).unwrap();
        assert!(data.exists());
        // A name that leads elsewhere is none of ours.
        fs::write(dir.path().join(IMPORT_FILE), "..").unwrap();
        folder.undo_import().unwrap();
        assert!(data.exists() && !dir.path().join(IMPORT_FILE).exists());
    }

    #[test]
    fn a_first_start_that_was_killed_is_no_obstacle() {
        let dir = tempfile::tempdir().unwrap();
        for file in [LOCK_FILE, UNFINISHED_FILE, IGNORE_FILE] {
            fs::write(dir.path().join(file), "").unwrap();
        }
        drop(DataFolder::open(dir.path()).unwrap());
        assert_eq!(format(dir.path()).unwrap(), Some(1));
    }
}

//! Where an export goes: made beside its folder, and put in place when all of it is on the disk.
//!
//! Beside `DIR` there is a workplace for as long as that takes, `.DIR.firelet-export`, which holds the new export and
//! then the old one. A process that is killed leaves it, with one of the two whole in `DIR`; the next export to the
//! folder, or import of it, clears up.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use base_env::folder;

use super::METADATA_FILE;
use super::carry::carry;
use super::metadata::Metadata;

const LOCK_FILE: &str = "lock";
/// The export that is made, or after an exchange the one that was replaced.
const NEW: &str = "new";
/// The one that was replaced, where the system has no exchange.
const OLD: &str = "old";

/// Why nothing was exported. The folder is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The folder is somebody else's.
    #[error(
        "`{}` holds other files than an export: name an empty or new folder, or pass {}; what is there stays either way",
        .0.display(),
        "`--force` (`force: true` in JavaScript)"
    )]
    Foreign(PathBuf),
    /// There is something else than a folder.
    #[error("`{}` is not a folder: name another one", .0.display())]
    NotAFolder(PathBuf),
    /// Something that is in use lies in the folder.
    #[error("`{}` cannot be replaced, as it holds {what}: choose a folder of its own for exports", dir.display())]
    Around {
        /// The folder.
        dir: PathBuf,
        /// What lies in it.
        what: &'static str,
    },
    /// Another export to the same folder is under way.
    #[error("another export to `{}` is under way", .0.display())]
    Busy(PathBuf),
    /// There is nothing to export. The sentence is the official one.
    #[error("No running emulators support import/export.")]
    Nothing,
    /// The operating system refused.
    #[error("could not {doing} `{}`: {message}", path.display())]
    Io {
        /// What was being done.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        message: String,
    },
    /// A service could not write its part.
    #[error("{0}")]
    Service(String),
    /// The export is in place, and other files of the folder it replaced are not.
    #[error("the export is in `{}`, but other files that lay there are still in `{}`: {message}", dir.display(), left.display())]
    Left {
        /// The folder.
        dir: PathBuf,
        /// Where they are.
        left: PathBuf,
        /// Why.
        message: String,
    },
}

fn failed(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> ExportError {
    let path = path.to_owned();
    move |error| ExportError::Io { doing, path: path.clone(), message: error.to_string() }
}

/// The folder itself, where `dir` is a link to it.
pub(crate) fn place(dir: &Path) -> PathBuf {
    fs::canonicalize(dir).unwrap_or_else(|_| {
        let parent = dir.parent().and_then(|parent| fs::canonicalize(parent).ok());
        match (parent, dir.file_name()) {
            (Some(parent), Some(name)) => parent.join(name),
            _ => dir.to_owned(),
        }
    })
}

/// Whether an export may go to a folder: one that is missing, empty, or an export, and any other where that is
/// `forced`. Changes nothing.
///
/// # Errors
/// It may not, or cannot be looked at.
pub(crate) fn check(dir: &Path, forced: bool) -> Result<(), ExportError> {
    let read = failed("read", dir);
    let found = match fs::metadata(dir) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(read(error)),
    };
    if !found.is_dir() {
        return Err(ExportError::NotAFolder(dir.to_owned()));
    }
    let is_empty = fs::read_dir(dir).map_err(read)?.next().is_none();
    if forced || is_empty || matches!(Metadata::read(dir), Ok(Some(_))) {
        return Ok(());
    }
    Err(ExportError::Foreign(dir.to_owned()))
}

/// Ends what a killed process has begun at a folder.
///
/// # Errors
/// The operating system's; another process is at it.
pub(crate) fn recover(dir: &Path) -> Result<(), ExportError> {
    let dir = place(dir);
    match work_dir(&dir) {
        Some(work) if work.is_dir() => Workplace::open(&dir).map(drop),
        _ => Ok(()),
    }
}

/// Whether a folder is there, also one that a killed process has not put in place again.
pub(crate) fn exists(dir: &Path) -> bool {
    let _recovered = recover(dir);
    dir.exists()
}

fn work_dir(dir: &Path) -> Option<PathBuf> {
    let name = dir.file_name()?.to_string_lossy().into_owned();
    Some(dir.parent()?.join(format!(".{name}.firelet-export")))
}

/// The place beside a folder where its next content is made. Dropping it removes what is not in place.
#[derive(Debug)]
pub(crate) struct Workplace {
    dir: PathBuf,
    work: PathBuf,
    /// Locked for as long as it is open.
    lock: Option<File>,
}

impl Workplace {
    /// Takes the place beside `dir`, and ends there what a killed process has begun.
    ///
    /// # Errors
    /// Another export is at it; the operating system's.
    pub(crate) fn open(dir: &Path) -> Result<Workplace, ExportError> {
        let around = || ExportError::Around { dir: dir.to_owned(), what: "everything" };
        let work = work_dir(dir).ok_or_else(around)?;
        fs::create_dir_all(&work).map_err(failed("make the folder", &work))?;
        let lock_path = work.join(LOCK_FILE);
        let lock = File::options().create(true).truncate(false).write(true).open(&lock_path);
        let lock = lock.map_err(failed("open", &lock_path))?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ExportError::Busy(dir.to_owned())),
            Err(TryLockError::Error(error)) => return Err(failed("lock", &lock_path)(error)),
        }
        let place = Workplace { dir: dir.to_owned(), work, lock: Some(lock) };
        place.clear_up()?;
        Ok(place)
    }

    /// The empty folder for the new export.
    ///
    /// # Errors
    /// The operating system's.
    pub(crate) fn begin(&self) -> Result<PathBuf, ExportError> {
        let new = self.work.join(NEW);
        fs::create_dir(&new).map_err(failed("make the folder", &new))?;
        Ok(new)
    }

    /// Puts the new export in place. What else lay in the folder is in it afterwards, too.
    ///
    /// # Errors
    /// The operating system's: then the folder is as it was, but for [`ExportError::Left`].
    pub(crate) fn swap(&self) -> Result<(), ExportError> {
        let (new, old) = (self.work.join(NEW), self.work.join(OLD));
        folder::sync_tree(&new).map_err(failed("write", &new))?;
        let replace = failed("replace", &self.dir);
        if !self.dir.exists() {
            fs::rename(&new, &self.dir).map_err(&replace)?;
        } else if !folder::exchange(&new, &self.dir).map_err(&replace)? {
            fs::rename(&self.dir, &old).map_err(&replace)?;
            if let Err(error) = fs::rename(&new, &self.dir) {
                // As it was. Where this fails too, the next one at this place does it.
                let _restored = fs::rename(&old, &self.dir);
                return Err(replace(error));
            }
        }
        if let Some(parent) = self.dir.parent() {
            folder::sync(parent).map_err(&replace)?;
        }
        self.clear_up()
    }

    /// Leaves one whole export in place, and of the other one only what is not an export's.
    fn clear_up(&self) -> Result<(), ExportError> {
        let old = self.work.join(OLD);
        if old.exists() && !self.dir.exists() {
            fs::rename(&old, &self.dir).map_err(failed("replace", &self.dir))?;
        }
        for left in [self.work.join(NEW), old] {
            let carried = if left.exists() { carry(&left, &self.dir) } else { Ok(()) };
            carried.map_err(|error| ExportError::Left {
                dir: self.dir.clone(),
                left: left.clone(),
                message: error.to_string(),
            })?;
        }
        Ok(())
    }
}

impl Drop for Workplace {
    fn drop(&mut self) {
        // What cannot be removed now is the next one's: nobody is left who could be told.
        let _cleared = self.clear_up();
        // While it is locked, so that nobody else waits for this very file.
        let _removed = fs::remove_file(self.work.join(LOCK_FILE));
        drop(self.lock.take());
        let _removed = fs::remove_dir(&self.work);
    }
}

/// Whether a name in an export's folder is the metadata file's.
pub(super) fn is_metadata(name: &str) -> bool {
    name == METADATA_FILE
}

#[cfg(test)]
mod tests {
    use super::*;

    const PART: &str = "firestore_export/all_namespaces/all_kinds";

    fn write(dir: &Path, file: &str, text: &str) {
        let file = dir.join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    /// An export whose files hold `text`.
    fn export(dir: &Path, text: &str) {
        write(dir, &format!("{PART}/output-0"), text);
        write(dir, "firestore_export/firestore_export.overall_export_metadata", text);
        write(dir, METADATA_FILE, text);
    }

    fn read(dir: &Path) -> String {
        let texts = [&format!("{PART}/output-0"), METADATA_FILE]
            .map(|file| fs::read_to_string(dir.join(file)).unwrap_or_else(|_| "none".to_owned()));
        texts.join(" ")
    }

    fn names(dir: &Path) -> Vec<String> {
        let entries = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<_> = entries.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// What a process leaves that was killed at some step, and what is in the folder once somebody has cleared up.
    #[test]
    fn every_step_leaves_a_whole_export() {
        type Step = fn(dir: &Path, work: &Path);
        let steps: [(&str, Step, &str); 6] = [
            ("only begun", |_, work| fs::create_dir(work.join(NEW)).unwrap(), "old old"),
            (
                "half made",
                |_, work| write(&work.join(NEW), &format!("{PART}/output-0"), "new"),
                "old old",
            ),
            ("made", |_, work| export(&work.join(NEW), "new"), "old old"),
            (
                "exchanged",
                |dir, work| {
                    export(&work.join(NEW), "new");
                    fs::rename(dir, work.join("between")).unwrap();
                    fs::rename(work.join(NEW), dir).unwrap();
                    fs::rename(work.join("between"), work.join(NEW)).unwrap();
                },
                "new new",
            ),
            (
                "between two renames",
                |dir, work| {
                    export(&work.join(NEW), "new");
                    fs::rename(dir, work.join(OLD)).unwrap();
                },
                "old old",
            ),
            (
                "renamed",
                |dir, work| {
                    fs::rename(dir, work.join(OLD)).unwrap();
                    export(dir, "new");
                },
                "new new",
            ),
        ];
        for (name, step, expected) in steps {
            let parent = tempfile::tempdir().unwrap();
            let dir = parent.path().join("out");
            export(&dir, "old");
            write(&dir, "auth_export/accounts.json", "{}");
            write(&dir, &format!("{PART}/notes.txt"), "mine");
            let work = work_dir(&dir).unwrap();
            fs::create_dir(&work).unwrap();
            step(&dir, &work);
            recover(&dir).unwrap();
            assert_eq!(read(&dir), expected, "{name}");
            assert!(dir.join("auth_export/accounts.json").exists(), "{name}");
            assert!(dir.join(PART).join("notes.txt").exists(), "{name}");
            assert_eq!(names(parent.path()), ["out"], "{name}");
        }
    }

    #[test]
    fn a_new_export_takes_the_place_of_the_old_one() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("out");
        for text in ["first", "second"] {
            let place = Workplace::open(&dir).unwrap();
            assert_eq!(Workplace::open(&dir).unwrap_err(), ExportError::Busy(dir.clone()));
            export(&place.begin().unwrap(), text);
            place.swap().unwrap();
            drop(place);
            assert_eq!(read(&dir), format!("{text} {text}"));
            assert_eq!(names(parent.path()), ["out"]);
        }
        // One that is given up leaves nothing.
        let place = Workplace::open(&dir).unwrap();
        write(&place.begin().unwrap(), &format!("{PART}/output-0"), "third");
        drop(place);
        assert_eq!(read(&dir), "second second");
        assert_eq!(names(parent.path()), ["out"]);
    }

    #[test]
    fn folders_of_others_are_refused() {
        let parent = tempfile::tempdir().unwrap();
        let dir = parent.path().join("out");
        check(&dir, false).unwrap();
        fs::create_dir(&dir).unwrap();
        check(&dir, false).unwrap();
        write(&dir, "notes.txt", "mine");
        assert_eq!(check(&dir, false).unwrap_err(), ExportError::Foreign(dir.clone()));
        check(&dir, true).unwrap();
        write(&dir, METADATA_FILE, "{}");
        check(&dir, false).unwrap();
        let file = dir.join("notes.txt");
        assert_eq!(check(&file, true).unwrap_err(), ExportError::NotAFolder(file));
    }
}

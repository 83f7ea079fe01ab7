//! Snapshots that have a name and outlive their suite: which there are, and where each lies.
//!
//! `snapshots/<name>.<number>/` in the folder of kept data holds a folder for each service, and `snapshot.json`, which
//! is written last: without it the folder is what is left of one that was never finished. Of one name the highest
//! number counts, so that a new snapshot takes the place of the old one at once and as a whole.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use base_env::UnixMicros;
use serde_json::{Value, json};
use svc_kit::folder_name;

use super::{DataError, failed};
use crate::limits::SNAPSHOT_NAME_LEN_MAX;

/// The folder of snapshots in the folder of kept data.
const DIR: &str = "snapshots";
const ABOUT_FILE: &str = "snapshot.json";
const UNFINISHED_FILE: &str = "snapshot.json.new";
/// The format of the folder and of `snapshot.json`.
const FORMAT: u64 = 1;
/// The longest `snapshot.json` that is read: a name, a project and a dozen services.
const ABOUT_LEN_MAX: u64 = 64 * 1024;

/// One snapshot on the disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptSnapshot {
    /// Its name.
    pub name: String,
    /// The project it was taken of; all of them where it is `None`.
    pub project: Option<String>,
    /// When it was taken, by the clock of its suite.
    pub taken: UnixMicros,
    /// The services that are in it.
    pub services: Vec<String>,
    /// Its folder.
    pub dir: PathBuf,
}

/// The snapshots in one folder of kept data.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotFolders {
    dir: PathBuf,
}

/// The folders of one name.
struct Numbered {
    name: String,
    number: u64,
    dir: PathBuf,
}

/// Whether a snapshot can have this name.
pub(crate) fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    !name.is_empty() && name.len() <= SNAPSHOT_NAME_LEN_MAX && name.bytes().all(allowed)
}

impl SnapshotFolders {
    /// Those in the folder of kept data `data`.
    pub(crate) fn at(data: &Path) -> SnapshotFolders {
        SnapshotFolders { dir: data.join(DIR) }
    }

    /// All that are whole, in the order of their names.
    pub(crate) fn list(&self) -> Result<Vec<KeptSnapshot>, DataError> {
        let mut found: Vec<KeptSnapshot> = Vec::new();
        for numbered in self.numbered()? {
            let Some(about) = read_about(&numbered.dir)? else { continue };
            // They come with the highest number first.
            if found.last().is_none_or(|last| last.name != numbered.name) {
                found.push(KeptSnapshot { name: numbered.name, ..about });
            }
        }
        Ok(found)
    }

    /// That of a name.
    pub(crate) fn find(&self, name: &str) -> Result<Option<KeptSnapshot>, DataError> {
        Ok(self.list()?.into_iter().find(|one| one.name == name))
    }

    /// The folder in which the next snapshot of a name is to be written, with what an earlier attempt left removed.
    pub(crate) fn begin(&self, name: &str) -> Result<PathBuf, DataError> {
        let mut number = 1;
        for one in self.numbered()?.into_iter().filter(|one| one.name == name) {
            number = number.max(one.number + 1);
            if read_about(&one.dir)?.is_none() {
                remove(&one.dir)?;
            }
        }
        let dir = self.dir.join(format!("{}.{number}", folder_name::escape(name)));
        fs::create_dir_all(&dir).map_err(failed("make the folder", &dir))?;
        Ok(dir)
    }

    /// Makes what was written to a folder of [`SnapshotFolders::begin`] the snapshot of its name, in place of an
    /// earlier one. It is on the disk when this returns.
    pub(crate) fn finish(&self, snapshot: &KeptSnapshot) -> Result<(), DataError> {
        let KeptSnapshot { name, project, taken, services, dir } = snapshot;
        let about = json!({
            "format": FORMAT,
            "name": name,
            "project": project,
            "takenMicros": taken.0,
            "services": services,
        });
        let unfinished = dir.join(UNFINISHED_FILE);
        let write = || -> io::Result<()> {
            let mut file = File::create(&unfinished)?;
            writeln!(file, "{about:#}")?;
            file.sync_all()?;
            fs::rename(&unfinished, dir.join(ABOUT_FILE))?;
            // The names above it as well: without them all of it would be lost with the power.
            let above = [Some(dir.as_path()), Some(self.dir.as_path()), self.dir.parent()];
            above.into_iter().flatten().try_for_each(sync_names)
        };
        write().map_err(failed("write", &unfinished))?;
        let older = self.numbered()?.into_iter().filter(|one| one.name == *name && one.dir != *dir);
        for one in older {
            remove(&one.dir)?;
        }
        Ok(())
    }

    /// Removes the snapshot of a name, and all that is left of others of it. Answers whether there was one.
    pub(crate) fn remove(&self, name: &str) -> Result<bool, DataError> {
        let found = self.find(name)?.is_some();
        // The lowest number first: cut short, it leaves the newest one.
        for one in self.numbered()?.into_iter().rev().filter(|one| one.name == name) {
            remove(&one.dir)?;
        }
        Ok(found)
    }

    /// The folders that can be snapshots, in the order of names, those of one name with the highest number first.
    fn numbered(&self) -> Result<Vec<Numbered>, DataError> {
        let read = failed("read the folder", &self.dir);
        let entries = match fs::read_dir(&self.dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(&read)?,
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(&read)?;
            let name = entry.file_name();
            // What we have not written is not ours to touch.
            let named =
                name.to_str().and_then(|name| name.rsplit_once('.')).and_then(|(name, n)| {
                    Some((
                        folder_name::unescape(name).filter(|name| is_name(name))?,
                        n.parse().ok()?,
                    ))
                });
            if let Some((name, number)) = named {
                found.push(Numbered { name, number, dir: entry.path() });
            }
        }
        found.sort_by(|a, b| (&a.name, b.number).cmp(&(&b.name, a.number)));
        Ok(found)
    }
}

/// What `snapshot.json` says; `None` where there is none.
fn read_about(dir: &Path) -> Result<Option<KeptSnapshot>, DataError> {
    let path = dir.join(ABOUT_FILE);
    let read = || -> io::Result<String> {
        use io::Read;
        let mut text = String::new();
        File::open(&path)?.take(ABOUT_LEN_MAX).read_to_string(&mut text)?;
        Ok(text)
    };
    let text = match read() {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed("read", &path)(error)),
    };
    let unreadable = || DataError::SnapshotUnreadable { path: path.clone() };
    let about: Value = serde_json::from_str(&text).map_err(|_| unreadable())?;
    if about.get("format").and_then(Value::as_u64) != Some(FORMAT) {
        return Err(unreadable());
    }
    let text = |name: &str| about.get(name).and_then(Value::as_str).map(str::to_owned);
    let services = about.get("services").and_then(Value::as_array).ok_or_else(unreadable)?;
    Ok(Some(KeptSnapshot {
        name: text("name").ok_or_else(unreadable)?,
        project: text("project"),
        taken: UnixMicros(about.get("takenMicros").and_then(Value::as_i64).unwrap_or_default()),
        services: services.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect(),
        dir: dir.to_owned(),
    }))
}

/// Removes a folder, what makes it a snapshot first: cut short, it is none any more.
fn remove(dir: &Path) -> Result<(), DataError> {
    let gone = |removed: io::Result<()>| match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(failed("remove", dir)),
    };
    gone(fs::remove_file(dir.join(ABOUT_FILE)))?;
    gone(fs::remove_dir_all(dir))
}

/// Brings the names in a folder to the disk, where a system can be told to.
fn sync_names(dir: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(dir)?.sync_all() } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folders: &SnapshotFolders, name: &str, content: &str) -> KeptSnapshot {
        let dir = folders.begin(name).unwrap();
        fs::write(dir.join("data"), content).unwrap();
        let snapshot = KeptSnapshot {
            name: name.to_owned(),
            project: Some("demo".to_owned()),
            taken: UnixMicros(7),
            services: vec!["firestore".to_owned()],
            dir,
        };
        folders.finish(&snapshot).unwrap();
        snapshot
    }

    #[test]
    fn the_newest_whole_one_of_a_name_counts() {
        let data = tempfile::tempdir().unwrap();
        let folders = SnapshotFolders::at(data.path());
        assert_eq!(folders.list().unwrap(), []);
        let a = write(&folders, "A.b", "1");
        let b = write(&folders, "seed", "2");
        assert_eq!(folders.list().unwrap(), [a, b.clone()]);
        // One that is being written is none yet, and nobody's when it was cut short.
        let begun = folders.begin("seed").unwrap();
        fs::write(begun.join("data"), "half").unwrap();
        assert_eq!(folders.find("seed").unwrap(), Some(b.clone()));
        let again = write(&folders, "seed", "3");
        assert_eq!(folders.find("seed").unwrap(), Some(again.clone()));
        assert!(!b.dir.exists());
        assert_eq!(fs::read_to_string(again.dir.join("data")).unwrap(), "3");
        assert!(folders.remove("seed").unwrap());
        assert!(!again.dir.exists());
        assert!(!folders.remove("seed").unwrap());
    }

    #[test]
    fn a_finished_one_wins_over_the_one_before_it() {
        let data = tempfile::tempdir().unwrap();
        let folders = SnapshotFolders::at(data.path());
        let old = write(&folders, "seed", "1");
        // As if the process had ended before the old one was removed.
        let copy = old.dir.with_file_name("seed.9");
        fs::create_dir(&copy).unwrap();
        for file in ["data", ABOUT_FILE] {
            fs::copy(old.dir.join(file), copy.join(file)).unwrap();
        }
        assert_eq!(folders.find("seed").unwrap().unwrap().dir, copy);
        assert_eq!(folders.list().unwrap().len(), 1);
        write(&folders, "seed", "2");
        assert!(!copy.exists() && !old.dir.exists());
    }

    #[test]
    fn what_is_not_ours_is_left_alone_and_what_is_broken_is_told() {
        let data = tempfile::tempdir().unwrap();
        let folders = SnapshotFolders::at(data.path());
        for foreign in ["notes", "Seed.1", "seed.x", "seed"] {
            fs::create_dir_all(data.path().join(DIR).join(foreign)).unwrap();
        }
        assert_eq!(folders.list().unwrap(), []);
        let broken = write(&folders, "seed", "1").dir.join(ABOUT_FILE);
        for text in ["", "{}", "{\"format\":2}"] {
            fs::write(&broken, text).unwrap();
            let error = folders.list().unwrap_err();
            assert_eq!(error, DataError::SnapshotUnreadable { path: broken.clone() });
        }
    }

    #[test]
    fn names_are_simple() {
        for name in ["a", "after-signup", "A_1.b", &"x".repeat(SNAPSHOT_NAME_LEN_MAX)] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "a/b", "a b", "\u{e9}", &"x".repeat(SNAPSHOT_NAME_LEN_MAX + 1)] {
            assert!(!is_name(name), "{name}");
        }
    }
}

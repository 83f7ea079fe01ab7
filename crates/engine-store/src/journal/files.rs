//! The folder of a kept store: its lock, its format, its name.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base_env::Env;

use crate::disk::Disk;
use crate::error::StoreError;
use crate::limits::{LOCK_TRIES_MAX, LOCK_TRY_INTERVAL};

/// The format this program writes, and the only one that it reads.
pub(crate) const FORMAT: u32 = 3;

const FORMAT_FILE: &str = "format";
const FORMAT_FILE_NEW: &str = "format.new";
const LOCK_FILE: &str = "lock";
const BASE_FILE: &str = "base.redb";
const BASE_FILE_NEW: &str = "base.redb.new";
/// The longest format file that is read, so that a wrong file is not read whole.
const FORMAT_FILE_LEN_MAX: u64 = 4_096;

/// The folder of a kept store, which is this store's alone while this lives.
pub(crate) struct Folder {
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) dir: PathBuf,
    /// A random number that every file of this store carries.
    pub(crate) store: u64,
    _lock: Box<dyn Send + Sync>,
}

impl Folder {
    /// Takes the folder, and makes it where it is missing.
    pub(crate) fn open(disk: Arc<dyn Disk>, dir: &Path, env: &Env) -> Result<Folder, StoreError> {
        make_dirs(&*disk, dir).map_err(|error| StoreError::io("make", dir, &error))?;
        let lock = lock(&*disk, dir)?;
        let store = match read_format(&*disk, dir)? {
            Some(store) => store,
            None => write_format(&*disk, dir, env)?,
        };
        Ok(Folder { disk, dir: dir.to_owned(), store, _lock: lock })
    }

    /// The file of the base.
    pub(crate) fn base_path(&self) -> PathBuf {
        self.dir.join(BASE_FILE)
    }

    /// Where a new base is made, with nothing there.
    pub(crate) fn new_base_path(&self) -> Result<PathBuf, StoreError> {
        let path = self.dir.join(BASE_FILE_NEW);
        if self.names()?.iter().any(|name| name == BASE_FILE_NEW) {
            // An earlier attempt was cut short.
            self.remove(std::slice::from_ref(&path))?;
        }
        Ok(path)
    }

    /// Whether there is a base.
    pub(crate) fn has_base(&self) -> Result<bool, StoreError> {
        Ok(self.names()?.iter().any(|name| name == BASE_FILE))
    }

    /// The names of the files in the folder.
    pub(crate) fn names(&self) -> Result<Vec<String>, StoreError> {
        self.disk.list(&self.dir).map_err(|error| StoreError::io("read", &self.dir, &error))
    }

    /// Removes files in their order.
    pub(crate) fn remove(&self, paths: &[PathBuf]) -> Result<(), StoreError> {
        for path in paths {
            self.disk.remove(path).map_err(|error| StoreError::io("remove", path, &error))?;
        }
        Ok(())
    }

    /// Gives a file its name; for good once [`Folder::sync_names`] agrees.
    pub(crate) fn rename(&self, from: &Path, to: &Path) -> Result<(), StoreError> {
        self.disk.rename(from, to).map_err(|error| StoreError::io("rename", from, &error))
    }

    /// Brings the names of the files to the disk.
    pub(crate) fn sync_names(&self) -> Result<(), StoreError> {
        self.disk.sync_dir(&self.dir).map_err(|error| StoreError::io("sync", &self.dir, &error))
    }
}

impl fmt::Debug for Folder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Folder").field("dir", &self.dir).finish_non_exhaustive()
    }
}

/// Makes a folder, and those above it, where they are missing. Each has its name on the disk then: without it all that
/// is in it would be lost with the power, however well that was synced.
fn make_dirs(disk: &dyn Disk, dir: &Path) -> io::Result<()> {
    let above = match dir.parent() {
        // Of a relative path.
        Some(above) if above.as_os_str().is_empty() => Path::new("."),
        Some(above) => above,
        None => return disk.make_dir(dir).map(drop),
    };
    let made = match disk.make_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_dirs(disk, above)?;
            disk.make_dir(dir)?
        }
        made => made?,
    };
    if made { disk.sync_dir(above) } else { Ok(()) }
}

/// Takes the lock file. A process that this one is just starting holds a copy of every open file until it
/// is under way, that of a store closed a moment ago too; so it is tried for a little while.
fn lock(disk: &dyn Disk, dir: &Path) -> Result<Box<dyn Send + Sync>, StoreError> {
    let path = dir.join(LOCK_FILE);
    for _ in 0..LOCK_TRIES_MAX {
        let lock = disk.lock(&path).map_err(|error| StoreError::io("lock", &path, &error))?;
        if let Some(lock) = lock {
            return Ok(lock);
        }
        std::thread::sleep(LOCK_TRY_INTERVAL);
    }
    Err(StoreError::InUse { dir: dir.to_owned() })
}

/// The format of the store in a folder; `None` where there is no store, or nothing says. Takes no lock.
pub fn format_of(dir: &Path) -> Option<u32> {
    let mut text = String::new();
    let file = std::fs::File::open(dir.join(FORMAT_FILE)).ok()?;
    file.take(FORMAT_FILE_LEN_MAX).read_to_string(&mut text).ok()?;
    field(&text, "format ").and_then(|number| number.parse().ok())
}

/// The store's number, unless the folder is new.
fn read_format(disk: &dyn Disk, dir: &Path) -> Result<Option<u64>, StoreError> {
    let path = dir.join(FORMAT_FILE);
    let failed = |error: &io::Error| StoreError::io("read", &path, error);
    let names = disk.list(dir).map_err(|error| StoreError::io("read", dir, &error))?;
    if !names.iter().any(|name| name == FORMAT_FILE) {
        return Ok(None);
    }
    let file = disk.open(&path, false).map_err(|error| failed(&error))?;
    let len = file.size().map_err(|error| failed(&error))?.min(FORMAT_FILE_LEN_MAX);
    let mut bytes = vec![0; usize::try_from(len).unwrap_or(0)];
    file.read_at(0, &mut bytes).map_err(|error| failed(&error))?;
    let damaged = |what| StoreError::Damaged { path: path.clone(), offset: 0, what };
    let text = std::str::from_utf8(&bytes).map_err(|_| damaged("not a format file"))?;
    let found = field(text, "format ").and_then(|number| number.parse().ok());
    match found {
        Some(FORMAT) => {}
        Some(found) => {
            return Err(StoreError::Format { dir: dir.to_owned(), found, supported: FORMAT });
        }
        None => return Err(damaged("no format number")),
    }
    let store = field(text, "store ").and_then(|store| u64::from_str_radix(store, 16).ok());
    store.map(Some).ok_or_else(|| damaged("no store number"))
}

fn field<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(name))
}

/// Written under another name first, so that it is there whole or not at all.
fn write_format(disk: &dyn Disk, dir: &Path, env: &Env) -> Result<u64, StoreError> {
    let mut store = [0; 8];
    env.random(&mut store);
    let store = u64::from_le_bytes(store);
    let text = format!("firelet data, not to be edited\nformat {FORMAT}\nstore {store:016x}\n");
    let new = dir.join(FORMAT_FILE_NEW);
    let write = || {
        let file = disk.open(&new, true)?;
        file.set_len(0)?;
        file.write_at(0, text.as_bytes())?;
        file.sync()?;
        drop(file);
        disk.rename(&new, &dir.join(FORMAT_FILE))?;
        disk.sync_dir(dir)
    };
    write().map_err(|error| StoreError::io("write", &new, &error))?;
    Ok(store)
}

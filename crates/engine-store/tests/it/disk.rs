//! A disk in memory that keeps apart what was written and what was synced.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use engine_store::{Disk, DiskFile};

use crate::support::Choices;

/// What a disk writes whole or not at all.
const SECTOR_LEN: usize = 512;

/// What a disk gives to files.
const BLOCK_LEN: usize = 4096;

/// What is lost when a machine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Crash {
    /// Nothing: the process was killed, and the system goes on.
    Kill,
    /// Any part of what was not synced.
    PowerCut,
}

/// The disk. Clones are handles to the same one.
#[derive(Clone, Debug, Default)]
pub(crate) struct SimulatedDisk {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    names: BTreeMap<PathBuf, Arc<File>>,
    synced_names: BTreeMap<PathBuf, Arc<File>>,
    dirs: BTreeSet<PathBuf>,
    synced_dirs: BTreeSet<PathBuf>,
    locked: Vec<PathBuf>,
    faults: Arc<Mutex<Faults>>,
}

/// Whether something takes its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stall {
    #[default]
    No,
    Next,
    UnderWay,
}

/// What the disk refuses from now on.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    /// Writes, for want of room. The first half of one still arrives.
    pub(crate) full: bool,
    pub(crate) syncs_fail: bool,
    /// How many more reads are answered; no bound at first. The rest of them fail.
    pub(crate) reads: Option<usize>,
    /// The next reservation of room does not end before this is [`Stall::No`] again.
    pub(crate) stall: Stall,
    /// Bringing names to the disk.
    pub(crate) name_syncs_fail: bool,
    /// How many blocks are left for places of files that were not written yet; no bound at first. What is cut off or
    /// removed gives its blocks back.
    pub(crate) room: Option<usize>,
}

impl Faults {
    /// Gives the blocks of a part of a file their places; answers how much of it has its place.
    fn take_room(&mut self, blocks: &mut BTreeSet<usize>, start: usize, end: usize) -> usize {
        for block in start / BLOCK_LEN..end.div_ceil(BLOCK_LEN) {
            if blocks.contains(&block) {
                continue;
            }
            match &mut self.room {
                Some(0) => return (block * BLOCK_LEN).saturating_sub(start),
                Some(room) => *room -= 1,
                None => {}
            }
            blocks.insert(block);
        }
        end - start
    }

    fn give_back(&mut self, blocks: &mut BTreeSet<usize>, from_block: usize) {
        let given = blocks.split_off(&from_block).len();
        self.room = self.room.map(|room| room + given);
    }
}

#[derive(Debug, Default)]
struct File {
    content: Mutex<Content>,
    faults: Arc<Mutex<Faults>>,
}

impl Drop for File {
    fn drop(&mut self) {
        let blocks = &mut self.content.get_mut().unwrap().blocks;
        self.faults.lock().unwrap().give_back(blocks, 0);
    }
}

#[derive(Clone, Debug, Default)]
struct Content {
    live: Vec<u8>,
    /// Those that have a place on the disk.
    blocks: BTreeSet<usize>,
    synced: Vec<u8>,
    unsynced: Vec<Write>,
}

#[derive(Clone, Debug)]
enum Write {
    Bytes(usize, Vec<u8>),
    Len(usize),
}

impl SimulatedDisk {
    pub(crate) fn fault(&self, set: impl FnOnce(&mut Faults)) {
        set(&mut self.state.lock().unwrap().faults.lock().unwrap());
    }

    /// What another machine would find on it after a crash at this moment.
    pub(crate) fn crash(&self, crash: Crash, choices: &mut Choices) -> SimulatedDisk {
        let state = self.state.lock().unwrap();
        let (names, dirs) = match crash {
            Crash::PowerCut if choices.below(2) == 0 => (&state.synced_names, &state.synced_dirs),
            Crash::Kill | Crash::PowerCut => (&state.names, &state.dirs),
        };
        // What is in a folder goes with its name.
        let is_there = |dir: &Path| dir.ancestors().all(|dir| is_root(dir) || dirs.contains(dir));
        let dirs: BTreeSet<PathBuf> = dirs.iter().filter(|dir| is_there(dir)).cloned().collect();
        let names = names.iter().filter(|(path, _)| path.parent().is_none_or(is_there));
        let faults = Arc::new(Mutex::new(Faults::default()));
        let survive = |file: &Arc<File>, choices: &mut Choices| {
            let content = file.content.lock().unwrap();
            let bytes = match crash {
                Crash::Kill => content.live.clone(),
                Crash::PowerCut => content.survivors(choices),
            };
            let blocks = content.blocks.clone();
            let unsynced = Vec::new();
            let content = Content { live: bytes.clone(), blocks, synced: bytes, unsynced };
            Arc::new(File { content: Mutex::new(content), faults: Arc::clone(&faults) })
        };
        let names: BTreeMap<PathBuf, Arc<File>> =
            names.map(|(path, file)| (path.clone(), survive(file, choices))).collect();
        let state = State {
            synced_names: names.clone(),
            names,
            synced_dirs: dirs.clone(),
            dirs,
            locked: Vec::new(),
            faults: Arc::clone(&faults),
        };
        SimulatedDisk { state: Arc::new(Mutex::new(state)) }
    }

    /// Whether a folder is there.
    pub(crate) fn has_dir(&self, dir: &str) -> bool {
        self.state.lock().unwrap().dirs.contains(Path::new(dir))
    }

    pub(crate) fn names(&self) -> Vec<String> {
        let state = self.state.lock().unwrap();
        let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
        state.names.keys().map(name).collect()
    }

    /// How long a file is.
    pub(crate) fn len_of(&self, name: &str) -> usize {
        let state = self.state.lock().unwrap();
        let (_, file) = state.names.iter().find(|(path, _)| path.ends_with(name)).unwrap();
        file.content.lock().unwrap().live.len()
    }

    /// Changes the bytes of a file behind everybody's back.
    pub(crate) fn damage(&self, name: &str, change: impl FnOnce(&mut Vec<u8>)) {
        let state = self.state.lock().unwrap();
        let (_, file) = state.names.iter().find(|(path, _)| path.ends_with(name)).unwrap();
        let mut content = file.content.lock().unwrap();
        change(&mut content.live);
        content.synced = content.live.clone();
    }
}

impl Content {
    /// The synced bytes with some sectors of some of the later writes.
    fn survivors(&self, choices: &mut Choices) -> Vec<u8> {
        let mut bytes = self.synced.clone();
        // Now and then all of them survive, or none.
        let odds = choices.below(5);
        for write in &self.unsynced {
            match write {
                Write::Len(len) if choices.below(4) < odds => bytes.resize(*len, 0),
                Write::Len(_) => {}
                Write::Bytes(offset, written) => {
                    for (index, sector) in written.chunks(SECTOR_LEN).enumerate() {
                        if choices.below(4) < odds {
                            put(&mut bytes, offset + index * SECTOR_LEN, sector);
                        }
                    }
                }
            }
        }
        bytes
    }
}

/// The one folder that is always there.
fn is_root(dir: &Path) -> bool {
    dir.parent().is_none()
}

fn put(bytes: &mut Vec<u8>, offset: usize, written: &[u8]) {
    let end = offset + written.len();
    if bytes.len() < end {
        bytes.resize(end, 0);
    }
    bytes[offset..end].copy_from_slice(written);
}

impl DiskFile for File {
    fn size(&self) -> io::Result<u64> {
        Ok(self.content.lock().unwrap().live.len() as u64)
    }

    fn read_at(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        match &mut self.faults.lock().unwrap().reads {
            Some(0) => return Err(io::Error::other("the disk does not answer")),
            Some(reads) => *reads -= 1,
            None => {}
        }
        let content = self.content.lock().unwrap();
        let start = usize::try_from(offset).unwrap();
        let found = content.live.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let offset = usize::try_from(offset).unwrap();
        let mut content = self.content.lock().unwrap();
        let len = {
            let mut faults = self.faults.lock().unwrap();
            let len = if faults.full { bytes.len() / 2 } else { bytes.len() };
            faults.take_room(&mut content.blocks, offset, offset + len)
        };
        let written = &bytes[..len];
        put(&mut content.live, offset, written);
        content.unsynced.push(Write::Bytes(offset, written.to_vec()));
        if len < bytes.len() { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).unwrap();
        let mut content = self.content.lock().unwrap();
        if len > content.live.len() && self.faults.lock().unwrap().full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.faults.lock().unwrap().give_back(&mut content.blocks, len.div_ceil(BLOCK_LEN));
        content.live.resize(len, 0);
        content.unsynced.push(Write::Len(len));
        Ok(())
    }

    fn allocate(&self, len: u64) -> io::Result<()> {
        let wanted = usize::try_from(len).unwrap();
        let stall = |from: Stall, to: Stall| {
            let stall = &mut self.faults.lock().unwrap().stall;
            let is_so = *stall == from;
            *stall = if is_so { to } else { *stall };
            is_so
        };
        if stall(Stall::Next, Stall::UnderWay) {
            while stall(Stall::UnderWay, Stall::UnderWay) {
                std::thread::yield_now();
            }
        }
        {
            let mut content = self.content.lock().unwrap();
            let mut faults = self.faults.lock().unwrap();
            if faults.take_room(&mut content.blocks, 0, wanted) < wanted {
                return Err(io::ErrorKind::StorageFull.into());
            }
        }
        self.set_len(len)
    }

    fn sync(&self) -> io::Result<()> {
        if self.faults.lock().unwrap().syncs_fail {
            return Err(io::Error::other("the disk is gone"));
        }
        let Content { synced, unsynced, .. } = &mut *self.content.lock().unwrap();
        for write in unsynced.drain(..) {
            match write {
                Write::Len(len) => synced.resize(len, 0),
                Write::Bytes(offset, written) => put(synced, offset, &written),
            }
        }
        Ok(())
    }
}

impl Disk for SimulatedDisk {
    fn open(&self, path: &Path, create: bool) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.state.lock().unwrap();
        if let Some(file) = state.names.get(path) {
            return Ok(Arc::clone(file) as Arc<dyn DiskFile>);
        }
        if !create || !path.parent().is_some_and(|dir| state.dirs.contains(dir)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let faults = Arc::clone(&state.faults);
        let file = Arc::new(File { content: Mutex::default(), faults });
        state.names.insert(path.to_owned(), Arc::clone(&file));
        Ok(file)
    }

    fn temporary(&self, _dir: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let faults = Arc::clone(&self.state.lock().unwrap().faults);
        Ok(Arc::new(File { content: Mutex::default(), faults }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let state = self.state.lock().unwrap();
        let inside = state.names.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let removed = self.state.lock().unwrap().names.remove(path);
        removed.map(drop).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        let file = state.names.remove(from).ok_or(io::ErrorKind::NotFound)?;
        state.names.insert(to.to_owned(), file);
        Ok(())
    }

    fn make_dir(&self, dir: &Path) -> io::Result<bool> {
        let mut state = self.state.lock().unwrap();
        if dir.parent().is_some_and(|above| !is_root(above) && !state.dirs.contains(above)) {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(!is_root(dir) && state.dirs.insert(dir.to_owned()))
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state.lock().unwrap();
        if state.faults.lock().unwrap().name_syncs_fail {
            return Err(io::Error::other("the disk is gone"));
        }
        let State { names, synced_names, dirs, synced_dirs, .. } = &mut *state;
        let is_inside = |path: &Path| path.parent() == Some(dir);
        synced_names.retain(|path, _| !is_inside(path));
        let inside = names.iter().filter(|(path, _)| is_inside(path));
        synced_names.extend(inside.map(|(path, file)| (path.clone(), Arc::clone(file))));
        synced_dirs.extend(dirs.iter().filter(|dir| is_inside(dir)).cloned());
        Ok(())
    }

    fn lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let mut state = self.state.lock().unwrap();
        if state.locked.iter().any(|locked| locked == path) {
            return Ok(None);
        }
        state.locked.push(path.to_owned());
        Ok(Some(Box::new(Lock { path: path.to_owned(), state: Arc::clone(&self.state) })))
    }
}

struct Lock {
    path: PathBuf,
    state: Arc<Mutex<State>>,
}

impl Drop for Lock {
    fn drop(&mut self) {
        self.state.lock().unwrap().locked.retain(|path| *path != self.path);
    }
}

//! The end of the journal, where commits are appended.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::files::Folder;
use super::segment::{SEGMENT_HEADER_LEN, Segment};
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::limits::{JOURNAL_TAIL_BYTES_MAX, SEGMENTS_MAX};
use crate::record::Version;

/// A full segment that nothing is appended to any more.
#[derive(Debug)]
pub(crate) struct Closed {
    pub(crate) path: PathBuf,
    /// The newest version in it: once that is folded, the segment is not needed.
    pub(crate) last: Version,
}

/// Appends records. It lives under the store's mutex; what need not is in [`Spare`].
#[derive(Debug)]
pub(crate) struct Journal {
    folder: Arc<Folder>,
    /// What is appended to; none before the first record where the disk was full at opening.
    segment: Option<Segment>,
    /// The number of the next segment.
    next_number: u64,
    segment_bytes: u64,
    // INVARIANT: oldest first.
    closed: VecDeque<Closed>,
    /// Closed files that were written since they were last synced.
    unsynced: Vec<Arc<dyn DiskFile>>,
    appended: Version,
    /// Bytes of the records that no fold has begun to cover.
    tail_bytes: u64,
    spare: Arc<Spare>,
}

/// The next segment, made before it is needed so that no commit waits for it.
#[derive(Debug)]
struct Spare {
    state: Mutex<SpareState>,
}

#[derive(Debug)]
struct SpareState {
    /// The number of the segment that is appended to. A spare is only ever made for the one after it:
    /// making one takes whatever file is there for left over.
    current: u64,
    segment: Option<Segment>,
}

impl Journal {
    /// Appends after `appended`, to a new segment. A full disk is met by the first record.
    pub(crate) fn new(
        folder: Arc<Folder>,
        number: u64,
        segment_bytes: u64,
        closed: VecDeque<Closed>,
        appended: Version,
    ) -> Result<Journal, StoreError> {
        let state = SpareState { current: number.saturating_sub(1), segment: None };
        let spare = Arc::new(Spare { state: Mutex::new(state) });
        let mut journal = Journal {
            folder,
            segment: None,
            next_number: number,
            segment_bytes,
            closed,
            unsynced: Vec::new(),
            appended,
            tail_bytes: 0,
            spare,
        };
        match journal.rotate(0) {
            Ok(()) | Err(StoreError::Full { .. }) => Ok(journal),
            Err(error) => Err(error),
        }
    }

    /// Writes the record of `version`. After an error nothing has changed, and the next record takes its
    /// place.
    pub(crate) fn append(&mut self, record: &[u8], version: Version) -> Result<(), StoreError> {
        if !self.segment.as_ref().is_some_and(|segment| segment.has_room(record.len())) {
            self.rotate(record.len())?;
        }
        let segment =
            self.segment.as_mut().expect("one with room was just made, if there was none");
        segment
            .file
            .write_at(segment.offset, record)
            .map_err(|error| StoreError::io("write", &segment.path, &error))?;
        segment.offset += record.len() as u64;
        self.tail_bytes += record.len() as u64;
        self.appended = version;
        Ok(())
    }

    /// Whether so much was appended since a fold began that reading it again takes long, however few keys
    /// it was about.
    pub(crate) fn is_tail_long(&self) -> bool {
        self.tail_bytes >= JOURNAL_TAIL_BYTES_MAX
    }

    /// Goes on in a new segment, if the current one holds anything: a fold covers what was appended so far.
    pub(crate) fn rotate_for_fold(&mut self) -> Result<(), StoreError> {
        self.tail_bytes = 0;
        let segment = self.segment.as_ref();
        if segment.is_none_or(|segment| segment.offset == SEGMENT_HEADER_LEN as u64) {
            return Ok(());
        }
        match self.rotate(0) {
            // Then the last file goes with the next fold. This one may make room.
            Err(StoreError::Full { .. }) => Ok(()),
            result => result,
        }
    }

    fn rotate(&mut self, len: usize) -> Result<(), StoreError> {
        let number = self.next_number;
        let mut state = self.spare.state.lock();
        let spare = state.segment.take();
        let segment = match spare.filter(|spare| spare.number == number && spare.has_room(len)) {
            Some(spare) => spare,
            None => {
                let capacity = self.segment_bytes.max((SEGMENT_HEADER_LEN + len) as u64);
                let folder = &*self.folder;
                Segment::create(&*folder.disk, &folder.dir, folder.store, number, capacity)?
            }
        };
        state.current = number;
        drop(state);
        self.next_number = number + 1;
        if let Some(full) = self.segment.replace(segment) {
            self.unsynced.push(full.file);
            self.closed.push_back(Closed { path: full.path, last: self.appended });
        }
        Ok(())
    }

    /// What to sync for everything appended so far to be on the disk.
    pub(crate) fn to_sync(&self) -> ToSync {
        let current = self.segment.as_ref().map(|segment| Arc::clone(&segment.file));
        ToSync { version: self.appended, closed: self.unsynced.clone(), current }
    }

    /// Notes that the files of `synced` were synced. The one that was current then may have been
    /// appended to since, and closed after that, so it does not count.
    pub(crate) fn synced(&mut self, synced: &ToSync) {
        self.unsynced.retain(|file| !synced.closed.iter().any(|closed| Arc::ptr_eq(file, closed)));
    }

    /// Segments that are not needed once `folded` is in the base, oldest first, to be removed.
    pub(crate) fn take_covered(&mut self, folded: Version) -> Vec<PathBuf> {
        let covered = self.closed.iter().take_while(|closed| closed.last <= folded).count();
        self.closed.drain(..covered).map(|closed| closed.path).collect()
    }

    /// What a thread needs to make the next segment, if it is time for that.
    pub(crate) fn wanted_spare(&self) -> Option<WantedSpare> {
        let segment = self.segment.as_ref();
        let wanted = segment.is_some_and(|segment| segment.offset > self.segment_bytes / 2);
        wanted.then(|| self.spare_for_fold()).flatten()
    }

    /// The same for a fold that is about to begin, which goes on in the next segment.
    pub(crate) fn spare_for_fold(&self) -> Option<WantedSpare> {
        let missing = self.spare.state.try_lock().is_some_and(|state| state.segment.is_none());
        missing.then(|| WantedSpare {
            folder: Arc::clone(&self.folder),
            spare: Arc::clone(&self.spare),
            number: self.next_number,
            capacity: self.segment_bytes,
        })
    }

    /// Whether it is spread over so many segments that opening takes long.
    pub(crate) fn is_long(&self) -> bool {
        self.closed.len() > SEGMENTS_MAX
    }

    /// Gives back the room that the last segment did not need.
    pub(crate) fn finish(self) -> Result<(), StoreError> {
        if let Some(spare) = self.spare.state.lock().segment.take() {
            self.folder.remove(&[spare.path])?;
        }
        let Some(segment) = &self.segment else { return Ok(()) };
        let trim = || {
            segment.file.set_len(segment.offset)?;
            segment.file.sync()
        };
        trim().map_err(|error| StoreError::io("trim", &segment.path, &error))
    }
}

/// The files that hold what was not synced yet.
#[derive(Debug)]
pub(crate) struct ToSync {
    /// The newest version in them.
    pub(crate) version: Version,
    closed: Vec<Arc<dyn DiskFile>>,
    current: Option<Arc<dyn DiskFile>>,
}

impl ToSync {
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.closed.iter().chain(&self.current).try_for_each(|file| file.sync())
    }
}

/// A segment to be made beforehand.
pub(crate) struct WantedSpare {
    folder: Arc<Folder>,
    spare: Arc<Spare>,
    number: u64,
    capacity: u64,
}

impl WantedSpare {
    /// Makes it. A failure is left to the commit that needs the segment, which tries again and has
    /// somebody to tell.
    pub(crate) fn make(self) {
        let mut state = self.spare.state.lock();
        if state.segment.is_none() && state.current + 1 == self.number {
            let folder = &*self.folder;
            state.segment = Segment::create(
                &*folder.disk,
                &folder.dir,
                folder.store,
                self.number,
                self.capacity,
            )
            .ok();
        }
    }
}

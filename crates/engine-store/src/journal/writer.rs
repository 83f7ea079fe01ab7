//! The end of the journal, where commits are appended.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::Mutex;

use super::files::Folder;
use super::record::Seal;
use super::segment::{SEGMENT_HEADER_LEN, Segment};
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::limits::{JOURNAL_PRESSURE_BYTES, JOURNAL_TAIL_BYTES_MAX, SEGMENTS_MAX, SPARE_PARTS};
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
    seal: Seal,
    /// What is appended to; none before the first record where the disk was full at opening.
    segment: Option<Segment>,
    segment_bytes: u64,
    /// Whether the current segment has got so full that somebody was asked to make the next one.
    asked: bool,
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
    /// Held while one is made, by somebody who holds nothing that commits want.
    making: Mutex<()>,
    /// Never held over anything that takes its time.
    state: Mutex<SpareState>,
}

#[derive(Debug)]
struct SpareState {
    /// The number of the segment that is appended to.
    current: u64,
    // INVARIANT: its number, that of one that is being made too, is `SPARE_AHEAD` higher than `current` was when it was
    // begun. So it is the last one whatever commits have to make meanwhile, and a half-made one is never between others
    // when the process is killed.
    segment: Option<Segment>,
}

/// How far ahead of the current segment's number that of a spare one is. No commit is so often in need of one while the
/// disk makes another.
const SPARE_AHEAD: u64 = 1 << 32;

impl Journal {
    /// Appends after `appended`, to a new segment. A full disk is met by the first record.
    pub(crate) fn new(
        folder: Arc<Folder>,
        number: u64,
        segment_bytes: u64,
        closed: VecDeque<Closed>,
        appended: Version,
    ) -> Result<Journal, StoreError> {
        let current = number.saturating_sub(1);
        let state = SpareState { current, segment: None };
        let spare = Arc::new(Spare { making: Mutex::default(), state: Mutex::new(state) });
        let mut journal = Journal {
            seal: Seal::of(folder.store),
            folder,
            segment: None,
            segment_bytes,
            asked: false,
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

    /// What its records are to be finished with.
    pub(crate) fn seal(&self) -> Seal {
        self.seal
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

    /// Whether so much was appended since a fold began that nothing more may be until it is done.
    pub(crate) fn is_tail_too_long(&self) -> bool {
        self.tail_bytes > JOURNAL_PRESSURE_BYTES
    }

    /// The files of the segments that nothing is appended to any more.
    pub(crate) fn closed_paths(&self) -> Vec<PathBuf> {
        self.closed.iter().map(|closed| closed.path.clone()).collect()
    }

    /// Goes on in a new segment, if the current one holds anything: a fold covers what was appended so far.
    pub(crate) fn rotate_for_fold(&mut self) -> Result<(), StoreError> {
        let segment = self.segment.as_ref();
        if segment.is_some_and(|segment| segment.offset > SEGMENT_HEADER_LEN as u64) {
            match self.rotate(0) {
                // Then the last file goes with the next fold. This one may make room.
                Ok(()) | Err(StoreError::Full { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        self.tail_bytes = 0;
        Ok(())
    }

    /// Goes on in another segment: the spare one, or one that is made now, without waiting for a spare that is being
    /// made.
    fn rotate(&mut self, len: usize) -> Result<(), StoreError> {
        // A spare one counts as the current one from the moment on that it is taken: whoever makes the next one picks a
        // number ahead of that, or would begin the file anew that records are written to by now.
        let (spare, number) = {
            let mut state = self.spare.state.lock();
            let spare = state.segment.take_if(|spare| spare.has_room(len));
            if let Some(spare) = &spare {
                state.current = spare.number;
            }
            (spare, state.current.saturating_add(1))
        };
        let segment = match spare {
            Some(spare) => spare,
            None => {
                let capacity = self.segment_bytes.max((SEGMENT_HEADER_LEN + len) as u64);
                let folder = &*self.folder;
                let made =
                    Segment::create(&*folder.disk, &folder.dir, folder.store, number, capacity)?;
                self.spare.state.lock().current = number;
                made
            }
        };
        self.asked = false;
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

    /// Whether it is time to make the next segment, which is said once for each.
    pub(crate) fn asks_for_spare(&mut self) -> bool {
        self.is_spare_due() && !std::mem::replace(&mut self.asked, true)
    }

    /// What a thread needs to make the next segment, if it is time for that.
    pub(crate) fn wanted_spare(&self) -> Option<WantedSpare> {
        self.is_spare_due().then(|| self.spare_for_fold()).flatten()
    }

    fn is_spare_due(&self) -> bool {
        let segment = self.segment.as_ref();
        segment.is_some_and(|segment| segment.offset > self.segment_bytes / SPARE_PARTS)
    }

    /// The same for a fold that is about to begin, which goes on in the next segment.
    pub(crate) fn spare_for_fold(&self) -> Option<WantedSpare> {
        let missing = self.spare.state.lock().segment.is_none();
        missing.then(|| WantedSpare {
            folder: Arc::clone(&self.folder),
            spare: Arc::clone(&self.spare),
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
    capacity: u64,
}

impl WantedSpare {
    /// Makes it, or waits for who does. A failure is left to the commit that needs the segment, which tries again and
    /// has somebody to tell.
    pub(crate) fn make(self) {
        let _one = self.spare.making.lock();
        let number = {
            let state = self.spare.state.lock();
            if state.segment.is_some() {
                return;
            }
            state.current.saturating_add(SPARE_AHEAD)
        };
        let folder = &*self.folder;
        let made = Segment::create(&*folder.disk, &folder.dir, folder.store, number, self.capacity);
        if let Ok(segment) = made {
            self.spare.state.lock().segment = Some(segment);
        }
    }
}

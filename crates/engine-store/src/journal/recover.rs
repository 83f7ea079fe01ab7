//! Reading the journal after a stop of whatever kind.
//!
//! Versions are consecutive, so what was written can be told from what was not: reading ends at the
//! first place that does not hold the next version. Whether that place is where the journal ended or
//! where it is damaged, the records after it tell: each says up to which version the disk was known
//! to hold everything.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use base_env::UnixMicros;
use bytes::Bytes;

use super::files::Folder;
use super::record::{Done, Found, HEADER_LEN, Header, Kind, Seal, decode};
use super::segment::{self, SEGMENT_HEADER_LEN};
use super::writer::Closed;
use crate::disk::DiskFile;
use crate::error::StoreError;
use crate::record::{Record, Version};
use crate::table::{Slot, Table};

/// Read at once.
const CHUNK_LEN: u64 = 1024 * 1024;

/// What the journal holds that the base does not.
#[derive(Debug)]
pub(crate) struct Recovered {
    /// The newest operation of each key.
    pub(crate) table: Table,
    /// Whether everything in the base is gone.
    pub(crate) cleared: bool,
    /// Version, time and number of keys after the last record, if there is one newer than the base.
    pub(crate) last: Option<(Version, UnixMicros, usize)>,
    /// The segments with records, oldest first.
    pub(crate) closed: VecDeque<Closed>,
    /// The number for the next segment.
    pub(crate) next_number: u64,
}

struct Reader<'a> {
    folder: &'a Folder,
    seal: Seal,
    folded: Version,
    entries: Vec<(Bytes, Slot)>,
    /// How many bytes of records the entries are slices of.
    read_bytes: usize,
    cleared: bool,
    /// The version of the newest record read, whether it is folded or not.
    read: Option<Version>,
    last: Option<(Version, UnixMicros, usize)>,
}

struct Source {
    file: Arc<dyn DiskFile>,
    path: PathBuf,
    number: u64,
    len: u64,
}

/// Where reading a segment ended.
enum End {
    /// At its end, or where nothing has been written yet.
    Clean,
    /// At something that is not the next record.
    Bad(u64),
}

/// Reads what is newer than version `folded`, and removes what can never be read again.
pub(crate) fn recover(folder: &Folder, folded: Version) -> Result<Recovered, StoreError> {
    let sources = sources(folder)?;
    let next_number = sources.last().map_or(1, |source| source.number + 1);
    let mut reader = Reader {
        folder,
        seal: Seal::of(folder.store),
        folded,
        entries: Vec::new(),
        read_bytes: 0,
        cleared: false,
        read: None,
        last: None,
    };
    let mut closed = VecDeque::new();
    let mut sources = sources.into_iter();
    while let Some(source) = sources.next() {
        let before = reader.read;
        let end = reader.read_segment(&source)?;
        let used = reader.read != before;
        if let (true, Some(last)) = (used, reader.read) {
            closed.push_back(Closed { path: source.path.clone(), last });
        }
        if let End::Bad(offset) = end {
            reader.cut(&source, offset, sources.as_slice())?;
            break;
        }
        if !used {
            // It was made beforehand and never needed.
            folder.remove(&[source.path])?;
            continue;
        }
        // From here on everything that was read counts as safely stored.
        let synced = source.file.sync();
        synced.map_err(|error| StoreError::io("sync", &source.path, &error))?;
    }
    let Reader { mut entries, read_bytes, cleared, last, .. } = reader;
    // Stable, so that the newest of a key stays the last of it.
    entries.sort_by(|one, two| one.0.cmp(&two.0));
    let mut newest: Vec<(Bytes, Slot)> = Vec::with_capacity(entries.len());
    for (key, slot) in entries {
        match newest.last_mut() {
            Some(previous) if previous.0 == key => previous.1 = slot,
            _ => newest.push((key, slot)),
        }
    }
    if newest.iter().map(slice_bytes).sum::<usize>() < read_bytes / 2 {
        // Most of what was read was written again later, and would be kept in memory by what was not.
        newest.iter_mut().for_each(copy_out);
    }
    Ok(Recovered { table: newest.into_iter().collect(), cleared, last, closed, next_number })
}

/// How many bytes of what was read an entry needs.
fn slice_bytes((key, slot): &(Bytes, Slot)) -> usize {
    key.len() + slot.as_ref().map_or(0, |record| record.value.len())
}

/// Makes an entry one that keeps nothing else alive.
fn copy_out((key, slot): &mut (Bytes, Slot)) {
    *key = Bytes::copy_from_slice(key);
    if let Some(record) = slot {
        record.value = Bytes::copy_from_slice(&record.value);
    }
}

fn sources(folder: &Folder) -> Result<Vec<Source>, StoreError> {
    let failed = |error: &std::io::Error| StoreError::io("read", &folder.dir, error);
    let mut sources = Vec::new();
    for name in folder.names()? {
        let Some(number) = segment::number(&name) else { continue };
        let path = folder.dir.join(name);
        let file = folder.disk.open(&path, false).map_err(|error| failed(&error))?;
        let len = file.size().map_err(|error| failed(&error))?;
        sources.push(Source { file, path, number, len });
    }
    sources.sort_by_key(|source| source.number);
    Ok(sources)
}

impl Source {
    /// Up to `len` bytes from `offset` on.
    fn read(&self, offset: u64, len: u64) -> Result<Bytes, StoreError> {
        let len = len.min(self.len.saturating_sub(offset));
        let mut bytes = vec![0; usize::try_from(len).unwrap_or(usize::MAX)];
        self.file
            .read_at(offset, &mut bytes)
            .map_err(|error| StoreError::io("read", &self.path, &error))?;
        Ok(bytes.into())
    }

    /// Whether there are only zeros from `offset` to the end. Parts that the system knows to be empty are not read.
    fn is_empty_from(&self, mut offset: u64) -> Result<bool, StoreError> {
        while offset < self.len {
            let found = self.file.next_data(offset);
            let found = found.map_err(|error| StoreError::io("read", &self.path, &error))?;
            let Some(start) = found else { break };
            let chunk = self.read(start, CHUNK_LEN)?;
            if chunk.iter().any(|byte| *byte != 0) {
                return Ok(false);
            }
            offset = start.saturating_add(CHUNK_LEN);
        }
        Ok(true)
    }

    fn header(&self) -> Result<[u8; SEGMENT_HEADER_LEN], StoreError> {
        let bytes = self.read(0, SEGMENT_HEADER_LEN as u64)?;
        let mut header = [0; SEGMENT_HEADER_LEN];
        if let Some(room) = header.get_mut(..bytes.len()) {
            room.copy_from_slice(&bytes);
        }
        Ok(header)
    }

    fn damaged(&self, offset: u64, what: &'static str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), offset, what }
    }
}

impl Reader<'_> {
    fn read_segment(&mut self, source: &Source) -> Result<End, StoreError> {
        let header = source.header()?;
        if !segment::check_header(&header, self.folder.store, source.number) {
            if segment::is_foreign(&header, self.folder.store) {
                return Err(source.damaged(0, "it belongs to the data of another store"));
            }
            return Ok(End::Bad(0));
        }
        let mut offset = SEGMENT_HEADER_LEN as u64;
        let mut chunk = Bytes::new();
        loop {
            if chunk.len() < HEADER_LEN {
                chunk = source.read(offset, CHUNK_LEN)?;
            }
            if chunk.iter().take(4).all(|byte| *byte == 0) {
                // What the disk lost would look the same, were it not for what follows it.
                return Ok(if source.is_empty_from(offset)? {
                    End::Clean
                } else {
                    End::Bad(offset)
                });
            }
            let Some(found) = Found::read(&chunk, self.seal) else { return Ok(End::Bad(offset)) };
            let len = found.len();
            if offset + len as u64 > source.len {
                return Ok(End::Bad(offset));
            }
            if chunk.len() < len {
                chunk = source.read(offset, CHUNK_LEN.max(len as u64))?;
            }
            let payload = chunk.slice(HEADER_LEN..len);
            if !found.is_whole_with(&payload) || !self.follows(found.header.version) {
                return Ok(End::Bad(offset));
            }
            if !self.replay(&found.header, &payload) {
                return Err(source.damaged(offset, "a record does not hold what it should"));
            }
            chunk = chunk.slice(len..);
            offset += len as u64;
        }
    }

    /// Whether `version` may come after what was read. A gap is fine where the base covers it: it was
    /// made safe sooner than the journal.
    fn follows(&self, version: Version) -> bool {
        match self.read {
            Some(read) if version == read.next() => true,
            Some(read) => version > read && version <= self.folded.next(),
            None => version <= self.folded.next(),
        }
    }

    fn replay(&mut self, header: &Header, payload: &Bytes) -> bool {
        self.read = Some(header.version);
        if header.version <= self.folded {
            return true;
        }
        self.last = Some((header.version, header.time, usize::try_from(header.len).unwrap_or(0)));
        match header.kind {
            Kind::Clear => {
                self.entries.clear();
                self.read_bytes = 0;
                self.cleared = true;
            }
            Kind::Commit => {
                let Some(ops) = decode(payload) else { return false };
                self.read_bytes += payload.len();
                self.entries.extend(ops.into_iter().map(|Done { key, put }| {
                    let updated = header.time;
                    let record = put.map(|(created, value)| Record { created, updated, value });
                    (key, record)
                }));
            }
        }
        true
    }

    /// Makes the place where reading ended the end of the journal, unless the disk held more once.
    fn cut(&self, source: &Source, offset: u64, later: &[Source]) -> Result<(), StoreError> {
        let next = self.read.unwrap_or(Version::ZERO).max(self.folded).next();
        let safe = std::iter::once((source, offset)).chain(later.iter().map(|later| (later, 0)));
        for (source, offset) in safe {
            if newest_synced(source, offset, self.seal)?.is_some_and(|synced| synced >= next) {
                return Err(source.damaged(offset, "a commit that was safely stored is unreadable"));
            }
        }
        let disk = &*self.folder.disk;
        let cut = || {
            // The newest first: what is left when this is interrupted still ends at the same place.
            for later in later.iter().rev() {
                disk.remove(&later.path)?;
            }
            if offset <= SEGMENT_HEADER_LEN as u64 {
                disk.remove(&source.path)?;
            } else {
                source.file.set_len(offset)?;
                source.file.sync()?;
            }
            disk.sync_dir(&self.folder.dir)
        };
        cut().map_err(|error| StoreError::io("cut off", &source.path, &error))
    }
}

/// The newest version that any header from `offset` on says to have been on the disk. What a header says to be its
/// payload is somebody's data and not looked at.
fn newest_synced(
    source: &Source,
    mut offset: u64,
    seal: Seal,
) -> Result<Option<Version>, StoreError> {
    let mut newest = None;
    while offset.saturating_add(HEADER_LEN as u64) <= source.len {
        let chunk = source.read(offset, CHUNK_LEN)?;
        let mut at = 0;
        // A header that the chunk cuts off is the first of the next one.
        while chunk.len().saturating_sub(at) >= HEADER_LEN {
            match Found::read(chunk.get(at..).unwrap_or_default(), seal) {
                Some(found) => {
                    newest = newest.max(Some(found.header.synced));
                    at = at.saturating_add(found.len());
                }
                None => at += 1,
            }
        }
        offset = offset.saturating_add(at as u64);
    }
    Ok(newest)
}

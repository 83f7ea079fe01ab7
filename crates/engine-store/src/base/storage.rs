//! The file under redb. It never tells redb that the disk is full.
//!
//! After one write that fails redb answers nothing any more, reads of what it has included. So a write for which
//! there is no room is held in memory, where reads find it, and all that follows it is held too: what is on the disk
//! stays as a machine that stopped at that moment would leave it, which redb opens again. A fold looks whether
//! writes are held and gives up. What it has done until then, or a commit that had begun, is brought to the disk by
//! [`Storage::settle`] in the order in which redb made it, as soon as there is room.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::RwLock;

use crate::disk::DiskFile;
use crate::error::is_full;
use crate::limits::HELD_WRITE_BYTES_MAX;

/// What is held at once: redb's smallest page.
const BLOCK_LEN: usize = 4096;

/// What two syncs are between in redb's writes is not mixed, in a file that is to be found again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lasting {
    /// Nobody opens it again.
    Temporary,
    /// It can be opened again after a stop at any moment.
    Kept,
}

/// A file, and the writes to it for which there was no room.
#[derive(Debug)]
pub(super) struct Storage {
    file: Arc<dyn DiskFile>,
    lasting: Lasting,
    held: RwLock<Held>,
    // INVARIANT: set while `held` has layers. Changed under its lock; where it is not set the file is all there is.
    is_full: AtomicBool,
}

/// What is held, in the order in which it was written.
#[derive(Debug, Default)]
struct Held {
    // INVARIANT: the oldest first. All of one is on the disk, and synced, before anything of the next one.
    layers: VecDeque<Layer>,
    /// How long the file on the disk is. Of use only while there are layers.
    disk_len: u64,
}

#[derive(Debug)]
struct Layer {
    blocks: BTreeMap<u64, Box<[u8; BLOCK_LEN]>>,
    /// How long the file is afterwards.
    len: u64,
}

impl Storage {
    pub(super) fn new(file: Arc<dyn DiskFile>, lasting: Lasting) -> Storage {
        Storage { file, lasting, held: RwLock::default(), is_full: AtomicBool::new(false) }
    }

    /// Whether there was no room for a write, which is held since.
    pub(super) fn is_full(&self) -> bool {
        self.is_full.load(Ordering::Acquire)
    }

    pub(super) fn len(&self) -> io::Result<u64> {
        if self.is_full()
            && let Some(newest) = self.held.read().layers.back()
        {
            return Ok(newest.len);
        }
        self.file.size()
    }

    pub(super) fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        if self.is_full() {
            let held = self.held.read();
            if !held.layers.is_empty() {
                return held.read(&*self.file, offset, out);
            }
        }
        self.file.read_at(offset, out)
    }

    pub(super) fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        if !self.is_full() {
            match self.file.write_at(offset, data) {
                Err(error) if is_full(error.kind()) => {}
                result => return result,
            }
        }
        let mut held = self.held.write();
        self.hold(&mut held)?.write(&*self.file, offset, data)
    }

    pub(super) fn set_len(&self, len: u64) -> io::Result<()> {
        if !self.is_full() {
            match self.file.set_len(len) {
                Err(error) if is_full(error.kind()) => {}
                result => return result,
            }
        }
        let mut held = self.held.write();
        self.hold(&mut held)?.set_len(len);
        Ok(())
    }

    pub(super) fn sync(&self) -> io::Result<()> {
        if self.lasting == Lasting::Temporary {
            return Ok(());
        }
        if self.is_full() {
            let mut held = self.held.write();
            if !held.layers.is_empty() {
                held.separate();
                return Ok(());
            }
        }
        self.file.sync()
    }

    /// Writes out what is held.
    ///
    /// # Errors
    /// The system's, above all that there is still no room; then it stays held.
    pub(super) fn settle(&self) -> io::Result<()> {
        if !self.is_full() {
            return Ok(());
        }
        let mut held = self.held.write();
        while let Some(layer) = held.layers.front() {
            if layer.len != held.disk_len {
                // First, as it may make room. What is before it in the order is beyond the end, or was synced.
                let len = layer.len;
                self.file.set_len(len)?;
                held.disk_len = len;
                // redb sees the file grow before it says so in its header.
                self.sync_lasting()?;
                continue;
            }
            for (block, bytes) in &layer.blocks {
                self.file.write_at(block * BLOCK_LEN as u64, bytes.as_slice())?;
            }
            self.sync_lasting()?;
            held.layers.pop_front();
        }
        self.is_full.store(false, Ordering::Release);
        Ok(())
    }

    fn sync_lasting(&self) -> io::Result<()> {
        match self.lasting {
            Lasting::Temporary => Ok(()),
            Lasting::Kept => self.file.sync(),
        }
    }

    /// From now on writes are held.
    fn hold<'h>(&self, held: &'h mut Held) -> io::Result<&'h mut Held> {
        if held.layers.is_empty() {
            held.disk_len = self.file.size()?;
            held.layers.push_back(Layer { blocks: BTreeMap::new(), len: held.disk_len });
            self.is_full.store(true, Ordering::Release);
        }
        Ok(held)
    }
}

impl Held {
    /// Fills `out` as if nothing were held.
    fn read(&self, file: &dyn DiskFile, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let end = offset + out.len() as u64;
        if self.layers.back().is_none_or(|newest| end > newest.len) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let on_disk = usize::try_from(self.disk_len.saturating_sub(offset)).unwrap_or(usize::MAX);
        let on_disk = on_disk.min(out.len());
        let (found, beyond) = out.split_at_mut(on_disk);
        beyond.fill(0);
        if !found.is_empty() {
            file.read_at(offset, found)?;
        }
        // The newest last, over the older ones.
        for layer in &self.layers {
            for (block, bytes) in layer.blocks.range(blocks(offset, end)) {
                overlap(block * BLOCK_LEN as u64, bytes.as_slice(), offset, out);
            }
        }
        Ok(())
    }

    fn write(&mut self, file: &dyn DiskFile, offset: u64, data: &[u8]) -> io::Result<()> {
        let held: usize = self.layers.iter().map(|layer| layer.blocks.len() * BLOCK_LEN).sum();
        if held + data.len() > HELD_WRITE_BYTES_MAX {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let end = offset + data.len() as u64;
        for block in blocks(offset, end) {
            let start = block * BLOCK_LEN as u64;
            let mut bytes = Box::new([0; BLOCK_LEN]);
            if start < offset || start + BLOCK_LEN as u64 > end {
                // What is beyond the end of the file is not read.
                let len = self.layers.back().map_or(0, |newest| newest.len);
                let len = usize::try_from(len.saturating_sub(start)).unwrap_or(usize::MAX);
                if let Some(known) = bytes.get_mut(..len.min(BLOCK_LEN)) {
                    self.read(file, start, known)?;
                }
            }
            overlap(offset, data, start, bytes.as_mut_slice());
            if let Some(newest) = self.layers.back_mut() {
                newest.blocks.insert(block, bytes);
                newest.len = newest.len.max(end);
            }
        }
        Ok(())
    }

    fn set_len(&mut self, len: u64) {
        if let Some(newest) = self.layers.back_mut() {
            newest.blocks.retain(|block, _| block * (BLOCK_LEN as u64) < len);
            newest.len = len;
        }
    }

    /// Keeps what follows apart from what is held so far. Only where redb's header is in it, in the first block: the
    /// order of anything else is of no use, and one layer takes less room.
    fn separate(&mut self) {
        if let Some(newest) = self.layers.back()
            && newest.blocks.contains_key(&0)
        {
            let len = newest.len;
            self.layers.push_back(Layer { blocks: BTreeMap::new(), len });
        }
    }
}

fn blocks(start: u64, end: u64) -> std::ops::Range<u64> {
    start / BLOCK_LEN as u64..end.div_ceil(BLOCK_LEN as u64)
}

/// Copies what `from`, at `from_start`, has of `into`, at `into_start`.
fn overlap(from_start: u64, from: &[u8], into_start: u64, into: &mut [u8]) {
    let skipped = |later: u64, earlier: u64| {
        usize::try_from(later.saturating_sub(earlier)).unwrap_or(usize::MAX)
    };
    let from = from.get(skipped(into_start, from_start)..).unwrap_or_default();
    let into = into.get_mut(skipped(from_start, into_start)..).unwrap_or_default();
    for (byte, new) in into.iter_mut().zip(from) {
        *byte = *new;
    }
}

#[cfg(test)]
mod tests;

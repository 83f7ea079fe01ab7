//! Sorting more keys than memory is meant for.
//!
//! The base takes keys in order: each page of it is then written once in a fold. Derived keys come in the
//! order of their records instead, so they are sorted in runs, the runs go to a temporary file, and
//! are read back as one.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;
use std::io;
use std::sync::Arc;

use bytes::Buf;

use crate::disk::{DiskFile, Scratch};
use crate::error::StoreError;

/// Read at once from each run.
const READ_LEN: usize = 64 * 1024;
/// Written at once of a run.
const WRITE_LEN: usize = 256 * 1024;
/// Bytes before each key in a run: its length, and whether it is present in the lowest bit; then its mark.
const LEN_LEN: usize = 5;

/// What to do with a derived key, or the mark that it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Presence {
    Absent,
    Present(u8),
}

/// Keys to be sorted, each with its mark.
#[derive(Debug)]
pub(super) struct Sorter {
    scratch: Scratch,
    bytes_max: usize,
    keys: Vec<u8>,
    index: Vec<Place>,
    file: Option<Arc<dyn DiskFile>>,
    /// Where each run ends in the file. The first begins at its start.
    runs: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    start: u32,
    len: u32,
    presence: Presence,
}

impl Sorter {
    /// Keeps up to about `bytes_max` in memory, and the rest in a file in `scratch`.
    pub(super) fn new(scratch: Scratch, bytes_max: usize) -> Sorter {
        let (keys, index, runs) = (Vec::new(), Vec::new(), Vec::new());
        Sorter { scratch, bytes_max, keys, index, file: None, runs }
    }

    /// Adds a key.
    pub(super) fn push(&mut self, key: &[u8], presence: Presence) -> io::Result<()> {
        if self.keys.len() + self.index.len() * size_of::<Place>() + key.len() > self.bytes_max {
            self.spill()?;
        }
        let too_long = |_| io::Error::from(io::ErrorKind::InvalidInput);
        let start = u32::try_from(self.keys.len()).map_err(too_long)?;
        let len = u32::try_from(key.len()).map_err(too_long)?;
        self.keys.extend_from_slice(key);
        self.index.push(Place { start, len, presence });
        Ok(())
    }

    /// Calls `each` with every key in ascending order.
    pub(super) fn drain<E: From<io::Error>>(
        mut self,
        mut each: impl FnMut(&[u8], Presence) -> Result<(), E>,
    ) -> Result<(), E> {
        if self.runs.is_empty() {
            self.sort();
            return self
                .index
                .iter()
                .try_for_each(|place| each(key(&self.keys, place), place.presence));
        }
        self.spill()?;
        // What is kept in memory is no longer needed.
        self.keys = Vec::new();
        self.index = Vec::new();
        let Some(file) = self.file.as_deref() else { return Ok(()) };
        let mut heads = BinaryHeap::new();
        let mut start = 0;
        for (number, end) in self.runs.iter().enumerate() {
            let mut run = Run { file, next: start, end: *end, buffer: Vec::new(), used: 0 };
            start = *end;
            if let Some((key, presence)) = run.next()? {
                heads.push(Reverse(HeadOf { key, presence, number, run }));
            }
        }
        while let Some(mut head) = heads.peek_mut() {
            let Reverse(first) = &mut *head;
            each(&first.key, first.presence)?;
            match first.run.next()? {
                Some((key, presence)) => {
                    first.key = key;
                    first.presence = presence;
                }
                None => drop(PeekMut::pop(head)),
            }
        }
        Ok(())
    }

    fn sort(&mut self) {
        let keys = &self.keys;
        self.index.sort_unstable_by(|one, two| {
            (key(keys, one), one.presence).cmp(&(key(keys, two), two.presence))
        });
    }

    /// Writes what is in memory to the file, as one more run.
    fn spill(&mut self) -> io::Result<()> {
        self.sort();
        if self.file.is_none() {
            self.file = Some(self.scratch.file().map_err(told)?);
        }
        let Some(file) = &self.file else { return Ok(()) };
        let mut end = self.runs.last().copied().unwrap_or(0);
        let mut buffer = Vec::with_capacity(WRITE_LEN);
        for place in &self.index {
            let (is_present, mark) = match place.presence {
                Presence::Absent => (0, 0),
                Presence::Present(mark) => (1, mark),
            };
            buffer.extend_from_slice(&(place.len << 1 | is_present).to_le_bytes());
            buffer.push(mark);
            buffer.extend_from_slice(key(&self.keys, place));
            if buffer.len() >= WRITE_LEN {
                self.scratch.write(&**file, end, &buffer).map_err(told)?;
                end += buffer.len() as u64;
                buffer.clear();
            }
        }
        self.scratch.write(&**file, end, &buffer).map_err(told)?;
        self.runs.push(end + buffer.len() as u64);
        self.keys.clear();
        self.index.clear();
        Ok(())
    }
}

/// The error as redb passes it on: `StoreError::io` takes it out again.
fn told(error: StoreError) -> io::Error {
    io::Error::other(error)
}

fn key<'a>(keys: &'a [u8], place: &Place) -> &'a [u8] {
    let start = place.start as usize;
    keys.get(start..start + place.len as usize).unwrap_or_default()
}

/// A run that is being read.
#[derive(Debug)]
struct Run<'a> {
    file: &'a dyn DiskFile,
    /// Where in the file to read on.
    next: u64,
    end: u64,
    buffer: Vec<u8>,
    used: usize,
}

impl Run<'_> {
    fn next(&mut self) -> io::Result<Option<(Vec<u8>, Presence)>> {
        if self.used == self.buffer.len() && self.next == self.end {
            return Ok(None);
        }
        let mut head = self.take(LEN_LEN)?;
        let (head, mark) = (head.get_u32_le(), head.get_u8());
        let presence = if head & 1 == 1 { Presence::Present(mark) } else { Presence::Absent };
        let key = self.take((head >> 1) as usize)?.to_vec();
        Ok(Some((key, presence)))
    }

    fn take(&mut self, len: usize) -> io::Result<&[u8]> {
        if self.buffer.len() - self.used < len {
            self.buffer.drain(..self.used);
            self.used = 0;
            let kept = self.buffer.len();
            let left = usize::try_from(self.end - self.next).unwrap_or(usize::MAX);
            let more = READ_LEN.max(len - kept).min(left);
            self.buffer.resize(kept + more, 0);
            self.file.read_at(self.next, self.buffer.get_mut(kept..).unwrap_or_default())?;
            self.next += more as u64;
        }
        let taken = self.buffer.get(self.used..self.used + len);
        self.used += len;
        taken.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
    }
}

/// The first key of a run that is left.
#[derive(Debug)]
struct HeadOf<'a> {
    key: Vec<u8>,
    presence: Presence,
    number: usize,
    run: Run<'a>,
}

impl HeadOf<'_> {
    fn order(&self) -> (&[u8], Presence, usize) {
        (&self.key, self.presence, self.number)
    }
}

impl PartialEq for HeadOf<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.order() == other.order()
    }
}

impl Eq for HeadOf<'_> {}

impl PartialOrd for HeadOf<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for HeadOf<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.order().cmp(&other.order())
    }
}

#[cfg(test)]
mod tests {
    use base_env::{Env, UnixMicros};

    use super::*;

    #[test]
    fn keys_come_out_sorted_whether_they_fit_or_not() {
        #[track_caller]
        fn check(count: usize, key_len_max: u64, bytes_max: usize) {
            let env = Env::simulated(count as u64, UnixMicros(0));
            let random = || {
                let mut bytes = [0; 8];
                env.random(&mut bytes);
                u64::from_le_bytes(bytes)
            };
            let mut sorter = Sorter::new(Scratch::default(), bytes_max);
            let mut expected = Vec::new();
            for _ in 0..count {
                let len = random() % (key_len_max + 1);
                let key: Vec<u8> = (0..len).map(|_| random().to_le_bytes()[0]).collect();
                let presence = match random() % 3 {
                    0 => Presence::Absent,
                    mark => Presence::Present(mark.to_le_bytes()[0] * 100),
                };
                sorter.push(&key, presence).unwrap();
                expected.push((key, presence));
            }
            expected.sort();
            let mut sorted = Vec::new();
            let drained: io::Result<()> = sorter.drain(|key, presence| {
                sorted.push((key.to_vec(), presence));
                Ok(())
            });
            drained.unwrap();
            assert_eq!(sorted, expected);
        }
        check(0, 0, 0);
        check(10, 20, 1_000_000);
        check(10, 20, 0);
        check(1_000, 3, 100);
        check(2_000, 300, 50_000);
        check(20, 200_000, 300_000);
    }
}

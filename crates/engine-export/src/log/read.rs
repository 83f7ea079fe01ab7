//! Records out of a stream of bytes, one at a time.

use std::io::{self, Read};
use std::ops::Range;

use super::{BLOCK_BYTES, HEADER_BYTES, Kind, checksum};
use crate::error::FormatError;
use crate::limits::{KEPT_BUFFER_BYTES, RECORD_MAX_BYTES};

/// Why there is no next record.
#[derive(Debug)]
pub(crate) enum LogError {
    /// The source failed.
    Io(io::Error),
    /// The bytes there are no record.
    Format {
        /// Byte of the stream.
        offset: u64,
        /// What is wrong.
        reason: FormatError,
    },
}

/// One record.
#[derive(Debug)]
pub(crate) struct Record<'log> {
    /// Byte of the stream at which its first fragment's header starts.
    pub(crate) offset: u64,
    /// Its content.
    pub(crate) bytes: &'log [u8],
}

/// Reads records; holds one block, and one record if it is in several fragments.
#[derive(Debug)]
pub(crate) struct LogReader<R> {
    source: R,
    block: Vec<u8>,
    /// Where the block starts in the stream.
    start: u64,
    /// How much of the block is read.
    at: usize,
    /// Whether the stream has ended in this block.
    ended: bool,
    /// The fragments of the record under way.
    record: Vec<u8>,
}

struct Fragment {
    offset: u64,
    kind: Kind,
    /// Its content's place in the block.
    range: Range<usize>,
}

impl<R: Read> LogReader<R> {
    pub(crate) fn new(source: R) -> Self {
        let block = Vec::with_capacity(BLOCK_BYTES);
        LogReader { source, block, start: 0, at: 0, ended: false, record: Vec::new() }
    }

    /// Bytes of the stream that are read: where the next record may start.
    pub(crate) fn position(&self) -> u64 {
        self.start + self.at as u64
    }

    /// The next record; `None` where the stream ends behind one.
    pub(crate) fn next(&mut self) -> Result<Option<Record<'_>>, LogError> {
        self.record.clear();
        self.record.shrink_to(KEPT_BUFFER_BYTES);
        let mut first = None;
        loop {
            let Some(fragment) = self.fragment()? else {
                let truncated = first.map(|offset| damaged(offset, FormatError::Truncated));
                return truncated.map_or(Ok(None), Err);
            };
            let offset = fragment.offset;
            match (fragment.kind, first) {
                (Kind::Full, None) => {
                    let bytes = self.block.get(fragment.range).unwrap_or_default();
                    return Ok(Some(Record { offset, bytes }));
                }
                (Kind::First, None) => {
                    self.append(fragment.range, offset)?;
                    first = Some(offset);
                }
                (Kind::Middle, Some(start)) => self.append(fragment.range, start)?,
                (Kind::Last, Some(start)) => {
                    self.append(fragment.range, start)?;
                    return Ok(Some(Record { offset: start, bytes: &self.record }));
                }
                (Kind::Full | Kind::First, Some(_)) => {
                    return Err(damaged(offset, FormatError::Unfinished));
                }
                (Kind::Middle | Kind::Last, None) => {
                    return Err(damaged(offset, FormatError::Headless));
                }
            }
        }
    }

    fn append(&mut self, range: Range<usize>, start: u64) -> Result<(), LogError> {
        let bytes = self.block.get(range).unwrap_or_default();
        if self.record.len() + bytes.len() > RECORD_MAX_BYTES {
            return Err(damaged(start, FormatError::RecordTooLong));
        }
        self.record.extend_from_slice(bytes);
        Ok(())
    }

    /// The next fragment, its checksum verified; `None` at the end of the stream.
    fn fragment(&mut self) -> Result<Option<Fragment>, LogError> {
        loop {
            let rest = self.block.get(self.at..).unwrap_or_default();
            let Some((header, body)) = rest.split_first_chunk::<HEADER_BYTES>() else {
                // What is left of a whole block is its trailer. What is left of the last one is nothing, or the
                // beginning of a header.
                if self.ended && rest.iter().any(|byte| *byte != 0) {
                    return Err(damaged(self.position(), FormatError::Truncated));
                }
                if !self.fill()? {
                    return Ok(None);
                }
                continue;
            };
            let [c0, c1, c2, c3, l0, l1, kind] = *header;
            let length = u16::from_le_bytes([l0, l1]);
            if kind == 0 && rest.iter().all(|byte| *byte == 0) {
                self.at = self.block.len();
                continue;
            }
            let offset = self.position();
            let Some(payload) = body.get(..usize::from(length)) else {
                let end = self.at + HEADER_BYTES + usize::from(length);
                return Err(damaged(
                    offset,
                    if self.ended && end <= BLOCK_BYTES && Kind::from_byte(kind).is_some() {
                        FormatError::Truncated
                    } else {
                        FormatError::FragmentLength(length)
                    },
                ));
            };
            let Some(known) = Kind::from_byte(kind) else {
                return Err(damaged(offset, FormatError::FragmentType(kind)));
            };
            if checksum(kind, payload) != u32::from_le_bytes([c0, c1, c2, c3]) {
                return Err(damaged(offset, FormatError::Checksum));
            }
            let start = self.at + HEADER_BYTES;
            self.at = start + usize::from(length);
            return Ok(Some(Fragment { offset, kind: known, range: start..self.at }));
        }
    }

    /// Reads the next block; `false` where there is none.
    fn fill(&mut self) -> Result<bool, LogError> {
        if self.ended {
            return Ok(false);
        }
        self.start += self.block.len() as u64;
        self.block.clear();
        self.at = 0;
        let wanted = BLOCK_BYTES as u64;
        let mut limited = self.source.by_ref().take(wanted);
        let read = limited.read_to_end(&mut self.block).map_err(LogError::Io)?;
        self.ended = read < BLOCK_BYTES;
        Ok(read > 0)
    }
}

fn damaged(offset: u64, reason: FormatError) -> LogError {
    LogError::Format { offset, reason }
}

/// Where byte `at` of a record is in the stream, when fragments fill their blocks as writers make them.
pub(crate) fn place_in_file(record: u64, at: usize) -> u64 {
    let (block, header, at) = (BLOCK_BYTES as u64, HEADER_BYTES as u64, at as u64);
    let room = block - header;
    let first = (block - record % block).saturating_sub(header);
    match at.checked_sub(first) {
        None => record + header + at,
        Some(rest) => {
            let next = record - record % block + block;
            next + rest / room * block + header + rest % room
        }
    }
}

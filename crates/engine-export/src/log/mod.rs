//! The framing of output files and of the overall metadata: records in blocks of 32 KiB, as LevelDB's logs have
//! them, with a checksum for each fragment.

mod read;
mod write;

pub(crate) use read::{LogError, LogReader, place_in_file};
pub(crate) use write::LogWriter;

/// Length of a block. A fragment never crosses its end.
const BLOCK_BYTES: usize = 32 * 1024;

/// Length of what stands before a fragment: checksum (4), length (2), kind (1), little-endian.
const HEADER_BYTES: usize = 7;

/// Added to a checksum that is stored beside its data, so that the checksum of data with checksums inside is
/// no trivial one.
const MASK: u32 = 0xA282_EAD8;

/// What part of a record a fragment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Full = 1,
    First = 2,
    Middle = 3,
    Last = 4,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Kind> {
        match byte {
            1 => Some(Kind::Full),
            2 => Some(Kind::First),
            3 => Some(Kind::Middle),
            4 => Some(Kind::Last),
            _ => None,
        }
    }
}

/// The stored checksum of a fragment.
fn checksum(kind: u8, payload: &[u8]) -> u32 {
    let crc = crc32c::crc32c_append(crc32c::crc32c(&[kind]), payload);
    crc.rotate_right(15).wrapping_add(MASK)
}

#[cfg(test)]
mod tests;

//! One file of the journal.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Buf;

use crate::disk::{Disk, DiskFile};
use crate::error::StoreError;

/// Bytes before the first record.
pub(crate) const SEGMENT_HEADER_LEN: usize = 32;
const MAGIC: [u8; 8] = *b"FIREJRNL";

/// A file of the journal that is being written. Past `offset` it holds zeros.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) file: Arc<dyn DiskFile>,
    pub(crate) path: PathBuf,
    pub(crate) number: u64,
    pub(crate) offset: u64,
    pub(crate) capacity: u64,
}

impl Segment {
    /// Makes segment `number`, with its name on the disk and room for `capacity` bytes.
    pub(crate) fn create(
        disk: &dyn Disk,
        dir: &Path,
        store: u64,
        number: u64,
        capacity: u64,
    ) -> Result<Segment, StoreError> {
        let path = dir.join(name(number));
        let make = || {
            let file = disk.open(&path, true)?;
            // A file of this name was left behind by an attempt that failed.
            file.set_len(0)?;
            file.allocate(capacity)?;
            file.write_at(0, &header(store, number))?;
            file.sync()?;
            disk.sync_dir(dir)?;
            Ok(file)
        };
        let file = make().map_err(|error| {
            // What it has got of the room that is missing. Where that fails too, the next attempt takes the file.
            let _ = disk.remove(&path);
            StoreError::io("make", &path, &error)
        })?;
        Ok(Segment { file, path, number, offset: SEGMENT_HEADER_LEN as u64, capacity })
    }

    pub(crate) fn has_room(&self, len: usize) -> bool {
        self.offset.saturating_add(len as u64) <= self.capacity
    }
}

/// The file name of segment `number`.
pub(crate) fn name(number: u64) -> String {
    format!("journal-{number:016x}.log")
}

/// The number in a segment's file name.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix("journal-")?.strip_suffix(".log")?;
    (digits.len() == 16).then(|| u64::from_str_radix(digits, 16).ok()).flatten()
}

fn header(store: u64, number: u64) -> [u8; SEGMENT_HEADER_LEN] {
    let mut bytes = Vec::with_capacity(SEGMENT_HEADER_LEN);
    bytes.extend_from_slice(&MAGIC);
    bytes.extend_from_slice(&store.to_le_bytes());
    bytes.extend_from_slice(&number.to_le_bytes());
    bytes.extend_from_slice(&[0; 4]);
    bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_le_bytes());
    let mut out = [0; SEGMENT_HEADER_LEN];
    out.copy_from_slice(&bytes);
    out
}

/// Whether `bytes` is the header of segment `number` of this store.
pub(crate) fn check_header(bytes: &[u8; SEGMENT_HEADER_LEN], store: u64, number: u64) -> bool {
    *bytes == header(store, number)
}

/// Whether `bytes` is the header of a segment of another store.
pub(crate) fn is_foreign(bytes: &[u8; SEGMENT_HEADER_LEN], store: u64) -> bool {
    let mut rest = bytes.as_slice();
    rest.advance(MAGIC.len());
    let (other, number) = (rest.get_u64_le(), rest.get_u64_le());
    other != store && *bytes == header(other, number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers() {
        #[track_caller]
        fn check(text: &str, expected: Option<u64>) {
            assert_eq!(number(text), expected);
        }
        for value in [0, 1, 255, u64::MAX] {
            check(&name(value), Some(value));
        }
        assert!(name(15) < name(16) && name(16) < name(u64::MAX));
        check("journal-1.log", None);
        check("base.redb", None);
        check("journal-000000000000000g.log", None);
    }

    #[test]
    fn a_header_says_whose_it_is() {
        assert!(check_header(&header(7, 1), 7, 1));
        assert!(!check_header(&header(7, 1), 7, 2));
        assert!(is_foreign(&header(8, 1), 7));
        assert!(!is_foreign(&header(7, 2), 7));
        assert!(!is_foreign(&[0; SEGMENT_HEADER_LEN], 7));
    }
}

//! Records in blocks: what is written is read, and what is broken is told.

use std::io::{self, Read};

use super::*;
use crate::error::FormatError;
use crate::limits::RECORD_MAX_BYTES;

fn written(records: &[Vec<u8>]) -> Vec<u8> {
    let mut log = LogWriter::new(Vec::new());
    for record in records {
        log.append(record).unwrap();
    }
    log.finish().unwrap()
}

/// All records with their offsets, and the fault that ended the reading.
#[derive(Debug, PartialEq)]
struct Reading {
    records: Vec<(u64, Vec<u8>)>,
    fault: Option<(u64, FormatError)>,
}

fn read(source: impl Read) -> Reading {
    let mut log = LogReader::new(source);
    let mut records = Vec::new();
    loop {
        match log.next() {
            Ok(Some(record)) => records.push((record.offset, record.bytes.to_vec())),
            Ok(None) => return Reading { records, fault: None },
            Err(LogError::Format { offset, reason }) => {
                return Reading { records, fault: Some((offset, reason)) };
            }
            Err(LogError::Io(error)) => panic!("{error}"),
        }
    }
}

fn contents(reading: Reading) -> Vec<Vec<u8>> {
    assert_eq!(reading.fault, None);
    reading.records.into_iter().map(|(_, bytes)| bytes).collect()
}

/// Bytes that are not all the same.
fn bytes(length: usize) -> Vec<u8> {
    (0..length).map(|index| (index % 251) as u8).collect()
}

fn fragment(kind: u8, payload: &[u8]) -> Vec<u8> {
    let mut out = checksum(kind, payload).to_le_bytes().to_vec();
    out.extend_from_slice(&(payload.len() as u16).to_le_bytes());
    out.push(kind);
    out.extend_from_slice(payload);
    out
}

/// A known record, as every export begins its overall metadata.
#[test]
fn the_checksum_is_the_masked_one() {
    assert_eq!(written(&[b"3".to_vec()]), b"\xb8\x6d\x44\x4e\x01\x00\x013");
}

#[test]
fn records_of_every_length_near_a_block_are_read_again() {
    for before in [0, 1, BLOCK_BYTES - 2 * HEADER_BYTES - 2, 3 * BLOCK_BYTES] {
        for length in (BLOCK_BYTES - 40)..(BLOCK_BYTES + 8) {
            let records = [bytes(before), bytes(length), bytes(3), Vec::new(), bytes(9)];
            let file = written(&records);
            assert_eq!(contents(read(file.as_slice())), records, "{before} {length}");
        }
    }
}

#[test]
fn a_block_with_seven_bytes_left_gets_an_empty_fragment() {
    let first = BLOCK_BYTES - 2 * HEADER_BYTES;
    let file = written(&[bytes(first), b"ab".to_vec()]);
    let end = [fragment(2, b""), fragment(4, b"ab")].concat();
    assert_eq!(file.get(HEADER_BYTES + first..), Some(end.as_slice()));
    let file = written(&[bytes(first + 1), b"ab".to_vec()]);
    let end = [vec![0; 6], fragment(1, b"ab")].concat();
    assert_eq!(file.get(HEADER_BYTES + first + 1..), Some(end.as_slice()));
}

/// A source that gives what it has in pieces, with interruptions in between.
struct Dripping<'bytes>(&'bytes [u8], usize);

impl Read for Dripping<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 += 1;
        if self.1.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = buffer.len().min(1 + self.1 % 97);
        self.0.read(buffer.get_mut(..length).unwrap())
    }
}

#[test]
fn sources_may_give_less_than_asked_for() {
    let records = [bytes(10), bytes(100_000), bytes(0), bytes(40_000)];
    let file = written(&records);
    assert_eq!(contents(read(Dripping(&file, 0))), records);
}

#[test]
fn the_place_of_a_byte_is_where_it_is() {
    for before in [0, 1, BLOCK_BYTES - 30, BLOCK_BYTES - 14, BLOCK_BYTES - 10, 2 * BLOCK_BYTES] {
        let record = bytes(3 * BLOCK_BYTES);
        let file = written(&[bytes(before), record.clone()]);
        let offset = read(file.as_slice()).records[1].0;
        for (at, byte) in record.iter().enumerate() {
            let place = usize::try_from(place_in_file(offset, at)).unwrap();
            assert_eq!(file[place], *byte, "{before} {at}");
        }
    }
}

#[test]
fn padding_is_skipped() {
    let full = fragment(1, b"ab");
    let mut padded = full.clone();
    padded.resize(BLOCK_BYTES, 0);
    let table = [
        (full.clone(), 1),
        ([full.clone(), vec![0; 3]].concat(), 1),
        ([full.clone(), vec![0; 100]].concat(), 1),
        (padded.clone(), 1),
        ([padded.clone(), full.clone()].concat(), 2),
        ([padded.clone(), padded, full].concat(), 3),
        (vec![0; BLOCK_BYTES], 0),
        (Vec::new(), 0),
    ];
    for (file, count) in table {
        assert_eq!(contents(read(file.as_slice())).len(), count);
    }
}

#[test]
fn broken_framing_is_told_with_its_place() {
    let full = fragment(1, b"ab");
    let first = fragment(2, b"ab");
    let mut zeroed = full.clone();
    zeroed.extend_from_slice(&[0; 9]);
    zeroed.extend_from_slice(&full);
    let mut foreign = fragment(5, b"ab");
    foreign.extend_from_slice(&full);
    let mut long = full.clone();
    long.extend_from_slice(&[1, 2, 3, 4, 0xFF, 0xFF, 1]);
    let table = [
        (full.iter().chain(&[9]).copied().collect(), 9, FormatError::Truncated),
        ([full.clone(), first.clone()].concat(), 9, FormatError::Truncated),
        ([first.clone(), full.clone()].concat(), 9, FormatError::Unfinished),
        ([first.clone(), first.clone()].concat(), 9, FormatError::Unfinished),
        (fragment(3, b"ab"), 0, FormatError::Headless),
        ([full.clone(), fragment(4, b"ab")].concat(), 9, FormatError::Headless),
        (zeroed, 9, FormatError::FragmentType(0)),
        (foreign, 0, FormatError::FragmentType(5)),
        (long, 9, FormatError::FragmentLength(0xFFFF)),
        (b"no export at all".to_vec(), 0, FormatError::FragmentLength(0x7078)),
    ];
    for (file, offset, reason) in table {
        let fault = read(file.as_slice()).fault;
        assert_eq!(fault, Some((offset, reason)), "{file:x?}");
    }
}

/// No byte of a file can be another one: what is read is what was written, or nothing.
#[test]
fn every_flipped_byte_is_noticed() {
    let file = written(&[bytes(30), bytes(5), Vec::new(), bytes(200)]);
    let whole = read(file.as_slice());
    for at in 0..file.len() {
        for bit in [1, 0x80] {
            let mut broken = file.clone();
            broken[at] ^= bit;
            let reading = read(broken.as_slice());
            assert!(reading.fault.is_some(), "{at}");
            assert!(whole.records.starts_with(&reading.records), "{at}");
        }
    }
}

/// A file that ends early is noticed, unless it ends with a record.
#[test]
fn every_early_end_is_noticed() {
    let file = written(&[bytes(30), bytes(5), bytes(BLOCK_BYTES), bytes(40)]);
    let whole = read(file.as_slice());
    let ends: Vec<usize> =
        whole.records.iter().map(|(offset, _)| *offset as usize).chain([file.len()]).collect();
    for length in 0..file.len() {
        let reading = read(&file[..length]);
        assert!(whole.records.starts_with(&reading.records), "{length}");
        // The zeros at the end of a block say nothing.
        let content = file[..length].iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        let is_end = ends.contains(&length) || (ends.contains(&content) && length - content < 7);
        assert_eq!(reading.fault.is_none(), is_end, "{length}: {:?}", reading.fault);
    }
}

/// A record without an end, from a source without an end.
struct Endless {
    block: Vec<u8>,
    at: usize,
    given: usize,
}

impl Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            let kind = if self.given == 0 { 2 } else { 3 };
            self.block = fragment(kind, &bytes(BLOCK_BYTES - HEADER_BYTES));
            self.at = 0;
        }
        let mut rest = self.block.get(self.at..).unwrap();
        let read = rest.read(buffer)?;
        self.at += read;
        self.given += read;
        Ok(read)
    }
}

#[test]
fn a_record_without_end_is_given_up() {
    let mut source = Endless { block: Vec::new(), at: 0, given: 0 };
    let reading = read(&mut source);
    assert_eq!(reading.fault, Some((0, FormatError::RecordTooLong)));
    assert!(source.given < RECORD_MAX_BYTES + RECORD_MAX_BYTES / 100, "{}", source.given);
}

#[test]
fn a_source_that_fails_is_told() {
    struct Failing;
    impl Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
    let file = written(&[bytes(9)]);
    let mut log = LogReader::new(file.as_slice().chain(Failing));
    assert!(
        matches!(log.next(), Err(LogError::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied)
    );
}

//! Damaged files: whatever they hold, nothing panics, and what is read was written or a fault is told.

use base_value::{DatabaseName, DocumentPath, Fields, Value};
use engine_export::metadata::{GroupMetadata, Overall};
use engine_export::{Document, DocumentReader, ReadError};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::output;
use crate::strategies::documents;

/// A small generator of numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// One of the bytes that mean something in the format, or any.
    fn byte(&mut self) -> u8 {
        let telling = *b"\x00\x01\x02\x03\x04\x08\x0b\x0c\x1a\x20\x21\x2a\x2b\x2c\x63\x64\x6a\x72\x73\x74\x7a\x80\x82\xff";
        if self.below(2) == 0 { telling[self.below(telling.len())] } else { self.below(256) as u8 }
    }

    fn damage(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len() + 1);
            let end = (at + self.below(20)).min(bytes.len());
            match self.below(5) {
                0 => bytes.insert(at, self.byte()),
                1 => drop(bytes.drain(at..end)),
                2 => {
                    let copy = bytes[at..end].to_vec();
                    bytes.splice(at..at, copy);
                }
                3 => bytes.truncate(at.max(1)),
                _ if at < bytes.len() => bytes[at] = self.byte(),
                _ => {}
            }
        }
    }
}

fn database() -> DatabaseName {
    DatabaseName::new("p", "(default)")
}

fn read(bytes: &[u8]) -> (Vec<Document>, Option<ReadError>) {
    let mut documents = Vec::new();
    let mut reader = DocumentReader::new("output-0", bytes);
    for document in reader.by_ref() {
        match document {
            Ok(document) => documents.push(document),
            Err(error) => {
                assert!(reader.next().is_none(), "nothing follows an error");
                return (documents, Some(error));
            }
        }
    }
    (documents, None)
}

/// Output files of random documents, always the same.
fn samples(count: usize) -> Vec<Vec<u8>> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let draw = |_| documents().new_tree(&mut runner).unwrap().current();
    (0..count).map(draw).map(|documents| output(&database(), &documents)).collect()
}

#[test]
fn damaged_files_are_survived() {
    let samples = samples(40);
    let mut random = Random(0x5eed_2026);
    let mut told = 0;
    for round in 0..20_000 {
        let mut bytes = samples[round % samples.len()].clone();
        random.damage(&mut bytes);
        told += usize::from(read(&bytes).1.is_some());
        let _ = Overall::read("x".as_ref(), bytes.as_slice());
        let _ = GroupMetadata::read("x".as_ref(), bytes.as_slice());
    }
    assert!(told > 15_000, "{told} of the damages were noticed");
}

/// Damage below the checksums: what a faulty writer, or an unkind one, may have written.
#[test]
fn damaged_records_are_survived() {
    let samples: Vec<Vec<Vec<u8>>> = samples(60).iter().map(|file| records(file)).collect();
    let samples: Vec<Vec<u8>> = samples.into_iter().flatten().collect();
    let mut random = Random(0xfeed_2026);
    let mut good = 0;
    for round in 0..60_000 {
        let mut record = samples[round % samples.len()].clone();
        random.damage(&mut record);
        let (documents, error) = read(&framed(&record));
        assert_eq!(documents.len(), usize::from(error.is_none()));
        good += documents.len();
        for document in documents {
            // What was read is a document: it can be written again, or was never one that could be stored.
            let _ = engine_export::DocumentWriter::new("x", Vec::new(), &document.name.database)
                .write(&document.name.path, &document.fields);
            let stored = base_value::codec::encode_fields(&document.fields);
            assert_eq!(base_value::codec::decode_fields(&stored).as_ref(), Ok(&document.fields));
        }
    }
    assert!(good > 2_000 && good < 58_000, "{good} were read all the same");
}

/// A file that ends early is noticed, unless it ends between two documents.
#[test]
fn every_early_end_is_noticed() {
    let text = "x".repeat(5_000);
    let documents: Vec<(DocumentPath, Fields)> = (0..10)
        .map(|number| {
            let path = DocumentPath::parse(&format!("a/{number}")).unwrap();
            (path, Fields::from([("f".to_owned(), Value::String(text.clone()))]))
        })
        .collect();
    let file = output(&database(), documents.iter().map(|(path, fields)| (path, fields)));
    let (whole, error) = read(&file);
    assert!(error.is_none() && whole.len() == 10);
    let mut ends = Vec::new();
    for length in 0..file.len() {
        let (documents, error) = read(&file[..length]);
        assert!(whole.starts_with(&documents), "{length}");
        match error {
            Some(error) => assert!(matches!(error, ReadError::Damaged { .. }), "{error}"),
            None => ends.push(documents.len()),
        }
    }
    // Nothing else can be seen in the file itself: the metadata's length and count tell.
    assert_eq!(ends, (0..10).collect::<Vec<_>>());
}

#[test]
fn a_wrong_checksum_names_file_and_place() {
    let fields = Fields::from([("f".to_owned(), Value::Null)]);
    let paths = ["a/1", "a/2"].map(|path| DocumentPath::parse(path).unwrap());
    let mut file = output(&database(), paths.iter().map(|path| (path, &fields)));
    let half = file.len() / 2;
    file[half + 20] ^= 1;
    let (documents, error) = read(&file);
    assert_eq!(documents.len(), 1);
    assert_eq!(
        error.unwrap().to_string(),
        format!("`output-0` cannot be read at byte {half}: the checksum does not match")
    );
}

/// The place of a fault in a document that lies in several blocks is where its byte is in the file.
#[test]
fn a_broken_value_names_file_place_and_document() {
    let mut record = b"\x6a\x12\x6a\x05dev~p\x72\x09\x0b\x12\x01a\x22\x02bb\x0c".to_vec();
    let text = vec![b'x'; 100_000];
    for (name, value) in [(b'f', text.as_slice()), (b'g', b"\xff")] {
        let mut string = vec![0x1A];
        push_length(&mut string, value.len());
        string.extend_from_slice(value);
        let mut property = vec![0x1A, 1, name, 0x20, 0, 0x2A];
        push_length(&mut property, string.len());
        property.extend_from_slice(&string);
        record.push(0x7A);
        push_length(&mut record, property.len());
        record.extend_from_slice(&property);
    }
    let file = framed(&record);
    let place = file.iter().rposition(|byte| *byte == 0xFF).unwrap();
    let error = read(&file).1.unwrap();
    assert_eq!(
        error.to_string(),
        format!(
            "`output-0` cannot be read at byte {place}, in document `a/bb`: a text is not UTF-8"
        )
    );
}

fn push_length(out: &mut Vec<u8>, mut length: usize) {
    while length >= 0x80 {
        out.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
}

const BLOCK_BYTES: usize = 32 * 1024;

/// A file of one record, its checksums right: made here, so that records need not be documents.
pub(crate) fn framed(record: &[u8]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut rest = record;
    let mut is_first = true;
    loop {
        let room = BLOCK_BYTES - file.len() % BLOCK_BYTES - 7;
        let (payload, after) = rest.split_at(room.min(rest.len()));
        let kind = match (is_first, after.is_empty()) {
            (true, true) => 1,
            (true, false) => 2,
            (false, false) => 3,
            (false, true) => 4,
        };
        let mut checked = vec![kind];
        checked.extend_from_slice(payload);
        let crc = crc32c::crc32c(&checked).rotate_right(15).wrapping_add(0xA282_EAD8);
        file.extend_from_slice(&crc.to_le_bytes());
        file.extend_from_slice(&(payload.len() as u16).to_le_bytes());
        file.extend_from_slice(&checked);
        if after.is_empty() {
            return file;
        }
        (rest, is_first) = (after, false);
    }
}

/// The records of a small file.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut records = Vec::new();
    let mut rest = file;
    while let [_, _, _, _, low, high, 1, after @ ..] = rest {
        let (record, after) = after.split_at(usize::from(u16::from_le_bytes([*low, *high])));
        records.push(record.to_vec());
        rest = after;
    }
    records
}

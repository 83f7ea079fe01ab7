//! Metadata files: their bytes, and what is refused.

use super::*;

fn group(documents: u64) -> OverallGroup {
    let path = "all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata".to_owned();
    OverallGroup { collection: None, path, documents, bytes: 155 }
}

fn metadata() -> GroupMetadata {
    GroupMetadata {
        operation: "firestore_export".to_owned(),
        start: Timestamp::from_micros(1_700_000_000_123_456),
        end: Timestamp::from_micros(1_700_000_000_234_567),
        kind: String::new(),
        outputs: vec!["output-0".to_owned()],
    }
}

fn overall_bytes(overall: &Overall) -> Vec<u8> {
    let mut bytes = Vec::new();
    overall.write(&mut bytes).unwrap();
    bytes
}

fn group_bytes(group: &GroupMetadata) -> Vec<u8> {
    let mut bytes = Vec::new();
    group.write(&mut bytes).unwrap();
    bytes
}

/// As the official emulator writes it for two documents.
#[test]
fn overall_metadata_has_known_bytes() {
    let overall = Overall { groups: vec![group(2)] };
    let bytes = overall_bytes(&overall);
    let mut expected = b"\xb8\x6d\x44\x4e\x01\x00\x013\x92\xf1\x41\x25\x50\x00\x01".to_vec();
    expected.extend_from_slice(b"\x0a\x4e\x0a\x04\x08\x02\x18\x03\x12\x41");
    expected.extend_from_slice(overall.groups[0].path.as_bytes());
    expected.extend_from_slice(b"\x18\x02\x20\x9b\x01");
    assert_eq!(bytes, expected);
    assert_eq!(bytes.len(), 95);
    assert_eq!(Overall::read(Path::new("x"), bytes.as_slice()).unwrap(), overall);
}

#[test]
fn an_empty_database_has_fifteen_bytes() {
    let bytes = overall_bytes(&Overall::default());
    assert_eq!(bytes.len(), 15);
    assert_eq!(Overall::read(Path::new("x"), bytes.as_slice()).unwrap(), Overall::default());
}

#[test]
fn group_metadata_has_known_bytes() {
    let bytes = group_bytes(&metadata());
    assert_eq!(bytes.len(), 52);
    assert!(bytes.starts_with(b"\x0a\x24\x0a\x10firestore_export\x10"), "{bytes:x?}");
    assert!(bytes.ends_with(b"\x12\x0c\x0a\x00\x12\x08output-0"), "{bytes:x?}");
    assert_eq!(GroupMetadata::read(Path::new("x"), bytes.as_slice()).unwrap(), metadata());
}

#[test]
fn everything_that_is_written_is_read() {
    let users = OverallGroup { collection: Some("users".to_owned()), ..group(7) };
    let overall = Overall { groups: vec![group(u64::MAX), users] };
    let bytes = overall_bytes(&overall);
    assert_eq!(Overall::read(Path::new("x"), bytes.as_slice()).unwrap(), overall);
    let early = Timestamp::from_micros(-5);
    let outputs = (0..3_000).map(|number| format!("output-{number}")).collect();
    let group = GroupMetadata { start: early, outputs, kind: "__all__".to_owned(), ..metadata() };
    let bytes = group_bytes(&group);
    assert_eq!(GroupMetadata::read(Path::new("x"), bytes.as_slice()).unwrap(), group);
}

/// As production writes it, with what is not known.
#[test]
fn metadata_of_production_is_read() {
    let bytes = b"\x0a\x11\x0a\x0fexport_entities\x12\x20\x0a\x07__all__\x12\x08output-0\
                  \x1a\x09\x0a\x07__all__\x28\x05";
    let read = GroupMetadata::read(Path::new("x"), bytes.as_slice()).unwrap();
    assert_eq!((&*read.kind, read.outputs), ("__all__", vec!["output-0".to_owned()]));
}

/// What ends early is refused, or says less: never something else.
#[test]
fn every_early_end_is_noticed() {
    let bytes = overall_bytes(&Overall { groups: vec![group(2)] });
    for length in 0..bytes.len() {
        assert!(Overall::read(Path::new("x"), &bytes[..length]).is_err(), "{length}");
    }
    let bytes = group_bytes(&metadata());
    for length in 0..bytes.len() {
        assert!(GroupMetadata::read(Path::new("x"), &bytes[..length]).is_err(), "{length}");
    }
}

#[test]
fn refusals_name_file_place_and_reason() {
    let framed = |records: &[&[u8]]| {
        let mut log = LogWriter::new(Vec::new());
        records.iter().for_each(|record| log.append(record).unwrap());
        log.finish().unwrap()
    };
    let table: [(Vec<u8>, &str); 7] = [
        (framed(&[]), "`x` cannot be read at byte 0: the metadata has no version"),
        (
            framed(&[b"4", b""]),
            "`x` cannot be read at byte 0: the export's format has the version `4`, and only `3` is known",
        ),
        (framed(&[b"3"]), "`x` cannot be read at byte 8: the metadata has no list of files"),
        (
            framed(&[b"3", b"\x0a\x02\x18\x01"]),
            "`x` cannot be read at byte 17: the metadata has no path of a metadata file",
        ),
        (
            framed(&[b"3", b"\x0a\x03\x12\x01\xff"]),
            "`x` cannot be read at byte 19: a text is not UTF-8",
        ),
        (
            framed(&[b"3", b"\x0a\x02\x10\x01"]),
            "`x` cannot be read at byte 17: not a message of the format: a field of another type",
        ),
        (
            b"{\"version\": 1}".to_vec(),
            "`x` cannot be read at byte 0: no record starts here: it would be 29554 bytes long, more than there are",
        ),
    ];
    for (bytes, text) in table {
        let error = Overall::read(Path::new("x"), bytes.as_slice()).unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    let long = io::repeat(0x0A);
    let error = GroupMetadata::read(Path::new("x"), long).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`x` cannot be read at byte 0: this is too long for a metadata file"
    );
}

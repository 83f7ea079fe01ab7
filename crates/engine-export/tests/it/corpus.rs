//! Exports that the official emulator made of our own data, see `tests/corpus/README.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use base_value::{DatabaseName, DocumentPath, Fields};
use engine_export::metadata::{GroupMetadata, Overall};
use engine_export::{Export, FolderWriter};
use serde_json::Value as Json;

use crate::json;
use crate::output;

/// One export and what it was made of.
struct Recorded {
    database: DatabaseName,
    documents: BTreeMap<DocumentPath, Fields>,
    folder: PathBuf,
}

fn recorded(name: &str) -> Recorded {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
    let text = fs::read_to_string(folder.join("documents.json")).unwrap();
    let json: Json = serde_json::from_str(&text).unwrap();
    let member = |name: &str| json[name].as_str().unwrap().to_owned();
    Recorded {
        database: DatabaseName::new(&member("project"), &member("database")),
        documents: json::documents(&json["documents"]),
        folder: folder.join("firestore_export"),
    }
}

/// The export holds the documents, each of them with its whole name.
fn check_read(name: &str) -> Export {
    let recorded = recorded(name);
    let export = Export::open(&recorded.folder).unwrap();
    assert_eq!(export.documents(), Some(recorded.documents.len() as u64), "{name}");
    let mut read = BTreeMap::new();
    for document in export.read() {
        let document = document.unwrap();
        assert_eq!(document.name.database, recorded.database, "{name}: {}", document.name);
        assert!(read.insert(document.name.path, document.fields).is_none(), "{name}");
    }
    assert_eq!(read, recorded.documents, "{name}");
    export
}

/// What we write of the same documents is as long, and the same but for the order of documents and fields: the
/// same bytes where there is one of each.
fn check_written(name: &str) {
    let recorded = recorded(name);
    let export = Export::open(&recorded.folder).unwrap();
    let mut ours = Vec::new();
    let mut official = Vec::new();
    for document in export.read() {
        let document = document.unwrap();
        let fields = &document.fields;
        ours.push(output(&recorded.database, [(&document.name.path, fields)]));
    }
    for shard in export.shards() {
        official.extend(single_records(&fs::read(&shard.file).unwrap()));
    }
    assert_eq!(ours.len(), official.len(), "{name}");
    for (ours, official) in ours.iter().zip(&official) {
        assert_eq!(sorted(ours), sorted(official), "{name}");
    }
    let equal = ours.iter().zip(&official).filter(|(ours, official)| ours == official).count();
    assert!(equal * 2 > ours.len(), "{name}: {equal} of {} are the same bytes", ours.len());
}

/// The bytes of a record in an order that does not depend on the order of fields.
fn sorted(record: &[u8]) -> Vec<u8> {
    // The checksum is of the order, too.
    let mut bytes = record.get(4..).unwrap().to_vec();
    bytes.sort_unstable();
    bytes
}

/// Each document of an output file as a file of its own. Documents that lie in two blocks are put together.
fn single_records(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut records, mut record, mut at) = (Vec::new(), Vec::new(), 0);
    while at < file.len() {
        let left = 32_768 - at % 32_768;
        if left < 7 {
            at += left;
            continue;
        }
        let length = usize::from(u16::from_le_bytes([file[at + 4], file[at + 5]]));
        let kind = file[at + 6];
        record.extend_from_slice(&file[at + 7..at + 7 + length]);
        at += 7 + length;
        if kind == 1 || kind == 4 {
            records.push(crate::damage::framed(&std::mem::take(&mut record)));
        }
    }
    records
}

/// Written as a whole, the metadata is the same but for the times, and the output has the same length or, where
/// records lie differently in blocks, nearly so.
fn check_folder(name: &str) {
    let recorded = recorded(name);
    let parent = tempfile::tempdir().unwrap();
    let mut writer =
        FolderWriter::create(parent.path(), "firestore_export", &recorded.database).unwrap();
    for (path, fields) in &recorded.documents {
        writer.write(path, fields).unwrap();
    }
    let now = base_value::Timestamp::from_micros(1_700_000_000_000_000);
    let overall_file = writer.overall_file();
    writer.finish(now, now).unwrap();
    let official_file = recorded.folder.join(overall_file.file_name().unwrap());
    let overall = |file: &Path| Overall::read(file, fs::File::open(file).unwrap()).unwrap();
    let (mut ours, official) = (overall(&overall_file), overall(&official_file));
    for (ours, official) in ours.groups.iter_mut().zip(&official.groups) {
        assert!(ours.bytes.abs_diff(official.bytes) < 40, "{name}: {ours:?} {official:?}");
        ours.bytes = official.bytes;
        let group = |folder: &Path| {
            let file = folder.join(&official.path);
            GroupMetadata::read(&file, fs::File::open(&file).unwrap()).unwrap()
        };
        let ours = group(&parent.path().join("firestore_export"));
        let official = group(&recorded.folder);
        assert!(official.start <= official.end);
        let times = GroupMetadata { start: now, end: now, ..official };
        assert_eq!(ours, times, "{name}");
    }
    assert_eq!(ours, official, "{name}");
}

fn check(name: &str) {
    check_read(name);
    check_written(name);
    check_folder(name);
}

#[test]
fn every_kind_of_value() {
    check("values");
}

#[test]
fn a_named_database() {
    check("named");
}

/// Documents of several blocks, and enough small ones that records meet the ends of blocks.
#[test]
fn several_blocks() {
    check("blocks");
}

#[test]
fn an_empty_database() {
    let export = check_read("empty");
    assert_eq!(export.shards().count(), 0);
    let recorded = recorded("empty");
    let parent = tempfile::tempdir().unwrap();
    let writer = FolderWriter::create(parent.path(), "firestore_export", &recorded.database);
    let writer = writer.unwrap();
    let overall_file = writer.overall_file();
    let now = base_value::Timestamp::default();
    writer.finish(now, now).unwrap();
    let official_file = recorded.folder.join(overall_file.file_name().unwrap());
    assert_eq!(fs::read(overall_file).unwrap(), fs::read(official_file).unwrap());
}

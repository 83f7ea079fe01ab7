//! What is written is read: random documents, in memory and through a folder.

use base_value::{DatabaseName, DocumentName, DocumentPath, Fields, Timestamp, Value};
use engine_export::{
    Document, DocumentReader, DocumentWriter, Export, FolderWriter, WriteError, limits,
};
use proptest::prelude::*;

use crate::output;
use crate::strategies::documents;

proptest! {
    #[test]
    fn documents_round_trip(
        documents in documents(),
        project in "[pq]|e\\.f:g",
        database in prop_oneof![Just("(default)".to_owned()), "[de]"],
    ) {
        let database = DatabaseName::new(&project, &database);
        let bytes = output(&database, &documents);
        prop_assert_eq!(&bytes, &output(&database, &documents));
        let mut reader = DocumentReader::new("output-0", bytes.as_slice());
        let read: Vec<Document> = reader.by_ref().collect::<Result<_, _>>().unwrap();
        let expected: Vec<Document> = documents
            .into_iter()
            .map(|(path, fields)| Document { name: database.document(path), fields })
            .collect();
        prop_assert_eq!(reader.documents(), expected.len() as u64);
        prop_assert_eq!(reader.position(), bytes.len() as u64);
        prop_assert_eq!(read, expected);
    }

    /// The protocol's own spelling of a value means what the export's does.
    #[test]
    fn what_is_read_can_be_stored(documents in documents()) {
        let database = DatabaseName::new("p", "(default)");
        let bytes = output(&database, &documents);
        for document in DocumentReader::new("output-0", bytes.as_slice()) {
            let fields = document.unwrap().fields;
            let stored = base_value::codec::encode_fields(&fields);
            prop_assert_eq!(base_value::codec::decode_fields(&stored), Ok(fields));
        }
    }
}

fn path(text: &str) -> DocumentPath {
    DocumentPath::parse(text).unwrap()
}

fn one(value: Value) -> Fields {
    Fields::from([("f".to_owned(), value)])
}

#[test]
fn a_folder_round_trips() {
    let parent = tempfile::tempdir().unwrap();
    let database = DatabaseName::new("p", "(default)");
    let mut writer = FolderWriter::create(parent.path(), "mine", &database).unwrap();
    // Documents of a few bytes and of several blocks.
    let length = |number: usize| number.pow(3) * 7 % 90_000;
    let document = |number: usize| {
        let fields = one(Value::String("x".repeat(length(number))));
        (path(&format!("a/{number:04}")), fields)
    };
    for number in 0..300 {
        let (path, fields) = document(number);
        writer.write(&path, &fields).unwrap();
    }
    let overall = writer.overall_file();
    let (start, end) = (Timestamp::from_micros(5), Timestamp::from_micros(6));
    let written = writer.finish(start, end).unwrap();
    assert_eq!(written.documents, 300);

    for place in [parent.path(), parent.path().join("mine").as_path(), overall.as_path()] {
        let export = Export::open(place).unwrap();
        assert_eq!((export.documents(), export.bytes()), (Some(300), written.bytes));
        let mut number = 0;
        for read in export.read() {
            let (path, fields) = document(number);
            let name = DocumentName { database: database.clone(), path };
            assert_eq!(read.unwrap(), Document { name, fields });
            number += 1;
        }
        assert_eq!(number, 300);
    }
}

/// As many documents as the emulator puts into one file, and one more. The order holds across files.
#[test]
fn many_documents_make_several_shards() {
    let parent = tempfile::tempdir().unwrap();
    let database = DatabaseName::new("p", "(default)");
    let mut writer = FolderWriter::create(parent.path(), "many", &database).unwrap();
    let max = limits::SHARD_DOCUMENTS_MAX;
    for number in 0..=2 * max {
        writer.write(&path(&format!("a/{number:05}")), &Fields::new()).unwrap();
        if number == max - 1 {
            assert_eq!(writer.written().documents, max);
        }
        let again = writer.write(&path(&format!("a/{number:05}")), &Fields::new());
        assert!(matches!(again, Err(WriteError::Order { .. })), "{number}");
    }
    let now = Timestamp::default();
    let written = writer.finish(now, now).unwrap();
    assert_eq!(written.documents, 2 * max + 1);
    let export = Export::open(parent.path()).unwrap();
    assert_eq!((export.documents(), export.bytes()), (Some(2 * max + 1), written.bytes));
    let counts: Vec<usize> = export.shards().map(|shard| shard.open().unwrap().count()).collect();
    assert_eq!(counts, [5_000, 5_000, 1]);
    let read = export.read().map(|document| document.unwrap().name.path);
    assert!(read.eq((0..=2 * max).map(|number| path(&format!("a/{number:05}")))));
}

#[test]
fn an_empty_export_round_trips() {
    let parent = tempfile::tempdir().unwrap();
    let database = DatabaseName::new("p", "(default)");
    let writer = FolderWriter::create(parent.path(), "empty", &database).unwrap();
    let overall = writer.overall_file();
    let now = Timestamp::default();
    assert_eq!(writer.finish(now, now).unwrap().documents, 0);
    let names: Vec<_> = std::fs::read_dir(parent.path().join("empty"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(names, [overall]);
    let export = Export::open(parent.path()).unwrap();
    assert_eq!((export.documents(), export.bytes()), (Some(0), 0));
    assert!(export.read().next().is_none());
}

/// Nothing that is there is written over, and no name leads elsewhere.
#[test]
fn exports_get_a_folder_of_their_own() {
    let parent = tempfile::tempdir().unwrap();
    let database = DatabaseName::new("p", "(default)");
    FolderWriter::create(parent.path(), "one", &database).unwrap();
    let again = FolderWriter::create(parent.path(), "one", &database).unwrap_err();
    assert!(matches!(again, WriteError::Io { doing: "create", .. }), "{again}");
    for name in ["", ".", "..", "a/b", "/a", "a/"] {
        let refused = FolderWriter::create(parent.path(), name, &database).unwrap_err();
        assert!(matches!(refused, WriteError::ExportName(_)), "{name}: {refused}");
    }
}

#[test]
fn documents_come_in_order_and_once() {
    let table = [
        ("a/b", "a/b", false),
        ("b/a", "a/b", false),
        ("a/b", "a/b/c/d", true),
        ("a/b/c/d", "a/b", false),
        ("a/__id10__", "a/__id9__", false),
        ("a/__id9__", "a/__id10__", true),
        ("a/__id9__", "a/1", true),
        ("b/a", "a/b/c/d", true),
        ("a/b/c/d", "b/a", false),
    ];
    for (first, second, is_right) in table {
        let database = DatabaseName::new("p", "(default)");
        let mut writer = DocumentWriter::new("output-0", Vec::new(), &database);
        writer.write(&path(first), &Fields::new()).unwrap();
        let before = writer.written();
        let second = writer.write(&path(second), &Fields::new());
        assert_eq!(second.is_ok(), is_right, "{first} {second:?}");
        assert_eq!(writer.written() == before, !is_right);
    }
}

/// A document that is refused leaves the file as it was, so that whoever wants may go on without it.
#[test]
fn a_refused_document_is_left_out() {
    let database = DatabaseName::new("p", "(default)");
    let mut writer = DocumentWriter::new("output-0", Vec::new(), &database);
    writer.write(&path("a/a"), &Fields::new()).unwrap();
    let array = Value::Array(vec![Value::Array(Vec::new())]);
    let refused = writer.write(&path("a/b"), &one(array)).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "document `a/b` cannot be exported: the array in field `f` holds an array or a vector"
    );
    writer.write(&path("a/c"), &Fields::new()).unwrap();
    let (bytes, written) = writer.finish().unwrap();
    assert_eq!(written.documents, 2);
    assert_eq!(DocumentReader::new("output-0", bytes.as_slice()).count(), 2);
}

/// A sink that fails is told with the file's name.
#[test]
fn a_full_disk_is_told() {
    let mut room = [0_u8; 1_000];
    let database = DatabaseName::new("p", "(default)");
    let mut writer = DocumentWriter::new("the file", room.as_mut_slice(), &database);
    let fields = one(Value::String("x".repeat(400)));
    let failed = (0..10_000)
        .map(|number| writer.write(&path(&format!("a/{number:05}")), &fields))
        .find_map(Result::err)
        .unwrap();
    let text = failed.to_string();
    assert!(text.starts_with("could not write `the file`: "), "{text}");
}

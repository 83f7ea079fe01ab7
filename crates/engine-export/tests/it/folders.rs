//! Exports as folders: whole, moved between systems, without their metadata, with parts missing.

use std::fs;
use std::path::{Path, PathBuf};

use base_value::{DatabaseName, DocumentPath, Fields, Timestamp, Value};
use engine_export::metadata::{GroupMetadata, Overall, OverallGroup};
use engine_export::{Export, ReadError};

use crate::output;

const ALL: &str = "all_namespaces/all_kinds";
const GROUP_FILE: &str = "all_namespaces/all_kinds/all_namespaces_all_kinds.export_metadata";

/// A folder that is built up file by file.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        Folder(tempfile::tempdir().unwrap())
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn write(self, file: &str, bytes: &[u8]) -> Self {
        let file = self.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, bytes).unwrap();
        self
    }

    /// What is read of it: the paths of all documents, in the order they come.
    fn read(&self) -> Result<Vec<String>, ReadError> {
        let export = Export::open(self.path())?;
        export.read().map(|document| Ok(document?.name.path.to_string())).collect()
    }

    /// The error's text, with this folder's own path left out.
    fn refusal(&self) -> String {
        let text = self.read().unwrap_err().to_string();
        text.replace(&format!("{}/", self.path().display()), "")
            .replace(&self.path().display().to_string(), "FOLDER")
    }
}

fn documents(collection: &str, ids: &[&str]) -> Vec<u8> {
    let fields = Fields::from([("f".to_owned(), Value::Null)]);
    let paths: Vec<DocumentPath> =
        ids.iter().map(|id| DocumentPath::parse(&format!("{collection}/{id}")).unwrap()).collect();
    output(&DatabaseName::new("p", "(default)"), paths.iter().map(|path| (path, &fields)))
}

fn overall(groups: &[(Option<&str>, &str, u64, usize)]) -> Vec<u8> {
    let mut overall = Overall::default();
    for (collection, path, documents, bytes) in groups {
        overall.groups.push(OverallGroup {
            collection: collection.map(str::to_owned),
            path: (*path).to_owned(),
            documents: *documents,
            bytes: *bytes as u64,
        });
    }
    let mut bytes = Vec::new();
    overall.write(&mut bytes).unwrap();
    bytes
}

fn group(outputs: &[&str], kind: &str) -> Vec<u8> {
    let group = GroupMetadata {
        operation: "x".to_owned(),
        start: Timestamp::default(),
        end: Timestamp::default(),
        outputs: outputs.iter().map(|output| (*output).to_owned()).collect(),
        kind: kind.to_owned(),
    };
    let mut bytes = Vec::new();
    group.write(&mut bytes).unwrap();
    bytes
}

/// An export of two documents whose overall metadata is this.
fn export_of_two(overall: &[u8]) -> Folder {
    Folder::new()
        .write("e/e.overall_export_metadata", overall)
        .write(&format!("e/{GROUP_FILE}"), &group(&["output-0"], ""))
        .write(&format!("e/{ALL}/output-0"), &documents("a", &["1", "2"]))
}

fn two() -> usize {
    documents("a", &["1", "2"]).len()
}

#[test]
fn several_shards_are_read_as_the_metadata_says() {
    let (left, right) = (documents("a", &["1", "2"]), documents("a", &["3"]));
    let folder = Folder::new()
        .write(
            "e.overall_export_metadata",
            &overall(&[(None, GROUP_FILE, 3, left.len() + right.len())]),
        )
        .write(GROUP_FILE, &group(&["output-1", "output-0"], ""))
        .write(&format!("{ALL}/output-0"), &left)
        .write(&format!("{ALL}/output-1"), &right)
        // What the metadata does not name is not read.
        .write(&format!("{ALL}/output-2"), b"something else");
    assert_eq!(folder.read().unwrap(), ["a/3", "a/1", "a/2"]);
    let export = Export::open(folder.path()).unwrap();
    assert_eq!(export.shards().count(), 2);
    assert_eq!(export.groups().len(), 1);
    // Each shard by itself.
    let counts: Vec<usize> = export.shards().map(|shard| shard.open().unwrap().count()).collect();
    assert_eq!(counts, [1, 2]);
    assert!(export.check_documents(3).is_ok());
    assert_eq!(
        export.check_documents(2).unwrap_err().to_string(),
        "the export holds 2 documents and should hold 3: copy the whole export, or make it again"
    );
}

#[test]
fn chosen_collections_have_a_group_each() {
    let (users, rooms) = (documents("users", &["1"]), documents("rooms", &["1", "2"]));
    let metadata =
        |kind| format!("all_namespaces/kind_{kind}/all_namespaces_kind_{kind}.export_metadata");
    let build = |with_overall: bool| {
        let folder = Folder::new()
            .write(&metadata("users"), &group(&["output-0"], "users"))
            .write("all_namespaces/kind_users/output-0", &users)
            .write(&metadata("rooms"), &group(&["output-0"], "rooms"))
            .write("all_namespaces/kind_rooms/output-0", &rooms);
        let groups = [
            (Some("users"), &*metadata("users"), 1, users.len()),
            (Some("rooms"), &*metadata("rooms"), 2, rooms.len()),
        ];
        if with_overall {
            folder.write("2026.overall_export_metadata", &overall(&groups))
        } else {
            folder
        }
    };
    let folder = build(true);
    assert_eq!(folder.read().unwrap(), ["users/1", "rooms/1", "rooms/2"]);
    let export = Export::open(folder.path()).unwrap();
    let collections: Vec<_> =
        export.groups().iter().map(|group| group.collection.clone()).collect();
    assert_eq!(collections, [Some("users".to_owned()), Some("rooms".to_owned())]);
    assert_eq!(export.documents(), Some(3));
    // Without the overall metadata: in the order of their names, and nobody knows how many.
    let folder = build(false);
    assert_eq!(folder.read().unwrap(), ["rooms/1", "rooms/2", "users/1"]);
    assert_eq!(Export::open(folder.path()).unwrap().documents(), None);
}

/// Managed exports are copied in part, or below folders of other names.
#[test]
fn exports_without_metadata_are_read() {
    for place in ["", "namespace_(default)/all_kinds/", "deep/er/all_namespaces/all_kinds/"] {
        let mut folder = Folder::new().write("README.md", b"no part of it");
        let mut paths = Vec::new();
        for number in 0..12 {
            let id = format!("{number:02}");
            folder =
                folder.write(&format!("{place}output-{number}"), &documents("a", &[id.as_str()]));
            paths.push(format!("a/{id}"));
        }
        assert_eq!(folder.read().unwrap(), paths, "{place}");
    }
    // One file by itself.
    let folder = Folder::new().write("output-7", &documents("a", &["1"]));
    let export = Export::open(&folder.path().join("output-7")).unwrap();
    assert_eq!(export.read().count(), 1);
    // One group's metadata by itself.
    let folder = export_of_two(&overall(&[]));
    let export = Export::open(&folder.path().join("e").join(GROUP_FILE)).unwrap();
    assert_eq!(export.read().count(), 2);
}

/// Production fills output files up to whole blocks with zeros, and counts bytes without them.
#[test]
fn exports_made_by_production_are_read() {
    let build = |count| {
        let mut output = documents("a", &["1", "2"]);
        output.resize(64 * 1024, 0);
        Folder::new()
            .write("x.overall_export_metadata", &overall(&[(None, GROUP_FILE, count, 20)]))
            .write(GROUP_FILE, &group(&["output-0", "output-1"], "__all__"))
            .write(&format!("{ALL}/output-0"), &output)
            .write(&format!("{ALL}/output-1"), b"")
    };
    assert_eq!(build(2).read().unwrap(), ["a/1", "a/2"]);
    assert!(build(3).refusal().starts_with("the export holds 2 documents and should hold 3"));
}

#[test]
fn exports_made_on_windows_are_read() {
    let path = GROUP_FILE.replace('/', "\\");
    let folder = export_of_two(&overall(&[(None, &path, 2, two())]));
    assert_eq!(folder.read().unwrap(), ["a/1", "a/2"]);
}

/// On other systems a backslash may be part of a name.
#[test]
#[cfg(unix)]
fn backslashes_in_names_are_names() {
    let file = "all_namespaces/kind_a\\b/all_namespaces_kind_a\\b.export_metadata";
    let bytes = documents("a\\b", &["1"]);
    let folder = Folder::new()
        .write("e.overall_export_metadata", &overall(&[(Some("a\\b"), file, 1, bytes.len())]))
        .write(file, &group(&["output-0"], ""))
        .write("all_namespaces/kind_a\\b/output-0", &bytes);
    assert_eq!(folder.read().unwrap(), ["a\\b/1"]);
}

/// Nobody misses the files of no documents.
#[test]
fn empty_groups_need_no_files() {
    let metadata = overall(&[(None, GROUP_FILE, 0, 0)]);
    let file = "e.overall_export_metadata";
    let folder = Folder::new().write(file, &metadata);
    assert_eq!(folder.read().unwrap(), Vec::<String>::new());
    let folder = folder.write(GROUP_FILE, &group(&["output-0"], ""));
    assert_eq!(folder.read().unwrap(), Vec::<String>::new());
    let folder = folder.write(&format!("{ALL}/output-0"), b"");
    assert_eq!(folder.read().unwrap(), Vec::<String>::new());
}

#[test]
fn what_is_missing_or_too_short_is_told() {
    let metadata = overall(&[(None, GROUP_FILE, 2, two())]);
    let overall_file = "e.overall_export_metadata";
    let output_file = format!("{ALL}/output-0");
    let table = [
        (
            Folder::new().write(overall_file, &metadata),
            format!(
                "`{GROUP_FILE}` is missing, which `{overall_file}` names: copy the whole export, or make it again"
            ),
        ),
        (
            Folder::new()
                .write(overall_file, &metadata)
                .write(GROUP_FILE, &group(&["output-0"], "")),
            format!(
                "`{output_file}` is missing, which `{GROUP_FILE}` names: copy the whole export, or make it again"
            ),
        ),
        (
            Folder::new()
                .write(overall_file, &metadata)
                .write(GROUP_FILE, &group(&["output-0"], ""))
                .write(&output_file, &documents("a", &["1"])),
            format!(
                "the files that `{overall_file}` names have {} bytes and should have {}: copy the whole export, or make it again",
                two() / 2,
                two()
            ),
        ),
        (
            Folder::new().write("firebase-export-metadata.json", b"{}"),
            "`FOLDER` holds no Firestore export: there is no `.overall_export_metadata` or `.export_metadata` file and no `output-0`"
                .to_owned(),
        ),
        (
            export_of_two(&overall(&[(None, GROUP_FILE, 1, two())])),
            "the export holds 2 documents and should hold 1: copy the whole export, or make it again".to_owned(),
        ),
        (
            export_of_two(&overall(&[(None, GROUP_FILE, 3, two())])),
            "the export holds 2 documents and should hold 3: copy the whole export, or make it again".to_owned(),
        ),
    ];
    for (folder, text) in table {
        assert_eq!(folder.refusal(), text);
    }
}

#[test]
fn names_that_lead_out_of_the_export_are_refused() {
    for name in ["../x", "/etc/x", "a/../../x", "..\\x"] {
        let folder = export_of_two(&overall(&[(None, name, 2, two())]));
        let text = format!(
            "`e/e.overall_export_metadata` cannot be read at byte 0: the metadata names `{name}`, which is no file of the export"
        );
        assert_eq!(folder.refusal(), text);
        let folder = Folder::new().write(GROUP_FILE, &group(&[name], ""));
        assert!(folder.refusal().contains(&format!("names `{name}`")), "{}", folder.refusal());
    }
}

#[test]
fn folders_with_several_exports_are_refused() {
    let output = documents("a", &["1"]);
    let tables = [
        ["a/a.overall_export_metadata", "b/b.overall_export_metadata"],
        ["a.overall_export_metadata", "b.overall_export_metadata"],
        ["a/n/k/n_k.export_metadata", "b/n/k/n_k.export_metadata"],
        ["a/n/k/output-0", "b/n/k/output-0"],
    ];
    for [first, second] in tables {
        let folder = Folder::new().write(first, &output).write(second, &output);
        let text =
            format!("`FOLDER` holds several exports: name one of them, `{first}` or `{second}`");
        assert_eq!(folder.refusal(), text);
    }
}

#[test]
fn what_is_not_there_is_told() {
    let folder = Folder::new().write("x.txt", b"");
    let missing = folder.path().join("y");
    let error = Export::open(&missing).unwrap_err();
    assert!(matches!(error, ReadError::Io { doing: "open", .. }), "{error}");
    let other: PathBuf = folder.path().join("x.txt");
    assert!(matches!(Export::open(&other), Err(ReadError::NotAnExport { .. })));
}

//! The points that are recorded from production, and what declarations change.

use base_value::validate::document_size;
use base_value::{DatabaseName, FieldPath};

use super::*;
use crate::model::Direction;
use crate::required::FieldOverride;

fn check_with(declared: &Declared, path: &str, fields: &Fields, expected: Result<(), &str>) {
    let path = DocumentPath::parse(path).unwrap();
    let name = DatabaseName::new("p", "(default)").document(path.clone());
    let found = declared.check_document(&path, fields, document_size(fields, &name));
    let found = found.map_err(|error| error.to_string());
    assert_eq!(found, expected.map_err(str::to_owned), "{} fields", fields.len());
}

fn check(path: &str, fields: &Fields, expected: Result<(), &str>) {
    check_with(&Declared::default(), path, fields, expected);
}

fn integers(count: i64) -> Fields {
    Fields::from([("a".to_owned(), Value::Array((0..count).map(Value::Integer).collect()))])
}

fn flat(count: usize) -> Fields {
    (0..count).map(|index| (format!("f{index}"), Value::Null)).collect()
}

/// A path of that many bytes, in a collection at the root.
fn long(collection: usize, id: usize) -> String {
    format!("{}/{}", "c".repeat(collection), "d".repeat(id))
}

const TOO_LARGE: Result<(), &str> = Err("Index entry is too large.");
const TOO_BIG: Result<(), &str> = Err("Transaction too big. Decrease transaction size.");

#[test]
fn entries_are_counted() {
    check("c/d", &integers(19_999), Ok(()));
    check("c/d", &integers(20_000), Err("too many index entries for entity /c/d"));
    check("c/d", &flat(20_000), Ok(()));
    check("c/d/e/f", &flat(20_001), Err("too many index entries for entity /c/d/e/f"));
    let same = Fields::from([("a".to_owned(), Value::Array(vec![Value::Integer(7); 100_000]))]);
    check("c/d", &same, Ok(()));
    // The map itself is a field, too.
    let map = |count| Fields::from([("m".to_owned(), Value::Map(flat(count)))]);
    check("c/d", &map(19_999), Ok(()));
    check("c/d", &map(20_000), Err("too many index entries for entity /c/d"));
}

#[test]
fn entries_and_names_are_measured() {
    let text = |name: &str, length: usize| {
        Fields::from([(name.to_owned(), Value::String("x".repeat(length)))])
    };
    // 1,500 bytes of the value count: 3,979 with the name, and the field's.
    check(&long(1_400, 1_000), &text("f", 100_000), Ok(()));
    check(&long(1_500, 1_500), &text(&"f".repeat(979), 1_600), Ok(()));
    check(&long(1_500, 1_500), &text(&"f".repeat(980), 1_600), TOO_LARGE);
    let nested = |id| format!("{}/{}", long(1_500, 1_000), long(1_000, id));
    check(&nested(1_496), &Fields::new(), Ok(()));
    check(&nested(1_497), &Fields::new(), TOO_LARGE);
    check("c/d", &Fields::new(), Ok(()));
}

#[test]
fn the_whole_is_bounded() {
    check(&long(1_400, 599), &integers(7_184), Ok(()));
    check(&long(1_400, 599), &integers(7_185), TOO_BIG);
    check(&long(998, 1), &integers(12_124), Ok(()));
    check(&long(498, 1), &integers(19_999), Ok(()));
}

#[test]
fn declarations_count() {
    let exempt = Declared {
        overrides: vec![FieldOverride {
            collection_id: "c".into(),
            field: Some(FieldPath::single("a")),
            indexes: Vec::new(),
        }],
        indexes: Vec::new(),
    };
    check_with(&exempt, "c/d", &integers(100_000), Ok(()));
    check_with(&exempt, "e/d", &integers(20_000), Err("too many index entries for entity /e/d"));
    let composite = |fields: &[&str]| {
        let ordered =
            |name: &&str| RequiredField::Ordered(FieldPath::single(name), Direction::Ascending);
        Declared {
            indexes: vec![DeclaredIndex {
                collection_id: "c".into(),
                scope: IndexScope::Collection,
                fields: fields.iter().map(ordered).collect(),
            }],
            overrides: Vec::new(),
        }
    };
    let fields: Fields =
        (0..6).map(|index| (format!("v{index}"), Value::String("x".repeat(1_600)))).collect();
    check_with(&composite(&["v0", "v1", "v2", "v3", "v4"]), "c/d", &fields, Ok(()));
    check_with(&composite(&["v0", "v1", "v2", "v3", "v4", "v5"]), "c/d", &fields, TOO_LARGE);
    check_with(&composite(&["v0", "v1", "v2", "v3", "v4", "w"]), "c/d", &fields, Ok(()));
}

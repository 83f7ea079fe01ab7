//! Names and the texts of their refusals.

use super::*;
use crate::name_error::{check_collection_id, check_document_id};

const ROOT: &str = "projects/p/databases/d/documents";

fn check_document(name: &str, message: &str) {
    match DocumentName::parse(name) {
        Ok(parsed) => panic!("{name} was accepted as {parsed}"),
        Err(error) => assert_eq!(error.to_string(), message, "{name}"),
    }
}

/// The name is refused as a document's, with this at the end of the text.
fn check_document_end(name: &str, end: &str) {
    check_document(name, &format!("Document name \"{name}\" {end}"));
}

#[test]
fn names_round_trip() {
    for path in
        ["c/d", "c/d/e/f", "____/____", "c/__id7__", "c/__id-9223372036854775808__", "c/%2F"]
    {
        let name = format!("{ROOT}/{path}");
        let parsed = DocumentName::parse(&name).unwrap();
        assert_eq!(parsed.to_string(), name);
        assert_eq!(parsed.path.as_str(), path);
        assert_eq!(parsed.database, DatabaseName::new("p", "d"));
    }
    for name in ["projects/google.com:p/databases/(default)", "projects/P 1/databases/a b"] {
        assert_eq!(parse_database(name).unwrap().to_string(), name);
        assert!(DocumentName::parse(&format!("{name}/documents/c/d")).is_ok(), "{name}");
    }
    let (database, parent) = parse_parent(ROOT).unwrap();
    assert_eq!(database.to_string(), "projects/p/databases/d");
    assert!(parent.is_root());
    assert_eq!(parse_parent(&format!("{ROOT}/c/d")).unwrap().1.as_str(), "c/d");
}

#[test]
fn the_front_of_a_name() {
    for (name, end) in [
        ("", "lacks \"projects\" at index 0."),
        ("foo", "lacks \"projects\" at index 0."),
        ("/projects/p/databases/d/documents/c/d", "lacks \"projects\" at index 0."),
        ("projects", "lacks \"/\" at index 8."),
        ("projectsx/p/databases/d/documents/c/d", "lacks \"/\" at index 8."),
        ("projects/", "has invalid trailing \"/\"."),
        ("projects//", "lacks a project id at index 9."),
        ("projects//databases/d/documents/c/d", "lacks a project id at index 9."),
        ("projects/..", "contains a project id \"..\" at index 9."),
        ("projects/p", "lacks \"/\" at index 10."),
        ("projects/p/", "has invalid trailing \"/\"."),
        ("projects/p/database/d/documents/c/d", "lacks \"databases\" at index 11."),
        ("projects/p//d", "lacks \"databases\" at index 11."),
        ("projects/p/databases", "lacks \"/\" at index 20."),
        ("projects/p/databases/", "has invalid trailing \"/\"."),
        ("projects/p/databases//documents/c/d", "lacks a database id at index 21."),
        ("projects/p/databases/../documents/c/d", "contains a database id \"..\" at index 21."),
        ("projects/p/databases/d", "lacks \"/\" at index 22."),
        ("projects/p/databases/d/", "has invalid trailing \"/\"."),
        ("projects/p/databases/d/docs/c/d", "lacks \"documents\" at index 23."),
        ("projects/p/databases/d/documentsx/c/d", "lacks \"/\" at index 32."),
        (
            "projects/p/databases/d/documents",
            "is invalid: Omit \"/documents\" when referencing a database (except as the parent of a document).",
        ),
        ("projects/p/databases/d/documents/", "is invalid: Omit trailing \"/\"."),
    ] {
        check_document_end(name, end);
    }
}

#[test]
fn the_path_in_a_name() {
    for (path, end) in [
        ("c", "lacks \"/\" at index 34."),
        ("c/d/e", "lacks \"/\" at index 38."),
        ("c/", "has invalid trailing \"/\"."),
        ("c/d/", "has invalid trailing \"/\"."),
        ("c//d", "lacks a resource id at index 35."),
        ("c//", "lacks a resource id at index 35."),
        ("/", "lacks a collection id at index 33."),
        ("/d", "lacks a collection id at index 33."),
        ("c/d//", "lacks a collection id at index 37."),
        ("c/..", "contains a resource id \"..\" at index 35."),
        ("c/./", "contains a resource id \".\" at index 35."),
        ("../d", "contains a collection id \"..\" at index 33."),
        ("c/d/../", "contains a collection id \"..\" at index 37."),
    ] {
        check_document_end(&format!("{ROOT}/{path}"), end);
    }
    for (path, message) in [
        ("__x__/..", "Collection id \"__x__\" is invalid because it is reserved."),
        ("__id7__/d", "Collection id \"__id7__\" is invalid because it is reserved."),
        ("c/__x__//d", "Resource id \"__x__\" is invalid because it is reserved."),
        ("c/_____", "Resource id \"_____\" is invalid because it is reserved."),
        ("c/__id0__", "Resource id \"__id0__\" is invalid because it is reserved."),
        ("c/__id-0__", "Resource id \"__id-0__\" is invalid because it is reserved."),
        ("c/__id07__", "Resource id \"__id07__\" is invalid because it is reserved."),
        ("c/__id+7__", "Resource id \"__id+7__\" is invalid because it is reserved."),
        ("c/__id__", "Resource id \"__id__\" is invalid because it is reserved."),
        (
            "c/__id9223372036854775808__/e",
            "Resource id \"__id9223372036854775808__\" is invalid because it is not a 64 bit integer.",
        ),
    ] {
        check_document(&format!("{ROOT}/{path}"), message);
    }
}

#[test]
fn parents_and_references_are_called_by_their_own_words() {
    let check = |name: &str, end: &str| {
        let message = format!("Document parent name \"{name}\" {end}");
        assert_eq!(parse_parent(name).unwrap_err().to_string(), message);
        if name != ROOT {
            assert_eq!(DocumentName::parse_reference(name).unwrap_err().to_string(), message);
        }
    };
    check("foo", "lacks \"projects\" at index 0.");
    check(&format!("{ROOT}/c"), "lacks \"/\" at index 34.");
    check(&format!("{ROOT}/"), "is invalid: Omit trailing \"/\".");
    check("projects/p/databases/d", "lacks \"/\" at index 22.");
    let error = DocumentName::parse_as(NameSubject::Resource, "foo").unwrap_err();
    assert_eq!(error.to_string(), "Resource name \"foo\" lacks \"projects\" at index 0.");
}

#[test]
fn database_names_end_at_the_database() {
    for (name, end) in [
        ("", "lacks \"projects\" at index 0."),
        ("projects/p", "lacks \"/\" at index 10."),
        ("projects/p/databases//x", "lacks a database id at index 21."),
        ("projects/p/databases/d/", "has invalid trailing \"/\"."),
        ("projects/p/databases/d/documents", "has extra characters at index 22."),
        ("projects/p/databases/d/x", "has extra characters at index 22."),
    ] {
        let message = format!("Database name \"{name}\" {end}");
        assert_eq!(parse_database(name).unwrap_err().to_string(), message);
    }
}

#[test]
fn limits_are_checked_apart() {
    let check = |name: String, message: Option<&str>| {
        let name = DocumentName::parse(&name).unwrap();
        let answer = name.check_limits().err().map(|error| error.to_string());
        assert_eq!(answer.as_deref(), message, "{name}");
    };
    check(format!("{ROOT}/{0}/{0}", "a".repeat(1_500)), None);
    check(
        format!("{ROOT}/c/{}", "\u{e9}".repeat(751)),
        Some("The key path element name is longer than 1500 bytes."),
    );
    check(
        format!("{ROOT}/c/d/{}/f", "e".repeat(1_501)),
        Some("The key path element kind is longer than 1500 bytes."),
    );
    check(format!("{ROOT}{}", "/c/d".repeat(100)), None);
    check(
        format!("{ROOT}{}", "/c/d".repeat(101)),
        Some("Key path is too long. Cannot exceed 100 elements."),
    );
    let database = |id: &str| format!("projects/p/databases/{id}/documents/c/d");
    for legal in ["(default)", "a.b", "A_-1", "__x__", &"a".repeat(100)] {
        check(database(legal), None);
    }
    check(database(&"a".repeat(101)), Some("The database is longer than 100 bytes."));
    check(database("a b"), Some("Illegal string \"a b\" in database."));
    check(database("(other)"), Some("Illegal string \"(other)\" in database."));
}

#[test]
fn single_ids() {
    let text = |result: Result<(), NameError>| result.err().map(|error| error.to_string());
    for id in ["a", "____", "a b", "\u{e9}", "__id7__x"] {
        assert_eq!(text(check_collection_id(id)), None, "{id}");
        assert_eq!(text(check_document_id(id)), None, "{id}");
    }
    assert_eq!(text(check_document_id("__id7__")), None);
    for (id, end) in [
        ("a/b", "contains \"/\"."),
        ("..", "is reserved."),
        (".", "is reserved."),
        ("__x__", "is reserved."),
        ("", "is empty."),
    ] {
        let expect = |kind: &str| Some(format!("{kind} id \"{id}\" is invalid because it {end}"));
        assert_eq!(text(check_collection_id(id)), expect("Collection"));
        assert_eq!(text(check_document_id(id)), expect("Resource"));
    }
}

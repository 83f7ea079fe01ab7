//! What is derived from documents, shown as text.

use base_value::{DocumentPath, FieldPath, codec};

use super::*;
use crate::index::{IndexField, IndexScope};

fn fields(text: &[(&str, Value)]) -> Fields {
    text.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

/// Bytes as text, those without one in hexadecimal; `.` for the ends of texts.
fn show(bytes: &[u8]) -> String {
    let mut shown = String::new();
    let mut rest = bytes;
    while let Some((byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            0 if after.first() == Some(&1) => {
                shown.push('.');
                rest = &after[1..];
            }
            b' '..=b'~' => shown.push(char::from(*byte)),
            byte => shown.push_str(&format!("<{byte:x}>")),
        }
    }
    shown
}

#[track_caller]
fn check(indexer: &Indexer, path: &str, document: &Fields, expected: &[&str]) {
    let key = key::document(&DocumentPath::parse(path).unwrap());
    let mut entries = Vec::new();
    indexer.entries(&key, &codec::encode_fields(document), &mut entries);
    let mut distinct = entries.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), entries.len());
    let shown: Vec<String> = entries.iter().map(|entry| show(&entry.key)).collect();
    assert_eq!(shown, expected);
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

#[test]
fn every_field_has_an_entry_in_every_scope() {
    let indexer = Indexer::default();
    let scalar = fields(&[("f", text("v"))]);
    check(&indexer, "c/a", &scalar, &["<1><2>c..f.0v.<2>a."]);
    check(
        &indexer,
        "c/a/d/b",
        &scalar,
        &["<1><2>c.<2>a.<2>d..f.0v.<2>b.", "<2><2>d.<1>f.0v.<2>c.<2>a.<2>d.<2>b."],
    );
    let inner = Value::Map(fields(&[("y", Value::Null), ("z", Value::Boolean(true))]));
    check(
        &indexer,
        "c/a",
        &fields(&[("m", Value::Map(fields(&[("x", inner)])))]),
        &[
            "<1><2>c..m.`<1>x.`<1>y.<10><1>z.<19><0><0><2>a.",
            "<1><2>c..m<0><2>x.`<1>y.<10><1>z.<19><0><2>a.",
            "<1><2>c..m<0><2>x<0><2>y.<10><2>a.",
            "<1><2>c..m<0><2>x<0><2>z.<19><2>a.",
        ],
    );
}

#[test]
fn elements_of_arrays_have_entries_once() {
    let array = Value::Array(vec![
        text("b"),
        Value::Null,
        text("b"),
        Value::Boolean(true),
        Value::Double(f64::NAN),
    ]);
    check(
        &Indexer::default(),
        "c/a",
        &fields(&[("f", array)]),
        &[
            "<1><2>c..f.P0b.<10>0b.<19> <0><2>a.",
            "<1><2>c.<0><2>f.<19><2>a.",
            "<1><2>c.<0><2>f.0b.<2>a.",
        ],
    );
}

#[test]
fn composite_indexes_hold_documents_with_all_fields() {
    let field = |path: &str, mode| IndexField { path: FieldPath::parse(path).unwrap(), mode };
    let define = |scope| IndexDefinition {
        collection_id: "c".to_owned(),
        scope,
        fields: vec![field("a", IndexMode::Contains), field("b", IndexMode::Descending)],
    };
    let indexer = Indexer::new([define(IndexScope::Group), define(IndexScope::Group)]);
    let a = Value::Array(vec![text("x"), text("y")]);
    let document = fields(&[("a", a), ("b", Value::Boolean(true))]);
    let key = key::document(&DocumentPath::parse("c/a").unwrap());
    let mut entries = Vec::new();
    indexer.entries(&key, &codec::encode_fields(&document), &mut entries);
    let index = [b"\x02".as_slice(), &key[..4], &layout::composite(define(IndexScope::Group).id())];
    let composites: Vec<String> = entries
        .iter()
        .filter_map(|entry| entry.key.strip_prefix(index.concat().as_slice()))
        .map(|entry| {
            let (values, rest) = entry.split_at(4);
            let flipped: Vec<u8> = rest.iter().map(|byte| !byte).collect();
            format!("{} {}", show(values), show(&flipped))
        })
        .collect();
    assert_eq!(composites, ["0x. <19><2>c.<2>a.<0>", "0y. <19><2>c.<2>a.<0>"]);

    assert_ne!(indexer.fingerprint(), Indexer::default().fingerprint());
    assert_ne!(define(IndexScope::Group).id(), define(IndexScope::Collection).id());
    let mut counters = Vec::new();
    indexer.counters(&key, &mut counters);
    assert_eq!(counters.len(), 3);
}

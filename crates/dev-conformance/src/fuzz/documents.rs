//! Names of documents and collections, and the documents a session starts from.

use serde_json::{Value, json};

use super::draw::Draw;
use super::values;

/// Paths of documents; few, so that requests meet.
const PATHS: [&str; 10] =
    ["c/1", "c/2", "c/3", "c/4", "c/__id7__", "d/1", "d/2", "c/1/e/1", "c/1/e/2", "c/9/e/1"];

/// The name of a document, rarely of none.
pub(super) fn name(draw: &Draw, docs: &str) -> String {
    if draw.once_in(40) {
        return odd_name(draw, docs);
    }
    format!("{docs}/{}", draw.pick(&PATHS))
}

fn odd_name(draw: &Draw, docs: &str) -> String {
    match draw.below(12) {
        0 => format!("{docs}/c"),
        1 => format!("{docs}/c/1/e"),
        2 => docs.to_owned(),
        3 => format!("{docs}/__x__/1"),
        4 => format!("{docs}/c/__x__"),
        5 => format!("{docs}/c/__id0__"),
        6 => format!("{docs}/c/{}", "i".repeat(1_499 + draw.below(3))),
        7 => format!("{docs}/{}/1", "i".repeat(1_499 + draw.below(3))),
        8 => format!("{docs}/c/."),
        9 => format!("{docs}/c/\u{e9} %2F"),
        10 => format!("{docs}{}", "/c/1".repeat(99 + draw.below(3))),
        _ => format!("{docs}/c/missing"),
    }
}

/// What a collection can be in.
pub(super) fn parent(draw: &Draw, docs: &str) -> String {
    match draw.below(30) {
        0..=3 => format!("{docs}/c/1"),
        4 => format!("{docs}/c/9"),
        5 => format!("{docs}/c"),
        _ => docs.to_owned(),
    }
}

/// The id of a collection.
pub(super) fn collection(draw: &Draw) -> String {
    match draw.below(40) {
        0 => draw.pick(&["__x__", "a/b", "..", "nobody"]).to_owned(),
        1 => "k".repeat(1_499 + draw.below(3)),
        2..=8 => "e".to_owned(),
        9..=14 => "d".to_owned(),
        _ => "c".to_owned(),
    }
}

/// A commit that writes the documents a session starts from: none of them is refused.
pub(super) fn seed(draw: &Draw, docs: &str) -> Value {
    let small = |draw: &Draw| -> Value {
        let mut fields = serde_json::Map::new();
        let number = |draw: &Draw| json!({"integerValue": draw.below(4).to_string()});
        fields.insert("n".into(), number(draw));
        for name in ["a", "b"] {
            match draw.below(5) {
                0 => {}
                1 => drop(fields.insert(name.into(), json!({"nullValue": null}))),
                2 => drop(fields.insert(name.into(), json!({"doubleValue": "NaN"}))),
                3 => {
                    drop(fields.insert(name.into(), json!({"stringValue": draw.pick(&["a", "b"])})))
                }
                _ => drop(fields.insert(name.into(), number(draw))),
            }
        }
        if draw.once_in(2) {
            let values = draw.some(3, number);
            fields.insert("list".into(), json!({"arrayValue": {"values": values}}));
        }
        if draw.once_in(2) {
            fields.insert("m".into(), json!({"mapValue": {"fields": {"n": number(draw)}}}));
        }
        let numbers: Vec<Value> =
            (0..2).map(|_| json!({"doubleValue": 1.0 + draw.below(9) as f64 / 2.0})).collect();
        if draw.once_in(2) {
            fields.insert(
                "v".into(),
                json!({"mapValue": {"fields": {
                    "__type__": {"stringValue": "__vector__"},
                    "value": {"arrayValue": {"values": numbers}},
                }}}),
            );
        }
        Value::Object(fields)
    };
    let mut writes: Vec<Value> = PATHS
        .iter()
        .map(|path| json!({"update": {"name": format!("{docs}/{path}"), "fields": small(draw)}}))
        .collect();
    for number in 0..draw.below(12) {
        let name = format!("{docs}/{}/x{number}", draw.pick(&["c", "d", "c/1/e", "c/2/e"]));
        writes.push(json!({"update": {"name": name, "fields": small(draw)}}));
    }
    json!({"writes": writes})
}

/// Fields of a document that a write carries.
pub(super) fn fields(draw: &Draw, docs: &str) -> Value {
    Value::Object(values::fields(draw, docs))
}

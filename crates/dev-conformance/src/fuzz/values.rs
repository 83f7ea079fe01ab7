//! Random values, fields and field paths: mostly those that documents hold, some that none may hold.

use serde_json::{Map, Value, json};

use super::draw::Draw;

/// The names of fields; few, so that requests meet what is stored.
const NAMES: [&str; 6] = ["a", "b", "n", "s", "list", "m"];

/// A value to store or to compare with.
pub(super) fn value(draw: &Draw, docs: &str) -> Value {
    nested(draw, docs, 2)
}

fn nested(draw: &Draw, docs: &str, depth: usize) -> Value {
    let kinds = if depth == 0 { 18 } else { 24 };
    match draw.below(kinds) {
        0 => json!({"nullValue": null}),
        1 => json!({"booleanValue": draw.once_in(2)}),
        2..=5 => json!({"integerValue": (draw.below(7) as i64 - 2).to_string()}),
        6 => {
            json!({"integerValue": draw.pick(&["9223372036854775807", "-9223372036854775808", "9007199254740993", "2147483648"])})
        }
        7..=8 => {
            json!({"doubleValue": draw.pick(&[&json!(0.5), &json!(1.0), &json!(2.0), &json!(-1.5), &json!(1e300), &json!(5e-324)])})
        }
        9 => json!({"doubleValue": draw.pick(&["NaN", "Infinity", "-Infinity"])}),
        10..=12 => {
            json!({"stringValue": draw.pick(&["", "a", "b", "ab", "x", "\u{e9}", "\u{1f600}", "\u{ffee}"])})
        }
        13 => {
            json!({"timestampValue": draw.pick(&["2020-01-01T00:00:00Z", "1969-12-31T23:59:59.5Z", "2020-01-01T00:00:00.123456789Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999Z"])})
        }
        14 => json!({"bytesValue": draw.pick(&["", "AA==", "AAE=", "/w=="])}),
        15 => {
            json!({"geoPointValue": {"latitude": draw.below(3) as i64 - 1, "longitude": draw.below(3) as i64 - 1}})
        }
        16 => {
            json!({"referenceValue": format!("{docs}/{}", draw.pick(&["c/1", "c/2", "d/1", "c/1/e/1"]))})
        }
        17 => odd(draw, docs),
        18..=20 => {
            let values = draw.some(3, |draw| element(draw, docs, depth - 1));
            json!({"arrayValue": {"values": values}})
        }
        21..=22 => json!({"mapValue": {"fields": some_fields(draw, docs, depth - 1)}}),
        _ => vector(draw),
    }
}

/// A value that most arrays may hold.
fn element(draw: &Draw, docs: &str, depth: usize) -> Value {
    match nested(draw, docs, depth) {
        array if array.get("arrayValue").is_some() && !draw.once_in(20) => {
            json!({"integerValue": "1"})
        }
        other => other,
    }
}

/// A value that is refused, or nearly so.
fn odd(draw: &Draw, docs: &str) -> Value {
    match draw.below(24) {
        0 => json!({}),
        1 => json!({"geoPointValue": {"latitude": 90.5, "longitude": 0}}),
        2 => json!({"geoPointValue": {"latitude": -90, "longitude": 180}}),
        3 => json!({"geoPointValue": {}}),
        4 => json!({"referenceValue": format!("{docs}/c")}),
        5 => {
            json!({"referenceValue": draw.pick(&["", "foo", "projects/p", "projects/other/databases/(default)/documents/c/1"])})
        }
        6 => json!({"arrayValue": {"values": [{"arrayValue": {}}]}}),
        7 => json!({"mapValue": {"fields": {"__x__": {"integerValue": "1"}}}}),
        8 => json!({"mapValue": {"fields": {"": {"integerValue": "1"}}}}),
        9 => json!({"mapValue": {"fields": {"__type__": {"stringValue": "__vector__"}}}}),
        10 => {
            json!({"mapValue": {"fields": {"__type__": {"stringValue": "x"}, "value": {"arrayValue": {}}}}})
        }
        11 => json!({"mapValue": {"fields": {"__type__": {"integerValue": "1"}}}}),
        12 => json!({"arrayValue": {"values": [vector(draw)]}}),
        13 => (0..18 + draw.below(4)).fold(
            json!({"integerValue": "1"}),
            |inner, _| json!({"mapValue": {"fields": {"m": inner}}}),
        ),
        14 => json!({"stringValue": "x".repeat(1_498 + draw.below(4))}),
        15 => json!({"bytesValue": "A".repeat(4 * (499 + draw.below(3)))}),
        16 => json!({"fieldReferenceValue": "a"}),
        17 => json!({"arrayValue": {}}),
        18 => json!({"mapValue": {}}),
        19 => json!({"stringValue": "\u{0}"}),
        20 => json!({"referenceValue": format!("{docs}/c/__id7__")}),
        21 => json!({"referenceValue": format!("{docs}/c/__x__")}),
        22 => {
            json!({"mapValue": {"fields": {"n".repeat(1_499 + draw.below(4)): {"integerValue": "1"}}}})
        }
        _ => json!({"timestampValue": "2020-01-01T00:00:00.000000001Z"}),
    }
}

/// A vector of two or three dimensions, rarely one that is none.
pub(super) fn vector(draw: &Draw) -> Value {
    let numbers: Vec<Value> = match draw.below(20) {
        0 => Vec::new(),
        1 => vec![json!({"integerValue": "1"}), json!({"doubleValue": 1.0})],
        2 => vec![json!({"doubleValue": "NaN"}), json!({"doubleValue": 1.0})],
        3 => vec![json!({"doubleValue": 0.0}), json!({"doubleValue": 0.0})],
        4 => (0..3).map(|_| json!({"doubleValue": draw.below(5) as f64})).collect(),
        _ => (0..2).map(|_| json!({"doubleValue": 1.0 + draw.below(9) as f64 / 2.0})).collect(),
    };
    json!({"mapValue": {"fields": {
        "__type__": {"stringValue": "__vector__"},
        "value": {"arrayValue": {"values": numbers}},
    }}})
}

/// The fields of a document.
pub(super) fn fields(draw: &Draw, docs: &str) -> Map<String, Value> {
    some_fields(draw, docs, 2)
}

fn some_fields(draw: &Draw, docs: &str, depth: usize) -> Map<String, Value> {
    let mut fields = Map::new();
    for _ in 0..draw.below(5) {
        fields.insert(name(draw), nested(draw, docs, depth));
    }
    fields
}

/// The name of one field, rarely one that no field may have.
fn name(draw: &Draw) -> String {
    if draw.once_in(60) {
        return draw
            .pick(&["", "__x__", "__name__", "a.b", "a`b", "1", "____", "\u{e9}"])
            .to_owned();
    }
    draw.pick(&NAMES).to_owned()
}

/// A field path as requests spell it.
pub(super) fn path(draw: &Draw) -> String {
    match draw.below(30) {
        0..=2 => format!("m.{}", draw.pick(&NAMES)),
        3 => draw.pick(&["", "a..b", ".a", "a.", "a-b", "1a", "a[0]", "*", "`a", "a`"]).to_owned(),
        4 => draw.pick(&["__x__", "m.__x__", "__key__", "a.__name__", "`__x__`"]).to_owned(),
        5 => draw.pick(&["`a`", "`a.b`", "m.`n`", "`a\\`b`", "list.a"]).to_owned(),
        6 => "n".repeat(1_498 + draw.below(3)),
        7 => "v".to_owned(),
        _ => draw.pick(&NAMES).to_owned(),
    }
}

/// A path that queries take, `__name__` among them.
pub(super) fn query_path(draw: &Draw) -> String {
    if draw.once_in(6) { "__name__".to_owned() } else { path(draw) }
}

//! How documents are drawn: every kind of value that can be stored.

use std::collections::BTreeMap;

use base_value::{DocumentPath, Fields, Timestamp, Value, limits};
use proptest::prelude::*;

fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.1]),
        any::<u64>().prop_map(f64::from_bits),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,3}", "[a\u{0}\u{e9}\u{ffee}\u{1f600}.`/]{0,4}", any::<String>()]
}

fn id() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{1,2}", "[a\u{0}\u{e9}\u{1f600} .~\\\\-]{3,5}"]
}

fn reference() -> impl Strategy<Value = String> {
    ("[pq]|e\\.f:g", prop_oneof![Just("(default)".to_owned()), "[de]"], path()).prop_map(
        |(project, database, path)| {
            format!("projects/{project}/databases/{database}/documents/{path}")
        },
    )
}

/// As stored: in whole microseconds.
fn timestamp() -> impl Strategy<Value = Timestamp> {
    let seconds =
        prop_oneof![-2_i64..=2, limits::TIMESTAMP_SECONDS_MIN..=limits::TIMESTAMP_SECONDS_MAX];
    (seconds, 0..1_000_000_i32)
        .prop_map(|(seconds, micros)| Timestamp { seconds, nanos: micros * 1_000 })
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Boolean),
        any::<i64>().prop_map(Value::Integer),
        (-3_i64..=3).prop_map(Value::Integer),
        double().prop_map(Value::Double),
        timestamp().prop_map(Value::Timestamp),
        text().prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..6).prop_map(|bytes| Value::Bytes(bytes.into())),
        reference().prop_map(Value::Reference),
        (double(), double())
            .prop_map(|(latitude, longitude)| Value::GeoPoint { latitude, longitude }),
    ]
}

/// A value of any kind, nested a few levels; arrays hold neither arrays nor vectors.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(5, 32, 4, |inner| {
        let map = prop::collection::btree_map(text(), inner.clone(), 0..4).prop_map(Value::Map);
        let element = prop_oneof![
            leaf(),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(Value::Map)
        ];
        prop_oneof![
            prop::collection::vec(element, 0..4).prop_map(Value::Array),
            prop::collection::vec(double(), 1..4).prop_map(Value::Vector),
            map,
        ]
    })
}

/// Fields of a document.
pub(crate) fn fields() -> impl Strategy<Value = Fields> {
    prop::collection::btree_map(text(), value(), 0..6)
}

/// A document's path of one to three pairs, with numeric ids among the others.
pub(crate) fn path() -> impl Strategy<Value = DocumentPath> {
    let number = prop_oneof![-3_i64..=3, any::<i64>()]
        .prop_filter("zero is not a numeric id", |number| *number != 0)
        .prop_map(|number| format!("__id{number}__"));
    let document = prop_oneof![3 => id(), 1 => number];
    prop::collection::vec((id(), document), 1..4).prop_filter_map("reserved id", |pairs| {
        let pairs: Vec<String> =
            pairs.iter().map(|(left, right)| format!("{left}/{right}")).collect();
        DocumentPath::parse(&pairs.join("/")).ok()
    })
}

/// Documents by path.
pub(crate) fn documents() -> impl Strategy<Value = BTreeMap<DocumentPath, Fields>> {
    prop::collection::btree_map(path(), fields(), 0..8)
}

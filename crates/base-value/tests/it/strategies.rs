//! How values, fields and paths are drawn. Small alphabets, so that equal and near-equal ones meet often.

use base_value::{DocumentPath, Fields, Timestamp, Value, limits};
use proptest::prelude::*;

/// A double of any kind: special ones, small whole ones, any bits.
pub(crate) fn double() -> impl Strategy<Value = f64> {
    prop_oneof![
        prop::sample::select(vec![
            0.0,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MIN_POSITIVE,
            9_007_199_254_740_992.0,
            9_223_372_036_854_775_808.0,
            -9_223_372_036_854_775_808.0,
        ]),
        (-3_i8..=3).prop_map(f64::from),
        any::<u64>().prop_map(f64::from_bits),
    ]
}

/// An integer, often where doubles lose precision.
pub(crate) fn integer() -> impl Strategy<Value = i64> {
    prop_oneof![
        -3_i64..=3,
        (-2_i64..=2).prop_map(|near| (1 << 53) + near),
        prop::sample::select(vec![i64::MIN, i64::MIN + 1, i64::MAX - 1, i64::MAX]),
        any::<i64>(),
    ]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[ab]{0,3}", "[a\u{0}\u{e9}\u{ffee}\u{1f600}]{0,4}", any::<String>()]
}

fn reference() -> impl Strategy<Value = String> {
    ("[pq]", "[de]", document_path()).prop_map(|(project, database, path)| {
        format!("projects/{project}/databases/{database}/documents/{path}")
    })
}

fn timestamp() -> impl Strategy<Value = Timestamp> {
    let seconds =
        prop_oneof![-2_i64..=2, limits::TIMESTAMP_SECONDS_MIN..=limits::TIMESTAMP_SECONDS_MAX,];
    (seconds, prop_oneof![Just(0), 0..1_000_000_000_i32])
        .prop_map(|(seconds, nanos)| Timestamp { seconds, nanos })
}

/// A value of any type, nested a few levels.
pub(crate) fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Boolean),
        integer().prop_map(Value::Integer),
        double().prop_map(Value::Double),
        timestamp().prop_map(Value::Timestamp),
        text().prop_map(Value::String),
        prop::collection::vec(any::<u8>(), 0..4).prop_map(|bytes| Value::Bytes(bytes.into())),
        reference().prop_map(Value::Reference),
        (double(), double())
            .prop_map(|(latitude, longitude)| Value::GeoPoint { latitude, longitude }),
        prop::collection::vec(double(), 0..4).prop_map(Value::Vector),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::btree_map(text(), inner, 0..4).prop_map(Value::Map),
        ]
    })
}

/// Fields of a document.
pub(crate) fn fields() -> impl Strategy<Value = Fields> {
    prop::collection::btree_map(text(), value(), 0..5)
}

/// A document's path of one to four pairs, with numeric ids among the others.
pub(crate) fn document_path() -> impl Strategy<Value = DocumentPath> {
    let collection = prop_oneof!["[ab]{1,2}", "[a\u{0}\u{1}\u{ff}-]{1,3}"];
    let number = prop_oneof![-3_i64..=3, any::<i64>()]
        .prop_filter("zero is not a numeric id", |number| *number != 0)
        .prop_map(|number| format!("__id{number}__"));
    let document = prop_oneof![collection.clone(), number, "[^/.]{1,6}"];
    prop::collection::vec((collection, document), 1..4).prop_filter_map("reserved id", |pairs| {
        let pairs: Vec<String> =
            pairs.iter().map(|(left, right)| format!("{left}/{right}")).collect();
        DocumentPath::parse(&pairs.join("/")).ok()
    })
}

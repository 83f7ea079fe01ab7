//! The order of values, as one list that was observed on the product, and numbers at their edges.

use bytes::Bytes;

use super::*;
use crate::codec::encode_value;
use crate::value::Timestamp;

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn bytes(bytes: &'static [u8]) -> Value {
    Value::Bytes(Bytes::from_static(bytes))
}

fn reference(database: &str, path: &str) -> Value {
    Value::Reference(format!("projects/{database}/documents/{path}"))
}

fn geo(latitude: f64, longitude: f64) -> Value {
    Value::GeoPoint { latitude, longitude }
}

fn timestamp(seconds: i64, nanos: i32) -> Value {
    Value::Timestamp(Timestamp { seconds, nanos })
}

fn map(entries: &[(&str, i64)]) -> Value {
    Value::Map(
        entries.iter().map(|(name, value)| ((*name).to_owned(), Value::Integer(*value))).collect(),
    )
}

/// Groups of equal values, ascending.
fn ascending() -> Vec<Vec<Value>> {
    use Value::{Array, Boolean, Double, Integer, Null, Vector};
    vec![
        vec![Null],
        vec![Boolean(false)],
        vec![Boolean(true)],
        vec![Double(f64::NAN), Double(-f64::NAN)],
        vec![Double(f64::NEG_INFINITY)],
        vec![Double(-9_223_372_036_854_777_856.0)],
        vec![Integer(i64::MIN), Double(-9_223_372_036_854_775_808.0)],
        vec![Integer(i64::MIN + 1)],
        vec![Double(-1.5)],
        vec![Integer(-1), Double(-1.0)],
        vec![Double(-f64::MIN_POSITIVE)],
        vec![Integer(0), Double(0.0), Double(-0.0)],
        vec![Double(f64::MIN_POSITIVE)],
        vec![Integer(1), Double(1.0)],
        vec![Double(1.5)],
        vec![Integer(2)],
        vec![Integer(1 << 53), Double(9_007_199_254_740_992.0)],
        vec![Integer((1 << 53) + 1)],
        vec![Integer((1 << 53) + 2), Double(9_007_199_254_740_994.0)],
        vec![Integer(i64::MAX)],
        vec![Double(9_223_372_036_854_775_808.0)],
        vec![Double(f64::INFINITY)],
        vec![timestamp(-315_619_200, 0)],
        vec![timestamp(-315_619_200, 1_000)],
        vec![timestamp(1_577_836_800, 0)],
        vec![text("")],
        vec![text("A")],
        vec![text("a")],
        vec![text("a\u{0}")],
        vec![text("aa")],
        vec![text("z")],
        vec![text("\u{e9}")],
        vec![text("\u{ffee}")],
        vec![text("\u{1f600}")],
        vec![bytes(b"")],
        vec![bytes(b"\x00")],
        vec![bytes(b"\x01")],
        vec![bytes(b"\x01\x00")],
        vec![bytes(b"\xff")],
        vec![reference("o/databases/z", "a/b")],
        vec![reference("p/databases/(default)", "a/__id-4__")],
        vec![reference("p/databases/(default)", "a/__id3__")],
        vec![reference("p/databases/(default)", "a/__id20__")],
        vec![reference("p/databases/(default)", "a/b")],
        vec![reference("p/databases/(default)", "a/b/c/d")],
        vec![reference("p/databases/(default)", "a/b-")],
        vec![reference("p/databases/(default)", "a-/b")],
        vec![reference("p/databases/aaa", "a/b")],
        vec![geo(-1.0, 9.0)],
        vec![geo(0.0, 0.0), geo(-0.0, -0.0)],
        vec![geo(1.0, 1.0)],
        vec![geo(1.0, 2.0)],
        vec![Array(vec![])],
        vec![Array(vec![Null])],
        vec![Array(vec![Integer(1)]), Array(vec![Double(1.0)])],
        vec![Array(vec![Integer(1), Integer(2)])],
        vec![Array(vec![text("a")])],
        vec![Vector(vec![9.0])],
        vec![Vector(vec![1.0, 1.0])],
        vec![Vector(vec![1.0, 2.0])],
        vec![map(&[])],
        vec![map(&[("a", 1)])],
        vec![map(&[("a", 1), ("b", 0)])],
        vec![map(&[("a", 2)])],
        vec![map(&[("b", 0)])],
    ]
}

#[test]
fn all_pairs_compare_as_listed() {
    let groups = ascending();
    for (left_index, left_group) in groups.iter().enumerate() {
        for (right_index, right_group) in groups.iter().enumerate() {
            for (left, right) in left_group
                .iter()
                .flat_map(|left| right_group.iter().map(move |right| (left, right)))
            {
                let expected = left_index.cmp(&right_index);
                assert_eq!(compare(left, right), expected, "{left:?} {right:?}");
                assert_eq!(equal(left, right), expected.is_eq(), "{left:?} {right:?}");
                let encoded = encode_value(left);
                assert_eq!(
                    compare_encoded(&encoded, right),
                    expected,
                    "{left:?} {right:?} encoded"
                );
            }
        }
    }
}

#[test]
fn classes_agree_with_the_order_and_the_encoding() {
    let values: Vec<Value> = ascending().into_iter().flatten().collect();
    for pair in values.windows(2) {
        assert!(type_class(&pair[0]) <= type_class(&pair[1]), "{pair:?}");
    }
    for value in &values {
        assert_eq!(codec::type_class(&encode_value(value)), Some(type_class(value)), "{value:?}");
        if let Some(scalar) = Scalar::of(value) {
            assert_eq!(scalar.type_class(), type_class(value), "{value:?}");
        }
    }
}

#[test]
fn bytes_that_are_no_value_come_first() {
    assert_eq!(compare_encoded(b"", &Value::Null), Ordering::Less);
    assert_eq!(compare_encoded(b"\xff", &Value::Null), Ordering::Less);
}

#[test]
fn integers_and_doubles_never_convert() {
    for (integer, double, expected) in [
        (0, f64::NAN, Ordering::Greater),
        (i64::MAX, 9_223_372_036_854_774_784.0, Ordering::Greater),
        (i64::MAX, 9_223_372_036_854_775_808.0, Ordering::Less),
        (i64::MIN, -9_223_372_036_854_775_808.0, Ordering::Equal),
        (i64::MIN, -9_223_372_036_854_777_856.0, Ordering::Greater),
        (-1, -1.5, Ordering::Greater),
        (-2, -1.5, Ordering::Less),
        (1, 1.5, Ordering::Less),
        (2, 1.5, Ordering::Greater),
        (0, -0.0, Ordering::Equal),
        (0, f64::from_bits(1), Ordering::Less),
        (0, -f64::from_bits(1), Ordering::Greater),
        (i64::MAX, f64::INFINITY, Ordering::Less),
        (i64::MIN, f64::NEG_INFINITY, Ordering::Greater),
    ] {
        assert_eq!(compare_integer_double(integer, double), expected, "{integer} {double}");
    }
}

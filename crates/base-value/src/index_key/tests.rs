//! Index keys at the edges of numbers and of what is cut.

use super::*;
use crate::order::compare;

fn encode(value: &Value) -> (Vec<u8>, Encoded) {
    let mut out = Vec::new();
    let encoded = push_value(&mut out, value);
    (out, encoded)
}

#[test]
fn numbers_order_exactly() {
    let two_53 = 1_i64 << 53;
    let mut values: Vec<Value> = [i64::MIN, i64::MIN + 1, -two_53 - 3, -two_53 - 1, -two_53, -1, 0]
        .into_iter()
        .chain([1, two_53 - 1, two_53, two_53 + 1, two_53 + 2, i64::MAX - 1, i64::MAX])
        .map(Value::Integer)
        .collect();
    let doubles = [f64::NAN, f64::NEG_INFINITY, f64::INFINITY, -0.0, 0.0, 0.5, 1.0, 1e300, -1e300];
    values.extend(doubles.map(Value::Double));
    values.extend([two_53, two_53 + 2, -two_53, i64::MIN].map(|n| Value::Double(n as f64)));
    values.push(Value::Double(9_223_372_036_854_775_808.0));
    for left in &values {
        for right in &values {
            let ordering = encode(left).0.cmp(&encode(right).0);
            assert_eq!(ordering, compare(left, right), "{left:?} {right:?}");
        }
        let found = number(&encode(left).0, matches!(left, Value::Double(_)));
        let is_same = match (left, found) {
            (Value::Integer(integer), Some(Scalar::Integer(found))) => *integer == found,
            (Value::Double(double), Some(Scalar::Double(found))) => {
                *double == found || (double.is_nan() && found.is_nan())
            }
            _ => false,
        };
        assert!(is_same, "{left:?} {found:?}");
    }
    assert!(number(&encode(&Value::Null).0, false).is_none());
    assert!(number(&encode(&Value::String("x".into())).0, true).is_none());
    assert!(number(&[NUMBER, 1], false).is_none());
}

#[test]
fn long_values_are_cut_and_tie() {
    let text = |length: usize, end: &str| Value::String("a".repeat(length) + end);
    // Tag and end take three bytes.
    let whole = INDEX_VALUE_MAX_BYTES - 3;
    assert_eq!(encode(&text(whole, "")).1, Encoded::Whole);
    assert_eq!(encode(&text(whole, "b")).1, Encoded::Cut);
    let (one, other) = (encode(&text(5_000, "b")), encode(&text(5_000, "c")));
    assert_eq!(one, other);
    assert_eq!(one.0.len(), INDEX_VALUE_MAX_BYTES);
    assert!(encode(&text(whole, "")).0 < one.0);
    assert!(one.0 < encode(&Value::String("b".into())).0);
    for value in [
        Value::Array(vec![Value::Integer(1); 5_000]),
        Value::Vector(vec![1.0; 2_048]),
        Value::Reference("a/".repeat(3_000)),
    ] {
        let (bytes, encoded) = encode(&value);
        assert_eq!((bytes.len(), encoded), (INDEX_VALUE_MAX_BYTES, Encoded::Cut));
        assert_eq!(split(&bytes), Some((INDEX_VALUE_MAX_BYTES, Encoded::Cut)));
    }
}

#[test]
fn what_is_no_encoding_is_not_split() {
    for bytes in [&b""[..], &[0xFF], &[STRING, b'a'], &[STRING, 0, 7], &[MAP, 9], &[NUMBER, 1]] {
        assert_eq!(split(bytes), None, "{bytes:?}");
    }
}

//! Transforms row by row.

use super::*;
use crate::value::Fields;

const I: fn(i64) -> Value = Value::Integer;
const D: fn(f64) -> Value = Value::Double;

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn array(values: &[Value]) -> Value {
    Value::Array(values.to_vec())
}

#[test]
fn increments() {
    let two_to_53 = 1_i64 << 53;
    for (current, operand, expected) in [
        (None, I(5), I(5)),
        (None, D(-0.0), D(-0.0)),
        (Some(Value::Null), I(5), I(5)),
        (Some(text("x")), D(1.5), D(1.5)),
        (Some(I(1)), I(2), I(3)),
        (Some(I(i64::MAX)), I(1), I(i64::MAX)),
        (Some(I(i64::MIN)), I(-1), I(i64::MIN)),
        (Some(I(1)), D(0.5), D(1.5)),
        (Some(I(1)), D(0.0), D(1.0)),
        (Some(D(1.5)), I(1), D(2.5)),
        (Some(I(two_to_53 + 1)), D(0.0), D(9_007_199_254_740_992.0)),
        (Some(D(f64::NAN)), I(1), D(f64::NAN)),
        (Some(D(f64::MAX)), D(f64::MAX), D(f64::INFINITY)),
        (Some(D(f64::INFINITY)), D(f64::NEG_INFINITY), D(f64::NAN)),
    ] {
        assert_eq!(
            increment(current.as_ref(), &operand),
            Ok(expected),
            "{current:?} + {operand:?}"
        );
    }
}

#[test]
fn maxima_and_minima() {
    // Current, operand, maximum, minimum.
    for (current, operand, largest, smallest) in [
        (None, I(5), I(5), I(5)),
        (Some(text("x")), I(5), I(5), I(5)),
        (Some(I(3)), I(5), I(5), I(3)),
        (Some(I(3)), D(2.5), I(3), D(2.5)),
        (Some(I(3)), D(3.0), I(3), I(3)),
        (Some(D(3.0)), I(3), D(3.0), D(3.0)),
        (Some(I(0)), D(-0.0), I(0), I(0)),
        (Some(D(-0.0)), D(0.0), D(-0.0), D(-0.0)),
        (
            Some(I((1 << 53) + 1)),
            D(9_007_199_254_740_992.0),
            I((1 << 53) + 1),
            D(9_007_199_254_740_992.0),
        ),
        (Some(D(f64::NAN)), I(1), D(f64::NAN), D(f64::NAN)),
        (Some(I(1)), D(f64::NAN), D(f64::NAN), D(f64::NAN)),
        (None, D(f64::NAN), D(f64::NAN), D(f64::NAN)),
    ] {
        let context = format!("{current:?} {operand:?}");
        assert_eq!(maximum(current.as_ref(), &operand), Ok(largest), "{context}");
        assert_eq!(minimum(current.as_ref(), &operand), Ok(smallest), "{context}");
    }
}

#[test]
fn operands_must_be_numbers() {
    for operand in [Value::Null, text("1"), Value::Boolean(true), array(&[])] {
        for transform in [increment, maximum, minimum] {
            let error = transform(Some(&I(1)), &operand).unwrap_err();
            assert_eq!(error.to_string(), "Input must be int64 or double.");
        }
    }
}

#[test]
fn array_transforms() {
    let map = |value| Value::Map(Fields::from([("a".to_owned(), value)]));
    // Current, elements, union, remainder.
    for (current, elements, union, remainder) in [
        (None, vec![I(1)], vec![I(1)], vec![]),
        (Some(I(7)), vec![], vec![], vec![]),
        (Some(Value::Vector(vec![1.0])), vec![I(1)], vec![I(1)], vec![]),
        (Some(array(&[I(2), I(1)])), vec![I(3), I(1)], vec![I(2), I(1), I(3)], vec![I(2)]),
        (Some(array(&[I(1)])), vec![D(1.0), D(2.0), I(2)], vec![I(1), D(2.0)], vec![]),
        (Some(array(&[I(1), I(1)])), vec![I(2), I(2)], vec![I(1), I(1), I(2)], vec![I(1), I(1)]),
        (Some(array(&[I(1), I(2), D(1.0)])), vec![I(1)], vec![I(1), I(2), D(1.0)], vec![I(2)]),
        (
            Some(array(&[D(f64::NAN), Value::Null])),
            vec![D(f64::NAN), Value::Null],
            vec![D(f64::NAN), Value::Null],
            vec![],
        ),
        (Some(array(&[D(0.0)])), vec![D(-0.0)], vec![D(0.0)], vec![]),
        (
            Some(array(&[map(I(1))])),
            vec![map(D(1.0)), map(I(2))],
            vec![map(I(1)), map(I(2))],
            vec![],
        ),
        (None, vec![array(&[I(1)])], vec![array(&[I(1)])], vec![]),
    ] {
        let context = format!("{current:?} {elements:?}");
        let current = current.as_ref();
        assert_eq!(append_missing_elements(current, &elements), array(&union), "{context}");
        assert_eq!(remove_all_from_array(current, &elements), array(&remainder), "{context}");
    }
}

//! Index keys order as values do, delimit themselves, and lie within the bounds of their class.

use std::cmp::Ordering;

use base_value::codec::encode_value;
use base_value::index_key::{Encoded, class_bounds, push_encoded, push_value, split};
use base_value::order::{compare, type_class};
use base_value::{Value, limits};
use proptest::prelude::*;

use crate::strategies::value;

fn encode(value: &Value) -> (Vec<u8>, Encoded) {
    let mut out = Vec::new();
    let encoded = push_value(&mut out, value);
    (out, encoded)
}

/// Values that begin alike and go on so long that they are cut, with such that just are not.
fn long_value() -> impl Strategy<Value = Value> {
    let max = limits::INDEX_VALUE_MAX_BYTES;
    let end = prop::collection::vec(prop_oneof![Just(0_u8), Just(b'a'), Just(0xFF)], 0..4);
    let bytes = (max - 8..max + 4, end)
        .prop_map(|(length, end)| Value::Bytes([vec![b'a'; length], end].concat().into()));
    let array = (max / 9 - 2..max / 9 + 2, value()).prop_map(|(length, last)| {
        let mut values = vec![Value::Integer(1); length];
        values.push(last);
        Value::Array(values)
    });
    prop_oneof![bytes, array, value()]
}

fn check(left: &Value, right: &Value) -> Result<(), TestCaseError> {
    let (left_key, left_encoded) = encode(left);
    let (right_key, right_encoded) = encode(right);
    let ordering = left_key.cmp(&right_key);
    if ordering == Ordering::Equal {
        prop_assert_eq!(left_encoded, right_encoded);
    }
    if ordering == Ordering::Equal && left_encoded == Encoded::Cut {
        prop_assert_eq!(left_key.len(), limits::INDEX_VALUE_MAX_BYTES);
    } else {
        prop_assert_eq!(ordering, compare(left, right));
        prop_assert!(ordering.is_eq() || !left_key.starts_with(&right_key));
    }
    Ok(())
}

proptest! {
    #[test]
    fn keys_order_as_values(left in value(), right in value()) {
        check(&left, &right)?;
    }

    #[test]
    fn cut_keys_order_as_values_or_tie(left in long_value(), right in long_value()) {
        check(&left, &right)?;
    }

    #[test]
    fn keys_delimit_themselves(value in long_value(), more in prop::collection::vec(any::<u8>(), 0..8)) {
        let (key, encoded) = encode(&value);
        let followed = [key.clone(), more].concat();
        prop_assert_eq!(split(&followed), Some((key.len(), encoded)));
        let mut from_wire = Vec::new();
        prop_assert_eq!(push_encoded(&mut from_wire, &encode_value(&value)), Some(encoded));
        prop_assert_eq!(from_wire, key);
    }

    #[test]
    fn keys_lie_in_their_class(value in value()) {
        let (start, end) = class_bounds(type_class(&value));
        let (key, _) = encode(&value);
        let first = key.first().copied().unwrap_or_default();
        prop_assert_eq!((start..end).contains(&first), !value.is_nan());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = split(&bytes);
    }
}

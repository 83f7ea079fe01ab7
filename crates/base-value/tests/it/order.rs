//! The order of values is total, and the same on encoded values.

use std::cmp::Ordering;

use base_value::codec::encode_value;
use base_value::order::{compare, compare_encoded, compare_integer_double, equal, type_class};
use proptest::prelude::*;

use crate::strategies::{double, integer, value};

proptest! {
    #[test]
    fn comparing_is_symmetric(left in value(), right in value()) {
        prop_assert_eq!(compare(&left, &left), Ordering::Equal);
        prop_assert_eq!(compare(&left, &right), compare(&right, &left).reverse());
        prop_assert_eq!(equal(&left, &right), compare(&left, &right).is_eq());
        if left == right {
            prop_assert!(equal(&left, &right));
        }
    }

    #[test]
    fn comparing_is_transitive(a in value(), b in value(), c in value()) {
        let mut sorted = [a, b, c];
        sorted.sort_by(compare);
        let [first, middle, last] = &sorted;
        prop_assert!(compare(first, middle).is_le());
        prop_assert!(compare(middle, last).is_le());
        prop_assert!(compare(first, last).is_le());
        prop_assert!(type_class(first) <= type_class(last));
    }

    #[test]
    fn encoded_values_compare_alike(left in value(), right in value()) {
        prop_assert_eq!(compare_encoded(&encode_value(&left), &right), compare(&left, &right));
    }

    /// The doubles next to the integer's own are an independent way to tell on which side it lies.
    #[test]
    fn numbers_compare_exactly(integer in integer(), double in double()) {
        let expected = if double.is_nan() {
            Ordering::Greater
        } else if double >= 1e30 {
            Ordering::Less
        } else if double <= -1e30 {
            Ordering::Greater
        } else {
            let whole = double.floor() as i128;
            match i128::from(integer).cmp(&whole) {
                Ordering::Equal if double > double.floor() => Ordering::Less,
                ordering => ordering,
            }
        };
        prop_assert_eq!(compare_integer_double(integer, double), expected);
    }
}

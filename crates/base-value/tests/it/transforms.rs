//! Array transforms against the plain definition: one comparison of every pair.

use base_value::Value;
use base_value::order::equal;
use base_value::transform::{append_missing_elements, remove_all_from_array};
use proptest::prelude::*;

use crate::strategies::value;

proptest! {
    #[test]
    fn arrays_change_as_defined(
        current in prop::collection::vec(value(), 0..5),
        elements in prop::collection::vec(value(), 0..5),
        shared in prop::collection::vec(value(), 0..3),
    ) {
        let current = [shared.clone(), current].concat();
        let elements = [elements, shared].concat();
        let mut union = current.clone();
        for element in &elements {
            if !union.iter().any(|present| equal(present, element)) {
                union.push(element.clone());
            }
        }
        let mut remainder = current.clone();
        remainder.retain(|present| !elements.iter().any(|element| equal(present, element)));
        let current = Value::Array(current);
        prop_assert_eq!(append_missing_elements(Some(&current), &elements), Value::Array(union));
        prop_assert_eq!(remove_all_from_array(Some(&current), &elements), Value::Array(remainder));
    }
}

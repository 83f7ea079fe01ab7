//! Values as keys of sets: `1` and `1.0` are one of them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use base_value::Value;
use base_value::order;

/// A value, owned or borrowed, in the order of values.
#[derive(Debug)]
pub(crate) struct Ordered<V>(pub(crate) V);

impl<V: Borrow<Value>> Ord for Ordered<V> {
    fn cmp(&self, other: &Self) -> Ordering {
        order::compare(self.0.borrow(), other.0.borrow())
    }
}

impl<V: Borrow<Value>> PartialOrd for Ordered<V> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<V: Borrow<Value>> PartialEq for Ordered<V> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<V: Borrow<Value>> Eq for Ordered<V> {}

/// The values, each once.
pub(super) fn set(values: &[Value]) -> BTreeSet<Ordered<&Value>> {
    values.iter().map(Ordered).collect()
}

/// Whether two of the values are equal.
pub(crate) fn has_twice(values: &[Value]) -> bool {
    set(values).len() < values.len()
}

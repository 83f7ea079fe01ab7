//! What a query implies: its full order, and its filter as a disjunction of conjunctions.

use std::collections::{BTreeSet, HashMap};

use base_value::codec::encode_value;
use base_value::{FieldPath, LimitPolicy, Value};

use crate::error::QueryError;
use crate::filter::elements;
use crate::limits::{DISJUNCTIONS_COUNTED_MAX, DISJUNCTIONS_UNLIMITED_MAX, FILTERS_STATED_MAX};
use crate::model::{CompositeOp, Direction, FieldOp, Filter, Order, Query};

/// The full order of a query: explicit orders, then fields with an inequality, then `more`, then the name.
/// What is added runs as the last explicit order does.
pub(crate) fn full_order(query: &Query, more: &[FieldPath]) -> Vec<Order> {
    let direction = query.order.last().map_or(Direction::Ascending, |order| order.direction);
    let mut orders = query.order.clone();
    let mut add = |field: &FieldPath| {
        if orders.iter().all(|order| order.field != *field) {
            orders.push(Order { field: field.clone(), direction });
        }
    };
    for field in query.filter.iter().flat_map(inequality_fields) {
        if !field.is_name() {
            add(field);
        }
    }
    for field in more {
        add(field);
    }
    add(&FieldPath::name());
    orders
}

/// The fields a filter has an inequality on, in the order of their paths.
pub(crate) fn inequality_fields(filter: &Filter) -> BTreeSet<&FieldPath> {
    let mut fields = BTreeSet::new();
    each_leaf(filter, &mut |leaf| match leaf {
        Filter::Field { field, op, .. } if op.is_inequality() => {
            fields.insert(field);
        }
        Filter::Unary { field, op } if op.is_inequality() => {
            fields.insert(field);
        }
        Filter::Field { .. } | Filter::Unary { .. } | Filter::Composite { .. } => {}
    });
    fields
}

/// Calls `visit` for every filter that is no composite, in the order they are stated.
pub(crate) fn each_leaf<'f>(filter: &'f Filter, visit: &mut impl FnMut(&'f Filter)) {
    match filter {
        Filter::Composite { filters, .. } => {
            for part in filters {
                each_leaf(part, visit);
            }
        }
        Filter::Field { .. } | Filter::Unary { .. } => visit(filter),
    }
}

/// A filter in disjunctive normal form. IN and ARRAY_CONTAINS_ANY are split into their elements, and what
/// is stated twice counts once.
#[derive(Clone, Debug)]
pub struct Disjuncts {
    leaves: Vec<Filter>,
    disjuncts: Conjunctions,
}

/// Conjunctions of leaves, each a sorted list of places in the list of leaves.
type Conjunctions = BTreeSet<Vec<usize>>;

impl Disjuncts {
    /// The form of a validated filter; of no filter, one conjunction of nothing.
    ///
    /// # Errors
    /// A filter with more conjunctions than are counted.
    pub fn of(filter: Option<&Filter>, limits: LimitPolicy) -> Result<Self, QueryError> {
        let mut leaves = Leaves::default();
        let disjuncts = match filter {
            Some(filter) => expand(filter, &mut leaves, counted_max(limits))?,
            None => unconstrained(),
        };
        Ok(Disjuncts { leaves: leaves.list, disjuncts })
    }

    /// How many conjunctions there are.
    pub(crate) fn len(&self) -> usize {
        self.disjuncts.len()
    }

    /// The leaves of every conjunction.
    pub fn iter(&self) -> impl Iterator<Item = impl Iterator<Item = &Filter>> + '_ {
        self.disjuncts
            .iter()
            .map(|disjunct| disjunct.iter().filter_map(|leaf| self.leaves.get(*leaf)))
    }
}

/// How many distinct leaves a filter has once its lists are split. Cheap, also for a filter that has far
/// too many; counting ends a little above [`FILTERS_STATED_MAX`].
pub(crate) fn leaves_len(filter: &Filter) -> usize {
    let mut leaves = Leaves::default();
    let mut stated = 0;
    each_leaf(filter, &mut |leaf| {
        if stated > FILTERS_STATED_MAX {
            return;
        }
        let split = match leaf {
            Filter::Field { field, op: FieldOp::In, value } => Some((field, FieldOp::Equal, value)),
            Filter::Field { field, op: FieldOp::ArrayContainsAny, value } => {
                Some((field, FieldOp::ArrayContains, value))
            }
            Filter::Field { .. } | Filter::Unary { .. } | Filter::Composite { .. } => None,
        };
        stated += split.map_or(1, |(_, _, value)| elements(value).len());
        match split {
            Some((field, op, value)) => {
                for element in elements(value) {
                    leaves.place(Filter::field(field.clone(), op, element.clone()));
                }
            }
            None => {
                leaves.place(leaf.clone());
            }
        }
    });
    if stated > FILTERS_STATED_MAX { stated } else { leaves.list.len() }
}

/// Distinct leaves.
#[derive(Default)]
struct Leaves {
    list: Vec<Filter>,
    places: HashMap<Vec<u8>, usize>,
}

impl Leaves {
    fn place(&mut self, leaf: Filter) -> usize {
        let mut identity = Vec::new();
        match &leaf {
            Filter::Field { field, op, value } => {
                identity.extend_from_slice(op.name().as_bytes());
                identity.extend_from_slice(&encode_value(value));
                identity.push(0);
                identity.extend_from_slice(field.to_string().as_bytes());
            }
            Filter::Unary { .. } | Filter::Composite { .. } => {
                identity.extend_from_slice(format!("{leaf:?}").as_bytes());
            }
        }
        let next = self.list.len();
        let place = *self.places.entry(identity).or_insert(next);
        if place == next {
            self.list.push(leaf);
        }
        place
    }
}

fn unconstrained() -> Conjunctions {
    BTreeSet::from([Vec::new()])
}

/// How many disjuncts a conjunction may multiply into.
fn counted_max(limits: LimitPolicy) -> usize {
    match limits {
        LimitPolicy::Production => DISJUNCTIONS_COUNTED_MAX,
        LimitPolicy::Off => DISJUNCTIONS_UNLIMITED_MAX,
    }
}

fn expand(filter: &Filter, leaves: &mut Leaves, most: usize) -> Result<Conjunctions, QueryError> {
    let mut split = |field: &FieldPath, op: FieldOp, value: &Value| {
        elements(value)
            .iter()
            .map(|element| vec![leaves.place(Filter::field(field.clone(), op, element.clone()))])
            .collect()
    };
    Ok(match filter {
        Filter::Field { field, op: FieldOp::In, value } => split(field, FieldOp::Equal, value),
        Filter::Field { field, op: FieldOp::ArrayContainsAny, value } => {
            split(field, FieldOp::ArrayContains, value)
        }
        Filter::Field { .. } | Filter::Unary { .. } => {
            BTreeSet::from([vec![leaves.place(filter.clone())]])
        }
        Filter::Composite { op: CompositeOp::Or, filters } => {
            let mut union = Conjunctions::new();
            for part in filters {
                union.extend(expand(part, leaves, most)?);
            }
            union
        }
        Filter::Composite { op: CompositeOp::And, filters } => {
            let mut factors: Vec<Conjunctions> = Vec::new();
            for part in filters {
                let factor = expand(part, leaves, most)?;
                if !factors.contains(&factor) {
                    factors.push(factor);
                }
            }
            let mut factors = factors.into_iter();
            let first = factors.next().unwrap_or_else(unconstrained);
            factors.try_fold(first, |product, factor| multiply(&product, &factor, most))?
        }
    })
}

fn multiply(
    left: &Conjunctions,
    right: &Conjunctions,
    most: usize,
) -> Result<Conjunctions, QueryError> {
    if left.len().saturating_mul(right.len()) > most {
        return Err(match most {
            DISJUNCTIONS_COUNTED_MAX => QueryError::DisjunctionsUncounted,
            _ => QueryError::DisjunctionsUnlimited,
        });
    }
    let pairs = left.iter().flat_map(|left| right.iter().map(move |right| (left, right)));
    let joined = pairs.map(|(left, right)| {
        let leaves: BTreeSet<usize> = left.iter().chain(right).copied().collect();
        leaves.into_iter().collect()
    });
    Ok(joined.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::UnaryOp;

    fn path(path: &str) -> FieldPath {
        FieldPath::parse(path).unwrap()
    }

    fn is(field: &str, op: FieldOp, value: Value) -> Filter {
        Filter::field(path(field), op, value)
    }

    fn equal(field: &str, integer: i64) -> Filter {
        is(field, FieldOp::Equal, Value::Integer(integer))
    }

    fn list(field: &str, op: FieldOp, integers: &[i64]) -> Filter {
        let values = integers.iter().map(|integer| Value::Integer(*integer)).collect();
        is(field, op, Value::Array(values))
    }

    /// A leaf as `a EQUAL 1`.
    fn show(leaf: &Filter) -> String {
        match leaf {
            Filter::Field { field, op, value: Value::Integer(value) } => {
                format!("{field} {} {value}", op.name())
            }
            Filter::Field { field, op, .. } => format!("{field} {} ...", op.name()),
            Filter::Unary { field, op } => format!("{field} {op:?}"),
            Filter::Composite { .. } => panic!("no leaf"),
        }
    }

    #[track_caller]
    fn check(filter: Option<Filter>, expected: &[&str]) {
        let disjuncts = Disjuncts::of(filter.as_ref(), LimitPolicy::Production).unwrap();
        let mut shown: Vec<String> = disjuncts
            .iter()
            .map(|leaves| leaves.map(show).collect::<Vec<_>>().join(" & "))
            .collect();
        shown.sort();
        assert_eq!(shown, expected);
        assert_eq!(disjuncts.len(), expected.len());
        let mut leaves: Vec<&str> = expected
            .iter()
            .flat_map(|one| one.split(" & "))
            .filter(|leaf| !leaf.is_empty())
            .collect();
        leaves.sort_unstable();
        leaves.dedup();
        assert_eq!(filter.as_ref().map_or(0, leaves_len), leaves.len());
    }

    #[test]
    fn disjuncts_are_all_ways_to_match() {
        use FieldOp::{ArrayContainsAny, In, NotIn};
        check(None, &[""]);
        check(Some(Filter::and([])), &[""]);
        check(Some(equal("a", 1)), &["a EQUAL 1"]);
        check(Some(list("a", In, &[1, 2, 1])), &["a EQUAL 1", "a EQUAL 2"]);
        check(Some(list("a", ArrayContainsAny, &[1, 2])), {
            &["a ARRAY_CONTAINS 1", "a ARRAY_CONTAINS 2"]
        });
        check(Some(list("a", NotIn, &[1, 2])), &["a NOT_IN ..."]);
        check(
            Some(Filter::and([list("a", In, &[1, 2]), list("b", In, &[3, 4])])),
            &[
                "a EQUAL 1 & b EQUAL 3",
                "a EQUAL 1 & b EQUAL 4",
                "a EQUAL 2 & b EQUAL 3",
                "a EQUAL 2 & b EQUAL 4",
            ],
        );
        check(
            Some(Filter::and([
                equal("a", 1),
                Filter::or([Filter::unary(path("b"), UnaryOp::IsNull), equal("a", 1)]),
            ])),
            &["a EQUAL 1", "a EQUAL 1 & b IsNull"],
        );
        check(Some(Filter::or([Filter::and([]), equal("a", 1)])), &["", "a EQUAL 1"]);
    }

    #[test]
    fn a_product_is_counted_only_so_far() {
        let nine: Vec<i64> = (0..9).collect();
        let lists = ["a", "b"].map(|field| list(field, FieldOp::In, &nine));
        let error = Disjuncts::of(Some(&Filter::and(lists)), LimitPolicy::Production).unwrap_err();
        assert_eq!(error, QueryError::DisjunctionsUncounted);
    }
}

//! What of a pipeline a query can answer: conditions and an order directly behind the source, and how many.
//!
//! A condition that is handed over never keeps a row away that the pipeline would keep. Where it may keep one
//! too many, the `where` stays in place behind it.

use base_value::order::{TypeClass, type_class};
use base_value::{FieldPath, Value};
use engine_query::{Direction, FieldOp, Filter, Order, Query, UnaryOp};

use crate::budget::weight;
use crate::expression::{Expression, Reference, has_twice};
use crate::limits::{
    PUSHED_CONDITIONS_MAX, PUSHED_FILTERS_MAX, PUSHED_VALUE_MAX_BYTES, PUSHED_VALUES_MAX,
};
use crate::row::Variables;
use crate::stages::Stage;

/// A query, and which stages it takes over.
pub(crate) struct Candidate {
    pub(crate) query: Query,
    pub(crate) taken: Vec<bool>,
}

/// What a `where` says that a query can say too.
#[derive(Default)]
struct Conditions {
    filters: Vec<Filter>,
    /// Fields that are there, by `exists`.
    exists: Vec<FieldPath>,
    /// Whether this is all that it says.
    exact: bool,
}

/// The queries that answer most, and least, of the stages; the best first. The product refuses some.
pub(crate) fn candidates(base: &Query, stages: &[Stage], variables: &Variables) -> Vec<Candidate> {
    let mut all = Conditions { exact: true, ..Conditions::default() };
    let mut reader = Reader { variables, filters_left: PUSHED_FILTERS_MAX };
    let mut wheres = 0;
    while let Some(Stage::Where(condition)) = stages.get(wheres) {
        all.add(condition, &mut reader);
        wheres += 1;
    }
    let order = match stages.get(wheres) {
        Some(Stage::Sort(keys)) => sorted(keys, &all),
        _ => None,
    };
    let mut candidates = Vec::new();
    if let Some(order) = order {
        candidates.push(all.candidate(base, stages, wheres, Some(order)));
    }
    if !all.filters.is_empty() || !matches!(stages.get(wheres), Some(Stage::Sort(_))) {
        candidates.push(all.candidate(base, stages, wheres, None));
    }
    candidates
}

impl Conditions {
    fn candidate(
        &self,
        base: &Query,
        stages: &[Stage],
        wheres: usize,
        order: Option<Vec<Order>>,
    ) -> Candidate {
        let mut query = base.clone();
        let mut taken = vec![false; stages.len()];
        let mut place = wheres;
        let has_order = order.is_some();
        query.order = order.unwrap_or_default();
        if !self.filters.is_empty() {
            query.filter = Some(Filter::and(self.filters.clone()));
        }
        let is_there = |field: &FieldPath| {
            self.filters_on(field) || query.order.iter().any(|order| order.field == *field)
        };
        let exact = self.exact && self.exists.iter().all(is_there);
        if has_order {
            taken.iter_mut().skip(place).take(1).for_each(|taken| *taken = true);
            place += 1;
        }
        if exact {
            taken.iter_mut().take(wheres).for_each(|taken| *taken = true);
            if let Some(Stage::Offset(offset)) = stages.get(place)
                && let Ok(offset) = u32::try_from(*offset)
            {
                query.offset = offset;
                taken.iter_mut().skip(place).take(1).for_each(|taken| *taken = true);
                place += 1;
            }
            if let Some(Stage::Limit(limit)) = stages.get(place)
                && let Ok(limit) = u32::try_from(*limit)
            {
                query.limit = Some(limit);
                taken.iter_mut().skip(place).take(1).for_each(|taken| *taken = true);
            }
        }
        Candidate { query, taken }
    }

    /// Whether only documents that have the field can pass.
    fn filters_on(&self, wanted: &FieldPath) -> bool {
        self.filters.iter().any(|filter| match filter {
            Filter::Field { field, .. } | Filter::Unary { field, .. } => field == wanted,
            Filter::Composite { .. } => false,
        })
    }

    fn add(&mut self, condition: &Expression, reader: &mut Reader<'_>) {
        match condition.as_function() {
            // What is left out here, the rows are asked for.
            _ if self.filters.len() + self.exists.len() >= PUSHED_CONDITIONS_MAX => {
                self.exact = false;
            }
            Some(("and", parts)) => {
                for part in parts {
                    self.add(part, reader);
                }
            }
            Some(("exists", [Expression::Field(Reference::Path(field))])) => {
                self.exists.push(field.clone());
            }
            // Every document has a name.
            Some(("exists", [Expression::Field(Reference::Name)])) => {}
            Some((name, args)) => match reader.filter(name, args) {
                Some(filter) => self.filters.push(filter),
                None => self.exact = false,
            },
            None => self.exact = false,
        }
    }
}

/// The order of a query, where it is one that no document falls out of.
fn sorted(keys: &[crate::stages::Key], conditions: &Conditions) -> Option<Vec<Order>> {
    if keys.len() > PUSHED_VALUES_MAX {
        return None;
    }
    keys.iter()
        .map(|key| {
            let direction =
                if key.descending { Direction::Descending } else { Direction::Ascending };
            match &key.expression {
                Expression::Field(Reference::Name) => {
                    Some(Order { field: FieldPath::name(), direction })
                }
                Expression::Field(Reference::Path(field))
                    if conditions.filters_on(field) || conditions.exists.contains(field) =>
                {
                    Some(Order { field: field.clone(), direction })
                }
                _ => None,
            }
        })
        .collect()
}

/// Reads conditions as filters, as many as are left.
struct Reader<'v> {
    variables: &'v Variables,
    filters_left: usize,
}

impl Reader<'_> {
    /// The filter that says exactly what a function says of a field and a constant.
    fn filter(&mut self, name: &str, args: &[Expression]) -> Option<Filter> {
        if name == "or" {
            return self.any(args);
        }
        self.filters_left = self.filters_left.checked_sub(1)?;
        let [left, right] = args else { return None };
        let (field, value, flipped) = match (field(left), field(right)) {
            (Some(field), None) => (field, constant(right, self.variables)?, false),
            (None, Some(field)) => (field, constant(left, self.variables)?, true),
            _ => return None,
        };
        let op = match (name, flipped) {
            ("equal", _) if fits(value) => return equal(field, value),
            ("less_than", false) | ("greater_than", true) => FieldOp::LessThan,
            ("less_than_or_equal", false) | ("greater_than_or_equal", true) => {
                FieldOp::LessThanOrEqual
            }
            ("greater_than", false) | ("less_than", true) => FieldOp::GreaterThan,
            ("greater_than_or_equal", false) | ("less_than_or_equal", true) => {
                FieldOp::GreaterThanOrEqual
            }
            ("array_contains", false) => FieldOp::ArrayContains,
            ("array_contains_any", false) => FieldOp::ArrayContainsAny,
            ("equal_any", false) => FieldOp::In,
            _ => return None,
        };
        says(op, value).then(|| Filter::field(field, op, value.clone()))
    }

    fn any(&mut self, args: &[Expression]) -> Option<Filter> {
        let parts: Option<Vec<Filter>> = args
            .iter()
            .map(|arg| {
                let (name, args) = arg.as_function()?;
                if name != "and" {
                    return self.filter(name, args);
                }
                let mut inner = Conditions { exact: true, ..Conditions::default() };
                inner.add(arg, self);
                let whole = inner.exact && inner.exists.iter().all(|it| inner.filters_on(it));
                (whole && !inner.filters.is_empty()).then(|| Filter::and(inner.filters))
            })
            .collect();
        parts.map(Filter::or)
    }
}

/// Whether a filter of this operator says the same of this value as the function does.
fn says(op: FieldOp, value: &Value) -> bool {
    let is_plain = |value: &Value| !matches!(value, Value::Null) && !value.is_nan() && fits(value);
    match op {
        FieldOp::In | FieldOp::ArrayContainsAny => match value {
            // The length first: what is long may be very long.
            Value::Array(values) if (1..=PUSHED_VALUES_MAX).contains(&values.len()) => {
                let is_one = |it: &Value| {
                    is_plain(it) && (op == FieldOp::In || type_class(it) != TypeClass::Array)
                };
                values.iter().all(is_one) && !has_twice(values)
            }
            _ => false,
        },
        FieldOp::ArrayContains => is_plain(value) && type_class(value) != TypeClass::Array,
        _ => is_plain(value),
    }
}

/// Whether a value is small enough for a query, about.
fn fits(value: &Value) -> bool {
    weight(value) <= PUSHED_VALUE_MAX_BYTES
}

/// In a query null and NaN equal nothing: it has tests of their own for them.
fn equal(field: FieldPath, value: &Value) -> Option<Filter> {
    Some(match value {
        Value::Null if field.is_name() => return None,
        Value::Null => Filter::unary(field, UnaryOp::IsNull),
        value if value.is_nan() => Filter::unary(field, UnaryOp::IsNan),
        value => Filter::field(field, FieldOp::Equal, value.clone()),
    })
}

fn field(expression: &Expression) -> Option<FieldPath> {
    match expression {
        Expression::Field(Reference::Path(path)) => Some(path.clone()),
        Expression::Field(Reference::Name) => Some(FieldPath::name()),
        _ => None,
    }
}

/// A value that is the same for every row of the source.
fn constant<'v>(expression: &'v Expression, variables: &'v Variables) -> Option<&'v Value> {
    match expression {
        Expression::Constant(value) => Some(value),
        Expression::Variable(name) => variables.get(name)?.as_ref(),
        _ => None,
    }
}

//! A query as rules see it: the paths it ranges over, what its filter says of fields, and `request.query`.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_value::{DatabaseName, Value as Stored};
use engine_query::{Direction, Disjuncts, FieldOp, Filter, From, Query, UnaryOp};
use engine_rules::{Branch, Comparison, FieldConstraint, Map, Part, Path, Shared, Value};

use super::guard::map;
use crate::error::Error;

static NULL: Stored = Stored::Null;
static NAN: Stored = Stored::Double(f64::NAN);

/// A query with its filter as alternatives.
pub(super) struct Asked<'q> {
    query: &'q Query,
    alternatives: Disjuncts,
}

impl<'q> Asked<'q> {
    /// # Errors
    /// A filter with too many alternatives.
    pub(super) fn new(query: &'q Query) -> Result<Self, Error> {
        let alternatives = Disjuncts::of(query.filter.as_ref(), query.limits)?;
        Ok(Asked { query, alternatives })
    }

    /// Whether it ranges over more than one collection.
    pub(super) fn is_group(&self) -> bool {
        !matches!(self.query.from, From::Collection(_))
    }

    pub(super) fn domain<'s>(&'s self, database: &'s DatabaseName) -> Vec<Part<'s>> {
        let parent = self.query.parent.segments();
        let head = ["databases", &*database.database, "documents"].into_iter().chain(parent);
        let mut domain: Vec<_> = head.map(Part::Name).collect();
        match &self.query.from {
            From::Collection(id) => domain.extend([Part::Name(id), Part::One]),
            From::Group(id) => domain.extend([Part::Many, Part::Name(id), Part::One]),
            From::Children => domain.extend([Part::One, Part::One]),
            From::Descendants => domain.extend([Part::Many, Part::One, Part::One]),
        }
        domain
    }

    /// The path of the collection; of a group the path it lies below.
    pub(super) fn path<'s>(&'s self, database: &'s DatabaseName) -> Vec<&'s str> {
        let mut path = vec!["databases", &*database.database, "documents"];
        path.extend(self.query.parent.segments());
        if let From::Collection(id) = &self.query.from {
            path.push(id);
        }
        path
    }

    pub(super) fn branches(&self) -> Vec<Branch<'_>> {
        self.alternatives.iter().map(branch).collect()
    }
}

fn branch<'f>(leaves: impl Iterator<Item = &'f Filter>) -> Branch<'f> {
    let mut branch = Branch::default();
    for leaf in leaves {
        match leaf {
            Filter::Field { field, op: FieldOp::Equal, value: Stored::Reference(name) }
                if field.is_name() =>
            {
                branch.name = Some(relative(name));
            }
            Filter::Field { field, .. } | Filter::Unary { field, .. } if field.is_name() => {}
            Filter::Field { field, op: FieldOp::NotIn, value: Stored::Array(values) } => {
                for value in values {
                    let comparison = Comparison::NotEqual;
                    branch.fields.push(FieldConstraint {
                        field: field.segments(),
                        comparison,
                        value,
                    });
                }
            }
            Filter::Field { field, op, value } => {
                if let Some(comparison) = comparison(*op) {
                    branch.fields.push(FieldConstraint {
                        field: field.segments(),
                        comparison,
                        value,
                    });
                }
            }
            Filter::Unary { field, op } => {
                let (comparison, value) = match op {
                    UnaryOp::IsNull => (Comparison::Equal, &NULL),
                    UnaryOp::IsNan => (Comparison::Equal, &NAN),
                    UnaryOp::IsNotNull => (Comparison::NotEqual, &NULL),
                    UnaryOp::IsNotNan => (Comparison::NotEqual, &NAN),
                };
                branch.fields.push(FieldConstraint { field: field.segments(), comparison, value });
            }
            // Alternatives hold no filters of several.
            Filter::Composite { .. } => {}
        }
    }
    branch
}

/// The segments of a document's whole name from `databases` on.
fn relative(name: &str) -> Vec<&str> {
    name.split('/').skip(2).collect()
}

fn comparison(op: FieldOp) -> Option<Comparison> {
    match op {
        FieldOp::LessThan => Some(Comparison::Less),
        FieldOp::LessThanOrEqual => Some(Comparison::LessOrEqual),
        FieldOp::GreaterThan => Some(Comparison::Greater),
        FieldOp::GreaterThanOrEqual => Some(Comparison::GreaterOrEqual),
        FieldOp::Equal => Some(Comparison::Equal),
        FieldOp::NotEqual => Some(Comparison::NotEqual),
        FieldOp::ArrayContains => Some(Comparison::Contains),
        // Those of several values are split, or say nothing that one comparison could.
        FieldOp::In | FieldOp::ArrayContainsAny | FieldOp::NotIn => None,
    }
}

/// `request.query`
pub(super) fn stated<'q>(query: &'q Query, database: &'q DatabaseName) -> Value<'q> {
    let number = |number: u32| Value::Int(i64::from(number));
    let order = query.order.iter().map(|order| {
        let direction = match order.direction {
            Direction::Ascending => "ASC",
            Direction::Descending => "DESC",
        };
        let field = Shared::Owned(Arc::from(order.field.to_string()));
        (field, Value::String(Shared::Borrowed(direction)))
    });
    let order: BTreeMap<Shared<'q, str>, Value<'q>> = order.collect();
    let (kind, is_group) = match &query.from {
        From::Collection(id) => (Value::String(Shared::Borrowed(id)), false),
        From::Group(id) => (Value::String(Shared::Borrowed(id)), true),
        From::Children => (Value::Null, false),
        From::Descendants => (Value::Null, true),
    };
    let parent = match query.parent.as_resource().is_empty() {
        true => Value::Null,
        false => {
            let head = ["databases", &*database.database, "documents"].into_iter();
            let names: Vec<_> = head.chain(query.parent.segments()).collect();
            Value::Path(Path::of(&names))
        }
    };
    map([
        ("limit", query.limit.map_or(Value::Null, number)),
        ("offset", number(query.offset)),
        ("orderBy", Value::Map(Map::Made(Arc::new(order)))),
        ("kind", kind),
        (if is_group { "ancestor" } else { "parent" }, parent),
        ("allDescendants", Value::Bool(is_group)),
        ("distinct", Value::Bool(false)),
        ("selectOnlyKeys", Value::Bool(false)),
        ("groupBy", map([])),
    ])
}

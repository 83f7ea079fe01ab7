//! How a query gets at its documents. Every plan names a superset of the result in the order of names; the
//! filter, the order and the cursors are asked of each document whatever the plan, so that the answer never
//! depends on it.

use base_value::{DatabaseName, key};
use bytes::Bytes;
use engine_store::Snapshot;

use crate::error::QueryError;
use crate::model::{Direction, FieldOp, Filter};
use crate::name_key;
use crate::normalize::Disjuncts;
use crate::scope::{NameBounds, Scope, Walk, Walked};
use crate::sort::{Position, Sort};

/// A way to get at the documents of a query.
#[derive(Clone, Debug)]
pub(crate) enum Plan {
    /// Documents of these keys, which are in order of names.
    Lookup(Vec<Bytes>),
    /// Documents in scope whose names lie within bounds.
    Scan(NameBounds),
}

impl Default for Plan {
    /// The plan that serves every query.
    fn default() -> Self {
        Plan::Scan(NameBounds::default())
    }
}

impl Plan {
    /// The plans that can serve a query, the cheapest first and the one that serves every query last.
    pub(crate) fn candidates(
        disjuncts: &Disjuncts,
        sort: &Sort,
        cursors: (Option<&Position>, Option<&Position>),
        database: &DatabaseName,
    ) -> Result<Vec<Self>, QueryError> {
        let mut plans = Vec::new();
        if let Some(keys) = lookup_keys(disjuncts, database)? {
            plans.push(Plan::Lookup(keys));
        }
        let bounds = scan_bounds(disjuncts, sort, cursors, database)?;
        if bounds != NameBounds::default() {
            plans.push(Plan::Scan(bounds));
        }
        plans.push(Plan::default());
        Ok(plans)
    }

    /// Whether [`Plan::walk`] can run that way.
    pub(crate) fn runs(&self, scope: &Scope, direction: Direction) -> bool {
        match self {
            Plan::Lookup(_) => true,
            Plan::Scan(_) => scope.runs(direction),
        }
    }

    /// The plan's documents in order of names; that order descends only where [`Plan::runs`] says so.
    pub(crate) fn walk<'s, W: Walked<'s>>(
        &'s self,
        scope: &'s Scope,
        snapshot: &'s Snapshot,
        direction: Direction,
    ) -> Walk<'s, W> {
        match self {
            Plan::Scan(bounds) => scope.walk(snapshot, bounds, direction),
            Plan::Lookup(keys) => {
                let look_up = move |key: &'s Bytes| {
                    scope.contains(key).then(|| W::find(snapshot, key)).flatten()
                };
                match direction {
                    Direction::Ascending => Box::new(keys.iter().filter_map(look_up)),
                    Direction::Descending => Box::new(keys.iter().rev().filter_map(look_up)),
                }
            }
        }
    }
}

/// The keys of all documents that can match, where every disjunct says which one it wants.
fn lookup_keys(
    disjuncts: &Disjuncts,
    database: &DatabaseName,
) -> Result<Option<Vec<Bytes>>, QueryError> {
    let mut keys = Vec::with_capacity(disjuncts.len());
    for mut disjunct in disjuncts.iter() {
        let wanted = disjunct.find_map(|leaf| match leaf {
            Filter::Field { field, op: FieldOp::Equal, value } if field.is_name() => Some(value),
            Filter::Field { .. } | Filter::Unary { .. } | Filter::Composite { .. } => None,
        });
        let Some(value) = wanted else { return Ok(None) };
        keys.push(key::document(&name_key::operand_path(value, database)?));
    }
    keys.sort_by(|left, right| name_key::of_key(left).cmp(name_key::of_key(right)));
    keys.dedup();
    Ok(Some(keys))
}

/// The least bounds that all disjuncts fit in, narrowed by cursors where those are names.
fn scan_bounds(
    disjuncts: &Disjuncts,
    sort: &Sort,
    cursors: (Option<&Position>, Option<&Position>),
    database: &DatabaseName,
) -> Result<NameBounds, QueryError> {
    let mut union: Option<NameBounds> = None;
    for disjunct in disjuncts.iter() {
        let mut bounds = NameBounds::default();
        for leaf in disjunct {
            if let Filter::Field { field, op, value } = leaf
                && field.is_name()
            {
                bounds.narrow(*op, value, database)?;
            }
        }
        union = Some(match union {
            None => bounds,
            Some(union) => union.cover(bounds),
        });
    }
    let mut bounds = union.unwrap_or_default();
    bounds.narrow_by_cursors(sort, cursors);
    Ok(bounds)
}

impl NameBounds {
    /// Leaves out what is before the start or behind the end, where those are names.
    pub(crate) fn narrow_by_cursors(
        &mut self,
        sort: &Sort,
        (start, end): (Option<&Position>, Option<&Position>),
    ) {
        if !sort.fields.is_empty() {
            return;
        }
        for (position, is_start) in [(start, true), (end, false)] {
            let Some(Position { name: Some(name), before, .. }) = position else { continue };
            // The position lies before or after its document, in the direction of the order.
            let ascending = sort.name == Direction::Ascending;
            let edge = if *before == ascending { name.clone() } else { name_key::after(name) };
            if is_start == ascending {
                self.start_at(edge);
            } else {
                self.end_at(edge);
            }
        }
    }

    fn cover(self, other: NameBounds) -> NameBounds {
        NameBounds {
            start: self.start.zip(other.start).map(|(one, two)| one.min(two)),
            end: self.end.zip(other.end).map(|(one, two)| one.max(two)),
        }
    }
}

#[cfg(test)]
mod tests {
    use base_value::{DocumentPath, FieldPath, Value};

    use super::*;
    use crate::document::FieldTable;
    use crate::model::{Cursor, From, Query};
    use crate::normalize::full_order;

    fn database() -> DatabaseName {
        DatabaseName::new("p", "d")
    }

    fn reference(path: &str) -> Value {
        Value::Reference(format!("{}/documents/{path}", database()))
    }

    fn name(op: FieldOp, value: Value) -> Filter {
        Filter::field(FieldPath::name(), op, value)
    }

    fn query(filter: Option<Filter>) -> Query {
        let from = From::Collection("c".to_owned());
        Query { filter, ..Query::new(base_value::ParentPath::root(), from) }
    }

    /// Candidate plans: looked-up names, or bounds with the end of an open side left out.
    fn show(query: &Query) -> Vec<String> {
        let mut table = FieldTable::default();
        let sort = Sort::compile(&full_order(query, &[]), &mut table);
        let position = |cursor: &Option<Cursor>| {
            let cursor = cursor.as_ref()?;
            Some(Position::compile(cursor, &sort, &database()).unwrap())
        };
        let (start, end) = (position(&query.start), position(&query.end));
        let disjuncts = Disjuncts::of(query.filter.as_ref(), query.limits).unwrap();
        let cursors = (start.as_ref(), end.as_ref());
        let plans = Plan::candidates(&disjuncts, &sort, cursors, &database()).unwrap();
        plans.iter().map(show_plan).collect()
    }

    fn show_plan(plan: &Plan) -> String {
        let edge = |edge: &Option<Bytes>| {
            let Some(edge) = edge else { return String::new() };
            for path in ["c/a", "c/b", "c/d"] {
                let name = name_key::of_path(&DocumentPath::parse(path).unwrap());
                if *edge == name {
                    return path.to_owned();
                }
                if *edge == name_key::after(&name) {
                    return format!("{path}+");
                }
            }
            panic!("an edge nobody stated")
        };
        match plan {
            Plan::Scan(bounds) => format!("{}..{}", edge(&bounds.start), edge(&bounds.end)),
            Plan::Lookup(keys) => {
                let paths: Vec<String> =
                    keys.iter().map(|key| key::parse(key).unwrap().to_string()).collect();
                paths.join(" ")
            }
        }
    }

    #[track_caller]
    fn check(query: Query, expected: &[&str]) {
        assert_eq!(show(&query), expected);
    }

    #[test]
    fn names_narrow_what_is_read() {
        use FieldOp::{Equal, GreaterThan, GreaterThanOrEqual, In, LessThan, LessThanOrEqual};
        let x = || Filter::field(FieldPath::single("x"), Equal, Value::Integer(1));
        let this = |path| name(Equal, reference(path));
        check(query(None), &[".."]);
        check(query(Some(x())), &[".."]);
        check(query(Some(this("c/a"))), &["c/a", "c/a..c/a+", ".."]);
        let list = Value::Array(vec![reference("c/d"), reference("c/a"), reference("c/d")]);
        check(query(Some(name(In, list.clone()))), &["c/a c/d", "c/a..c/d+", ".."]);
        check(query(Some(Filter::and([x(), name(In, list)]))), &["c/a c/d", "c/a..c/d+", ".."]);
        check(
            query(Some(Filter::or([this("c/b"), Filter::and([x(), this("c/a")])]))),
            &["c/a c/b", "c/a..c/b+", ".."],
        );
        check(query(Some(Filter::or([x(), this("c/a")]))), &[".."]);
        let between =
            |low, high| Filter::and([name(low, reference("c/a")), name(high, reference("c/d"))]);
        check(query(Some(between(GreaterThan, LessThan))), &["c/a+..c/d", ".."]);
        check(query(Some(between(GreaterThanOrEqual, LessThanOrEqual))), &["c/a..c/d+", ".."]);
        check(
            query(Some(Filter::or([
                name(GreaterThan, reference("c/d")),
                name(GreaterThan, reference("c/b")),
            ]))),
            &["c/b+..", ".."],
        );
    }

    #[test]
    fn cursors_at_names_narrow_what_is_read() {
        let at = |path, before| Some(Cursor { values: vec![reference(path)], before });
        let order = |direction| vec![crate::model::Order { field: FieldPath::name(), direction }];
        let up =
            |start, end| Query { order: order(Direction::Ascending), start, end, ..query(None) };
        let down =
            |start, end| Query { order: order(Direction::Descending), start, end, ..query(None) };
        check(up(at("c/a", true), at("c/d", true)), &["c/a..c/d", ".."]);
        check(up(at("c/a", false), at("c/d", false)), &["c/a+..c/d+", ".."]);
        check(down(at("c/d", true), at("c/a", true)), &["c/a+..c/d+", ".."]);
        check(down(at("c/d", false), at("c/a", false)), &["c/a..c/d", ".."]);
    }
}

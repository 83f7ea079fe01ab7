//! What production wants for queries, as recorded there, and what satisfies it.

use base_value::{ParentPath, Value};

use super::*;
use crate::model::{DistanceMeasure, FindNearest, Order};
use crate::required::{DeclaredIndex, FieldOverride};

fn path(text: &str) -> FieldPath {
    FieldPath::parse(text).unwrap()
}

/// `a>` is by value, `a<` against it, `a*` by elements, `a~` as a vector.
fn field(text: &str) -> RequiredField {
    let (name, way) = text.split_at(text.len() - 1);
    match way {
        ">" => RequiredField::Ordered(path(name), Direction::Ascending),
        "<" => RequiredField::Ordered(path(name), Direction::Descending),
        "*" => RequiredField::Contains(path(name)),
        "~" => RequiredField::Vector(path(name), 1),
        other => panic!("no way: {other}"),
    }
}

fn show_field(field: &RequiredField) -> String {
    match field {
        RequiredField::Ordered(path, Direction::Ascending) => format!("{path}>"),
        RequiredField::Ordered(path, Direction::Descending) => format!("{path}<"),
        RequiredField::Contains(path) => format!("{path}*"),
        RequiredField::Vector(path, _) => format!("{path}~"),
    }
}

fn show(required: &RequiredIndex) -> String {
    match required {
        RequiredIndex::Composite { fields, .. } => {
            fields.iter().map(show_field).collect::<Vec<_>>().join(" ")
        }
        RequiredIndex::Single { field, mode, scope, .. } => format!("{field} {mode:?} {scope:?}"),
    }
}

/// A query: parts are `a==`, `a>=`, `a has` (array-contains), `a null`, `a in`, `by a`, `by a desc`, `sum a`,
/// `near a`, `group`.
fn read(text: &str) -> (Query, Vec<FieldPath>) {
    let mut query = Query::new(ParentPath::root(), From::Collection("c".to_owned()));
    let mut filters = Vec::new();
    let mut sums = Vec::new();
    let one = || Value::Integer(1);
    for part in text.split(", ").filter(|part| !part.is_empty()) {
        if part == "group" {
            query.from = From::Group("c".to_owned());
        } else if let Some(field) = part.strip_prefix("by ") {
            let (field, direction) = match field.strip_suffix(" desc") {
                Some(field) => (field, Direction::Descending),
                None => (field, Direction::Ascending),
            };
            query.order.push(Order { field: path(field), direction });
        } else if let Some(field) = part.strip_prefix("sum ") {
            sums.push(path(field));
        } else if let Some(field) = part.strip_prefix("near ") {
            query.nearest = Some(FindNearest {
                field: path(field),
                query_vector: Value::Vector(vec![1.0]),
                measure: DistanceMeasure::Euclidean,
                limit: 1,
                distance_result_field: None,
                distance_threshold: None,
            });
        } else if let Some(field) = part.strip_suffix(" null") {
            filters.push(Filter::unary(path(field), UnaryOp::IsNull));
        } else if let Some(field) = part.strip_suffix(" has") {
            filters.push(Filter::field(path(field), FieldOp::ArrayContains, one()));
        } else if let Some(field) = part.strip_suffix(" in") {
            let list = Value::Array(vec![one(), Value::Integer(2)]);
            filters.push(Filter::field(path(field), FieldOp::In, list));
        } else {
            let (field, op) = part.split_at(part.len() - 2);
            let op = match op {
                "==" => FieldOp::Equal,
                ">=" => FieldOp::GreaterThanOrEqual,
                "!=" => FieldOp::NotEqual,
                other => panic!("no operator: {other}"),
            };
            filters.push(Filter::field(path(field), op, one()));
        }
    }
    query.filter = (!filters.is_empty()).then(|| Filter::and(filters));
    (query, sums)
}

fn declared(scope: IndexScope, indexes: &[&str]) -> Declared {
    let indexes = indexes.iter().map(|fields| DeclaredIndex {
        collection_id: "c".to_owned(),
        scope,
        fields: fields.split(' ').map(field).collect(),
    });
    Declared { indexes: indexes.collect(), overrides: Vec::new() }
}

#[track_caller]
fn check(query: &str, given: &Declared, expected: &[&str]) {
    let (stated, sums) = read(query);
    let required = required_indexes(&stated, &sums, given).unwrap();
    assert_eq!(required.iter().map(show).collect::<Vec<_>>(), expected, "{query}");
}

#[test]
fn what_single_field_indexes_serve_needs_nothing_else() {
    let none = Declared::default();
    for query in [
        "",
        "a==",
        "a==, b==",
        "a in, b==",
        "tags has",
        "tags has, a==",
        "a>=",
        "a!=",
        "by a",
        "by a desc",
        "a>=, by a",
        "a>=, by a desc",
        "a==, by a",
        "by __name__",
        "m.b==",
        "a null, b==",
        "a==, b==, by __name__ desc",
        "tags has, by __name__ desc",
        "tags has, a==, by __name__ desc",
        "a==, __name__>=",
        "a==, tags has, __name__>=",
        "__name__>=",
        "__name__==",
        "__name__>=, by __name__",
        "a!=, by a desc",
        "sum a",
        "group",
    ] {
        check(query, &none, &[]);
    }
}

#[test]
fn what_they_do_not_serve_needs_a_composite_index() {
    let none = Declared::default();
    check("by __name__ desc", &none, &["__name__<"]);
    check("__name__>=, by __name__ desc", &none, &["__name__<"]);
    check("__name__==, by __name__ desc", &none, &["__name__<"]);
    check("a null, by b", &none, &["a> b> __name__>"]);
    check("by a, sum b", &none, &["a> b> __name__>"]);
    check("by a desc, sum b", &none, &["a< b< __name__<"]);
    check("a==, by b, by c desc", &none, &["a> b> c< __name__<"]);
    check("by a desc, by __name__", &none, &["a< __name__>"]);
    check("by a, by b", &none, &["a> b> __name__>"]);
    check("by a, by b desc", &none, &["a> b< __name__<"]);
    check("a==, b>=", &none, &["a> b> __name__>"]);
    check("a==, by b desc", &none, &["a> b< __name__<"]);
    check("a in, by b", &none, &["a> b> __name__>"]);
    check("tags has, by b", &none, &["tags* b> __name__>"]);
    check("tags has, a==, b>=", &none, &["a> tags* b> __name__>"]);
    check("a>=, b>=", &none, &["a> b> __name__>"]);
    check("a==, sum b", &none, &["a> b> __name__>"]);
    check("near v", &none, &["v~"]);
    check("a==, near v", &none, &["a> v~"]);
}

#[test]
fn groups_have_no_index_by_themselves() {
    let none = Declared::default();
    check("group, a==", &none, &["a Ascending Group"]);
    check("group, by a desc", &none, &["a Descending Group"]);
    check("group, tags has", &none, &["tags Contains Group"]);
    check("group, a==, b==", &none, &["a> b> __name__>"]);
    let exception = FieldOverride {
        collection_id: "c".to_owned(),
        field: Some(path("a")),
        indexes: vec![(IndexScope::Group, IndexMode::Ascending)],
    };
    let given = Declared { indexes: Vec::new(), overrides: vec![exception] };
    check("group, a==", &given, &[]);
    check("group, by a desc", &given, &["a Descending Group"]);
    // An exception takes the place of all that is automatic.
    check("a==", &given, &["a Ascending Collection"]);
    check("a.b==", &given, &["a.b Ascending Collection"]);
    check("b==", &given, &[]);
}

#[test]
fn declared_indexes_serve_what_they_fit() {
    let given = |indexes: &[&str]| declared(IndexScope::Collection, indexes);
    check("a==, b>=", &given(&["a> b>"]), &[]);
    check("a==, b>=", &given(&["a< b>"]), &[]);
    check("a==, by b desc", &given(&["a> b>"]), &["a> b< __name__<"]);
    check("a==, by b desc", &given(&["a> b<"]), &[]);
    check("a==, by b desc", &given(&["a> b< __name__>"]), &["a> b< __name__<"]);
    check("a==, by b desc, by __name__", &given(&["a> b< __name__>"]), &[]);
    check("by a, by b", &given(&["a> b>"]), &[]);
    check("by b, by a", &given(&["a> b>"]), &["b> a> __name__>"]);
    check("by __name__ desc", &given(&["__name__<"]), &[]);
    // Indexes that end in the same order are merged.
    check("a==, b==, by c desc", &given(&["a> c<", "b> c<"]), &[]);
    check("a==, b==, by c desc", &given(&["a> c<", "b> c>"]), &["a> b> c< __name__<"]);
    // One with a field more than the query fixes lacks documents.
    check("a==, by c", &given(&["a> b> c>"]), &["a> c> __name__>"]);
    check("tags has, by c", &given(&["tags* c>"]), &[]);
    check("tags has, by c", &given(&["tags> c>"]), &["tags* c> __name__>"]);
    check("a==, by b", &declared(IndexScope::Group, &["a> b>"]), &["a> b> __name__>"]);
    check("group, a==, by b", &declared(IndexScope::Group, &["a> b>"]), &[]);
    check("near v", &given(&["v~"]), &[]);
    check("a==, near v", &given(&["v~"]), &["a> v~"]);
    check("a==, near v", &given(&["a> v~"]), &[]);
}

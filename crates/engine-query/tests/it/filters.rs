//! Every operator, on every kind of value.

use base_value::Value;
use engine_query::{FieldOp, Filter, Query, UnaryOp};
use engine_store::Snapshot;

use crate::support::*;

/// Documents of one field `v`; `missing` has it not.
fn documents() -> Snapshot {
    snapshot([
        ("c/array", fields([("v", array([int(1), text("x"), Value::Null]))])),
        ("c/empty", fields([("v", array([]))])),
        ("c/false", fields([("v", Value::Boolean(false))])),
        ("c/map", fields([("v", map([("k", int(1))]))])),
        ("c/missing", fields([])),
        ("c/nan", fields([("v", double(f64::NAN))])),
        ("c/null", fields([("v", Value::Null)])),
        ("c/one", fields([("v", int(1))])),
        ("c/oned", fields([("v", double(1.0))])),
        ("c/time", fields([("v", time(7))])),
        ("c/two", fields([("v", int(2))])),
        ("c/vec", fields([("v", vector([1.0, 2.0]))])),
        ("c/x", fields([("v", text("x"))])),
    ])
}

#[track_caller]
fn check(filter: Filter, expected: &str) {
    // Sorted by name, so that the order an inequality implies does not matter.
    let query = Query { filter: Some(filter.clone()), ..query() };
    let result = ids(query, &documents());
    let mut result: Vec<&str> = result.split_whitespace().collect();
    result.sort_unstable();
    assert_eq!(result.join(" "), expected, "{filter:?}");
}

#[test]
fn equality() {
    check(equal("v", int(1)), "one oned");
    check(equal("v", double(2.0)), "two");
    check(equal("v", text("x")), "x");
    check(equal("v", time(7)), "time");
    check(equal("v", map([("k", double(1.0))])), "map");
    check(equal("v", array([double(1.0), text("x"), Value::Null])), "array");
    check(equal("v", vector([1.0, 2.0])), "vec");
    check(equal("v.k", int(1)), "map");
    check(equal("v", Value::Null), "");
    check(equal("v", double(f64::NAN)), "");
}

#[test]
fn inequality() {
    let not = |value| is("v", FieldOp::NotEqual, value);
    check(not(int(1)), "array empty false map nan time two vec x");
    check(not(double(f64::NAN)), "array empty false map nan one oned time two vec x");
    check(not(Value::Null), "");
}

#[test]
fn ranges_stay_in_their_type() {
    use FieldOp::{GreaterThan, GreaterThanOrEqual, LessThan, LessThanOrEqual};
    check(is("v", GreaterThan, int(1)), "two");
    check(is("v", GreaterThanOrEqual, double(1.0)), "one oned two");
    check(is("v", LessThan, int(2)), "one oned");
    check(is("v", LessThanOrEqual, double(f64::INFINITY)), "one oned two");
    check(is("v", GreaterThanOrEqual, text("")), "x");
    check(is("v", GreaterThanOrEqual, array([])), "array empty");
    check(is("v", GreaterThan, array([])), "array");
    check(is("v", LessThan, map([("l", int(0))])), "map");
    check(is("v", LessThan, vector([1.0, 3.0])), "vec");
    check(is("v", LessThan, time(8)), "time");
    check(is("v", GreaterThanOrEqual, Value::Boolean(false)), "false");
    for op in [LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual] {
        check(is("v", op, Value::Null), "");
        check(is("v", op, double(f64::NAN)), "");
    }
}

#[test]
fn lists() {
    let any = |values| is("v", FieldOp::In, Value::Array(values));
    check(any(vec![int(1), double(1.0), text("x")]), "one oned x");
    check(any(vec![Value::Null, double(f64::NAN), int(2)]), "two");
    check(any(vec![Value::Null]), "");
    check(any(vec![array([])]), "empty");
    let none = |values| is("v", FieldOp::NotIn, Value::Array(values));
    check(none(vec![int(1), text("x")]), "array empty false map nan time two vec");
    check(none(vec![int(1), double(f64::NAN)]), "array empty false map nan time two vec x");
    check(none(vec![int(1), Value::Null]), "");
}

#[test]
fn array_membership() {
    let contains = |value| is("v", FieldOp::ArrayContains, value);
    check(contains(double(1.0)), "array");
    check(contains(text("x")), "array");
    check(contains(text("y")), "");
    check(contains(Value::Null), "");
    check(contains(double(f64::NAN)), "");
    check(contains(array([int(1)])), "");
    let any = |values| is("v", FieldOp::ArrayContainsAny, Value::Array(values));
    check(any(vec![text("y"), text("x")]), "array");
    check(any(vec![Value::Null, double(f64::NAN)]), "");
}

#[test]
fn an_array_inside_of_an_array_is_never_found() {
    let nested = snapshot([("c/a", fields([("v", array([array([int(1)])]))]))]);
    let contains = is("v", FieldOp::ArrayContains, array([int(1)]));
    assert_eq!(ids(Query { filter: Some(contains), ..query() }, &nested), "");
    let whole = equal("v", array([array([int(1)])]));
    assert_eq!(ids(Query { filter: Some(whole), ..query() }, &nested), "a");
}

#[test]
fn unary_operators() {
    check(unary("v", UnaryOp::IsNull), "null");
    check(unary("v", UnaryOp::IsNan), "nan");
    check(unary("v", UnaryOp::IsNotNull), "array empty false map nan one oned time two vec x");
    check(unary("v", UnaryOp::IsNotNan), "array empty false map one oned time two vec x");
}

#[test]
fn composites_nest() {
    let one = || equal("v", int(1));
    let x = || equal("v", text("x"));
    check(Filter::and([]), "array empty false map missing nan null one oned time two vec x");
    check(Filter::and([one(), x()]), "");
    check(Filter::or([one(), x(), one()]), "one oned x");
    check(Filter::or([Filter::and([one(), x()]), equal("v", int(2))]), "two");
    check(Filter::and([Filter::or([one(), x()]), Filter::or([x(), equal("v", int(2))])]), "x");
    check(
        Filter::or([Filter::and([]), one()]),
        "array empty false map missing nan null one oned time two vec x",
    );
}

#[test]
fn names() {
    use FieldOp::{Equal, GreaterThan, In, LessThanOrEqual, NotEqual, NotIn};
    let name = |op, value| is("__name__", op, value);
    check(name(Equal, reference("c/one")), "one");
    check(name(Equal, reference("c/none")), "");
    check(name(Equal, reference("c/one/c/one")), "");
    check(name(Equal, reference("d/one")), "");
    check(name(In, array([reference("c/x"), reference("c/one"), reference("c/x")])), "one x");
    check(name(NotIn, array([reference("c/x"), reference("c/one")])), {
        "array empty false map missing nan null oned time two vec"
    });
    check(name(NotEqual, reference("c/x")), {
        "array empty false map missing nan null one oned time two vec"
    });
    check(name(GreaterThan, reference("c/two")), "vec x");
    check(name(GreaterThan, reference("c/two/c/a")), "vec x");
    check(name(LessThanOrEqual, reference("c/empty")), "array empty");
    check(name(LessThanOrEqual, reference("a/z")), "");
    check(name(GreaterThan, reference("b/z/c/x")), {
        "array empty false map missing nan null one oned time two vec x"
    });
    check(Filter::and([name(GreaterThan, reference("c/f")), equal("v", int(1))]), "one oned");
    check(Filter::or([name(Equal, reference("c/x")), equal("v", int(1))]), "one oned x");
}

/// known-bugs.md B013: missing and null values match neither `!=` nor `not-in`.
#[test]
fn negations_never_match_what_is_not_there() {
    let documents = snapshot([
        ("c/1", fields([("foo", int(1))])),
        ("c/2", fields([("foo", int(2))])),
        ("c/3", fields([("foo", int(3))])),
        ("c/4", fields([("foo", Value::Null)])),
        ("c/5", fields([])),
    ]);
    let not_two = is("foo", FieldOp::NotEqual, int(2));
    assert_eq!(ids(Query { filter: Some(not_two), ..query() }, &documents), "1 3");
    let neither = is("foo", FieldOp::NotIn, array([int(1), int(2)]));
    assert_eq!(ids(Query { filter: Some(neither), ..query() }, &documents), "3");
}

//! Orders, cursors, offsets and limits.

use base_value::Value;
use engine_query::{FieldOp, Filter, Query, UnaryOp};
use engine_store::Snapshot;

use crate::support::*;

fn documents() -> Snapshot {
    snapshot([
        ("c/a", fields([("n", int(2)), ("k", int(1))])),
        ("c/b", fields([("n", int(1)), ("k", int(1))])),
        ("c/d", fields([("n", int(1)), ("k", int(2))])),
        ("c/e", fields([("n", text("x")), ("k", int(1))])),
        ("c/f", fields([("n", Value::Null)])),
        ("c/g", fields([("k", int(0))])),
    ])
}

#[track_caller]
fn check(query: Query, expected: &str) {
    assert_eq!(ids(query, &documents()), expected);
}

#[test]
fn documents_without_an_order_field_are_left_out() {
    check(Query { order: orders(["n"]), ..query() }, "f b d a e");
    check(Query { order: orders(["-n"]), ..query() }, "e a d b f");
    check(Query { order: orders(["n", "-__name__"]), ..query() }, "f d b a e");
    check(Query { order: orders(["k", "n"]), ..query() }, "b a e d");
    check(Query { order: orders(["-k", "n"]), ..query() }, "d b a e");
    check(Query { order: orders(["n.x"]), ..query() }, "");
}

#[test]
fn inequalities_imply_orders() {
    let range = |field| is(field, FieldOp::GreaterThan, int(0));
    check(Query { filter: Some(range("n")), ..query() }, "b d a");
    check(Query { filter: Some(range("k")), order: orders(["-n"]), ..query() }, "e a d b");
    // The implied order runs as the last explicit one does: among equal `k`, `n` descends here.
    check(Query { filter: Some(range("n")), order: orders(["-k"]), ..query() }, "d a b");
    let both = Filter::and([range("n"), range("k")]);
    check(Query { filter: Some(both), ..query() }, "b a d");
    let either = Filter::or([equal("k", int(1)), unary("n", UnaryOp::IsNotNull)]);
    check(Query { filter: Some(either), ..query() }, "b d a e");
}

#[test]
fn cursors_cut_the_order() {
    let by_n = |start, end| Query { order: orders(["n"]), start, end, ..query() };
    check(by_n(cursor(true, [int(1)]), None), "b d a e");
    check(by_n(cursor(false, [int(1)]), None), "a e");
    check(by_n(None, cursor(true, [int(2)])), "f b d");
    check(by_n(None, cursor(false, [int(2)])), "f b d a");
    check(by_n(cursor(true, [text("")]), None), "e");
    check(by_n(cursor(true, [Value::Null]), cursor(false, [Value::Null])), "f");
    check(by_n(cursor(true, []), None), "f b d a e");
    check(by_n(cursor(false, []), None), "");
    check(by_n(None, cursor(true, [])), "");
    check(by_n(None, cursor(false, [])), "f b d a e");
    let down = |start| Query { order: orders(["-n"]), start, ..query() };
    check(down(cursor(true, [int(1)])), "d b f");
    check(down(cursor(false, [int(1)])), "f");
    let two = |start| Query { order: orders(["n", "-k"]), start, ..query() };
    check(two(cursor(false, [int(1), int(2)])), "b a e");
    check(two(cursor(false, [int(1)])), "a e");
}

#[test]
fn cursors_at_names() {
    let up = |start, end| Query { order: orders(["__name__"]), start, end, ..query() };
    let at = |path: &str| reference(path);
    check(up(cursor(true, [at("c/b")]), None), "b d e f g");
    check(up(cursor(false, [at("c/b")]), None), "d e f g");
    check(up(cursor(false, [at("c/b/x/y")]), None), "d e f g");
    check(up(None, cursor(true, [at("c/d")])), "a b");
    check(up(None, cursor(false, [at("c/d")])), "a b d");
    check(up(cursor(true, [at("b/z")]), cursor(true, [at("d/a")])), "a b d e f g");
    let down = |start, end| Query { order: orders(["-__name__"]), start, end, ..query() };
    check(down(cursor(true, [at("c/d")]), None), "d b a");
    check(down(cursor(false, [at("c/d")]), None), "b a");
    check(down(None, cursor(true, [at("c/d")])), "g f e");
    check(down(None, cursor(false, [at("c/d")])), "g f e d");
    let second = |before| Query {
        order: orders(["n", "__name__"]),
        start: cursor(before, [int(1), at("c/b")]),
        ..query()
    };
    check(second(true), "b d a e");
    check(second(false), "d a e");
}

/// known-bugs.md B016: the page after the last document seen starts behind it.
#[test]
fn pages_follow_one_another() {
    let documents = documents();
    let mut seen = Vec::new();
    let mut start = None;
    loop {
        let page = Query { order: orders(["n", "__name__"]), start, limit: Some(2), ..query() };
        let prepared = prepare(page).unwrap();
        let rows: Vec<_> = prepared.run(&documents).collect();
        let Some(last) = rows.last() else { break };
        let fields = base_value::codec::decode_fields(&last.record.value).unwrap();
        start = cursor(false, [fields["n"].clone(), reference(last.path.as_str())]);
        seen.extend(rows.iter().map(|row| row.path.id().to_owned()));
    }
    assert_eq!(seen.join(" "), "f b d a e");
}

#[test]
fn offset_and_limit() {
    #[track_caller]
    fn check(query: Query, expected: &str, skipped: usize) {
        let prepared = prepare(query).unwrap();
        let documents = documents();
        let mut rows = prepared.run(&documents);
        let ids: Vec<String> = rows.by_ref().map(|row| row.path.id().to_owned()).collect();
        assert_eq!(ids.join(" "), expected);
        assert_eq!(rows.skipped(), skipped);
    }
    let by_name = |offset, limit| Query { offset, limit, ..query() };
    check(by_name(0, Some(2)), "a b", 0);
    check(by_name(2, Some(2)), "d e", 2);
    check(by_name(4, None), "f g", 4);
    check(by_name(9, None), "", 6);
    check(by_name(0, Some(0)), "", 0);
    let by_n = |offset, limit| Query { order: orders(["-n"]), offset, limit, ..query() };
    check(by_n(0, Some(2)), "e a", 0);
    check(by_n(1, Some(2)), "a d", 1);
    check(by_n(3, None), "b f", 3);
    check(by_n(9, Some(1)), "", 5);
    check(by_n(2, Some(0)), "", 0);
    check(by_n(0, Some(u32::MAX)), "e a d b f", 0);
}

#[test]
fn the_full_order_is_shown() {
    #[track_caller]
    fn check(query: Query, expected: &str) {
        let prepared = prepare(query).unwrap();
        let orders: Vec<String> = prepared
            .order()
            .iter()
            .map(|order| format!("{} {:?}", order.field, order.direction))
            .collect();
        assert_eq!(orders.join(", "), expected);
    }
    let range = |field| is(field, FieldOp::LessThan, int(9));
    check(query(), "__name__ Ascending");
    check(Query { order: orders(["-n"]), ..query() }, "n Descending, __name__ Descending");
    check(
        Query {
            order: orders(["k", "-z"]),
            filter: Some(Filter::and([range("b"), range("a.x"), range("z"), range("a")])),
            ..query()
        },
        "k Ascending, z Descending, a Descending, a.x Descending, b Descending, \
         __name__ Descending",
    );
    check(
        Query { filter: Some(is("__name__", FieldOp::LessThan, reference("c/x"))), ..query() },
        "__name__ Ascending",
    );
}

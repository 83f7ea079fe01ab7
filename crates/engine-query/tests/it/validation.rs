//! What is refused, with the product's texts and codes.

use base_value::Value;
use engine_query::{ErrorKind, FieldOp, Filter, From, Query, QueryError, UnaryOp};

use crate::support::*;

#[track_caller]
fn check(query: Query, expected: &str) {
    check_kind(query, ErrorKind::InvalidArgument, expected);
}

#[track_caller]
fn check_kind(query: Query, kind: ErrorKind, expected: &str) {
    let error = prepare(query).expect_err("must be refused");
    assert_eq!((error.to_string().as_str(), error.kind()), (expected, kind));
}

#[track_caller]
fn accept(query: Query) {
    prepare(query).expect("must be accepted");
}

fn filtered(filter: Filter) -> Query {
    Query { filter: Some(filter), ..query() }
}

fn numbers(count: i64) -> Value {
    Value::Array((0..count).map(int).collect())
}

fn one_of(field: &str, count: i64) -> Filter {
    is(field, FieldOp::In, numbers(count))
}

fn foreign() -> Value {
    Value::Reference("projects/zz/databases/(default)/documents/c/a".to_owned())
}

fn greater(field: &str) -> Filter {
    is(field, FieldOp::GreaterThan, int(0))
}

/// Texts for what the model cannot express; requests are decoded elsewhere.
#[test]
fn shapes_only_a_decoder_meets() {
    #[track_caller]
    fn check(error: QueryError, expected: &str) {
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, ErrorKind::InvalidArgument)
        );
    }
    check(QueryError::UnknownFieldOperator, "Unknown FieldFilter operator.");
    check(QueryError::UnknownCompositeOperator, "Unsupported CompositeFilter operator.");
    check(QueryError::UnknownUnaryOperator, "Unknown UnaryFilter operator.");
    check(QueryError::UnknownFilter, "Unknown Filter type.");
    check(QueryError::UnsetValue, "Cannot convert firestore.v1.Value with type unset.");
    check(QueryError::NoQuery, "only structured queries are supported");
    check(QueryError::NoAggregationQuery, "Only structured aggregation queries are supported.");
    check(QueryError::UnknownAggregation, "Operator field in Aggregation is not set.");
    check(QueryError::UnknownDistanceMeasure, "Unknown Distance Measure.");
    check(
        QueryError::ManySelectors,
        "StructuredQuery.from cannot have more than one collection selector.",
    );
    check(Query::checked_limit(-1).unwrap_err(), "limit is negative");
    check(Query::checked_offset(-1).unwrap_err(), "offset is negative");
    assert_eq!((Query::checked_limit(3), Query::checked_offset(0)), (Ok(3), Ok(0)));
}

#[test]
fn selectors() {
    #[track_caller]
    fn check(id: &str, all_descendants: bool, expected: From) {
        assert_eq!(From::selector(id, all_descendants), expected);
    }
    check("c", false, From::Collection("c".into()));
    check("c", true, From::Group("c".into()));
    check("", false, From::Children);
    check("", true, From::Descendants);
}

#[test]
fn collection_ids() {
    #[track_caller]
    fn check_id(id: &str, expected: &str) {
        check(Query::new(parent(""), From::Collection(id.into())), expected);
        check(Query::new(parent(""), From::Group(id.into())), expected);
    }
    check_id("a/b", "Collection id \"a/b\" is invalid because it contains \"/\".");
    check_id("__x__", "Collection id \"__x__\" is invalid because it is reserved.");
    check_id("__id5__", "Collection id \"__id5__\" is invalid because it is reserved.");
    check_id(".", "Collection id \".\" is invalid because it is reserved.");
    check_id("..", "Collection id \"..\" is invalid because it is reserved.");
    check_id(&"x".repeat(1501), "The query kind is longer than 1500 bytes.");
    accept(Query::new(parent(""), From::Group("x".repeat(1500))));
}

#[test]
fn lists_of_values() {
    for (op, name, limit) in [
        (FieldOp::In, "IN", 30),
        (FieldOp::ArrayContainsAny, "ARRAY_CONTAINS_ANY", 30),
        (FieldOp::NotIn, "NOT_IN", 10),
    ] {
        check(filtered(is("a", op, int(1))), &format!("'{name}' requires an ArrayValue."));
        check(
            filtered(is("a", op, numbers(0))),
            &format!("'{name}' requires an non-empty ArrayValue."),
        );
        check(
            filtered(is("a", op, numbers(limit + 1))),
            &format!("'{name}' supports up to {limit} comparison values."),
        );
        accept(filtered(is("a", op, numbers(limit))));
    }
    check(filtered(is("__name__", FieldOp::In, reference("c/a"))), "'IN' requires an ArrayValue.");
}

#[test]
fn composites() {
    check(filtered(Filter::or([])), "Composite filter must have at least one sub-filter.");
    check(
        filtered(Filter::and([Filter::or([]), equal("a", int(1))])),
        "Composite filter must have at least one sub-filter.",
    );
    accept(filtered(Filter::and([])));
    let deep = |levels| (0..levels).fold(equal("a", int(1)), |inner, _| Filter::and([inner]));
    accept(filtered(deep(99)));
    check(filtered(deep(100)), "filters are nested more than 100 levels deep");
}

#[test]
fn disjunctions() {
    let exactly = |count| {
        format!(
            "Too many disjunctions after normalization. Result had {count} disjunctions which is \
             more than the maximum of 30"
        )
    };
    let many = "Too many disjunctions after normalization, the maximum is 30";
    let alternatives =
        |count| Filter::or((0..count).map(|n| equal("a", int(n))).collect::<Vec<_>>());
    accept(filtered(alternatives(30)));
    accept(filtered(Filter::and([one_of("a", 5), one_of("b", 6)])));
    check(filtered(alternatives(31)), &exactly(31));
    check(filtered(alternatives(99)), &exactly(99));
    check(filtered(Filter::and([one_of("a", 6), one_of("b", 6)])), &exactly(36));
    check(filtered(Filter::and([one_of("a", 2), one_of("b", 30)])), &exactly(60));
    check(filtered(Filter::and([one_of("a", 8), one_of("b", 8)])), many);
    check(filtered(Filter::and([alternatives(61), equal("b", int(1))])), many);
    let all = |fields: &str, count| {
        let parts = fields.split(' ').map(|field| one_of(field, count));
        Filter::and(parts.collect::<Vec<_>>())
    };
    check(filtered(all("a b c d e", 2)), &exactly(32));
    check(filtered(all("a b c d e f", 2)), many);
    check(filtered(all("a b c d", 3)), many);
    // What is stated twice counts once.
    accept(filtered(Filter::or(vec![equal("a", int(1)); 31])));
    accept(filtered(Filter::and([one_of("a", 10), one_of("a", 10)])));
    accept(filtered(Filter::and([
        one_of("a", 2),
        is("b", FieldOp::In, Value::Array(vec![int(1); 20])),
    ])));
    check(
        filtered(is("a", FieldOp::In, Value::Array(vec![int(1); 31]))),
        "'IN' supports up to 30 comparison values.",
    );
}

#[test]
fn negations() {
    let single = "Only a single 'NOT_EQUAL', 'NOT_IN', 'IS_NOT_NAN', or 'IS_NOT_NULL' filter \
                  allowed per query.";
    let negations = || {
        [
            is("a", FieldOp::NotEqual, int(1)),
            is("a", FieldOp::NotIn, numbers(1)),
            unary("a", UnaryOp::IsNotNan),
            unary("a", UnaryOp::IsNotNull),
        ]
    };
    for one in negations() {
        accept(filtered(one.clone()));
        for other in negations() {
            check(filtered(Filter::and([one.clone(), other])), single);
        }
    }
    check(
        filtered(Filter::or([
            is("a", FieldOp::NotEqual, int(1)),
            is("b", FieldOp::NotEqual, int(1)),
        ])),
        single,
    );
    let not_in = || is("a", FieldOp::NotIn, numbers(1));
    for other in [
        one_of("b", 1),
        is("b", FieldOp::ArrayContainsAny, numbers(1)),
        Filter::or([equal("b", int(1))]),
    ] {
        check(
            filtered(Filter::and([not_in(), other])),
            "'NOT_IN' cannot be used in the same query with 'IN', 'ARRAY_CONTAINS_ANY' or 'OR'.",
        );
    }
    accept(filtered(Filter::and([is("a", FieldOp::NotEqual, int(1)), one_of("b", 2)])));
}

#[test]
fn array_memberships() {
    let one = || is("a", FieldOp::ArrayContains, int(1));
    let any = || is("a", FieldOp::ArrayContainsAny, numbers(2));
    let refused = "A maximum of 1 'ARRAY_CONTAINS' filter is allowed per disjunction.";
    // known-bugs.md B014.
    check(filtered(Filter::and([one(), is("b", FieldOp::ArrayContains, int(1))])), refused);
    check(filtered(Filter::and([is("b", FieldOp::ArrayContains, int(1)), any()])), refused);
    check(
        filtered(Filter::and([
            one(),
            Filter::or([is("b", FieldOp::ArrayContains, int(1)), equal("c", int(1))]),
        ])),
        refused,
    );
    accept(filtered(Filter::or([one(), is("b", FieldOp::ArrayContains, int(1))])));
    accept(filtered(Filter::and([one_of("b", 2), any()])));
}

#[test]
fn inequality_fields() {
    let ranges = |count: usize| -> Vec<Filter> {
        (0..count).map(|index| greater(&format!("f{index:02}"))).collect()
    };
    accept(filtered(Filter::and(ranges(10))));
    check(
        filtered(Filter::and(ranges(11))),
        "The query contains 11 distinct inequality fields: [f00, f01, f02, f03, f04, f05, f06, \
         f07, f08, f09, f10]. A query may not have more than 10 distinct inequality fields.",
    );
    let mut with_name = ranges(10);
    with_name.push(is("__name__", FieldOp::GreaterThan, reference("c/a")));
    check(
        filtered(Filter::or(with_name)),
        "The query contains 11 distinct inequality fields: [__key__, f00, f01, f02, f03, f04, \
         f05, f06, f07, f08, f09]. A query may not have more than 10 distinct inequality fields.",
    );
}

#[test]
fn filters_and_orders_together() {
    let equalities = |count: usize| -> Filter {
        Filter::and((0..count).map(|n| equal(&format!("f{n}"), int(1))).collect::<Vec<_>>())
    };
    let refused = |filters, orders, ancestor| {
        format!(
            "The query may not have more than 100 filters + sort orders + ancestor total. \
             Currently there are {filters} filters, {orders} sort orders, and {ancestor} \
             ancestor filter."
        )
    };
    accept(filtered(equalities(100)));
    check(filtered(equalities(101)), &refused(101, 0, "no"));
    let ordered = Query { order: orders(["m", "n"]), ..filtered(equalities(99)) };
    check(ordered, &refused(99, 2, "no"));
    accept(filtered(Filter::and([equalities(99), greater("n")])));
    let below = Query { parent: parent("c/a"), ..filtered(equalities(100)) };
    check(below, &refused(100, 0, "one"));
    let spread = Filter::or(
        (0..30)
            .map(|n| {
                Filter::and([
                    equal("a", int(n)),
                    equal("b", int(n)),
                    equal("c", int(n)),
                    equal("d", int(n)),
                ])
            })
            .collect::<Vec<_>>(),
    );
    check(filtered(spread), &refused(120, 0, "no"));
    let lists = Filter::or(["a", "b", "c", "d"].map(|field| one_of(field, 30)));
    check(filtered(lists), &refused(120, 0, "no"));
    accept(filtered(Filter::and(vec![equal("a", int(1)); 101])));
    accept(filtered(Filter::and([one_of("a", 30), equal("b", int(1)), equal("c", int(1))])));
}

#[test]
fn values() {
    let too_large = "value for a.b is too large to be used in a query";
    let long = || text(&"x".repeat(1501));
    for op in [FieldOp::Equal, FieldOp::GreaterThan, FieldOp::NotEqual] {
        check(filtered(is("a.b", op, long())), too_large);
        accept(filtered(is("a.b", op, text(&"x".repeat(1499)))));
    }
    check(filtered(is("a.b", FieldOp::In, array([int(1), long()]))), too_large);
    check(filtered(is("a.b", FieldOp::NotIn, array([long()]))), too_large);
    check(filtered(is("a.b", FieldOp::Equal, Value::Bytes(vec![0; 1501].into()))), too_large);
    let element = "value for a.b[*] is too large to be used in a query";
    check(filtered(is("a.b", FieldOp::ArrayContains, long())), element);
    check(filtered(is("a.b", FieldOp::ArrayContainsAny, array([long()]))), element);
    accept(Query { order: orders(["a"]), start: cursor(true, [long()]), ..query() });

    let garbage = || Value::Reference("foo".to_owned());
    let refused = "Document parent name \"foo\" lacks \"projects\" at index 0.";
    check(filtered(equal("a", garbage())), refused);
    check(Query { order: orders(["a"]), start: cursor(true, [garbage()]), ..query() }, refused);
    accept(filtered(equal("a", foreign())));
    check(
        filtered(equal("a", Value::GeoPoint { latitude: 91.0, longitude: 0.0 })),
        "Geo point latitude '91.0' outside permitted range -90.0 to 90.0.",
    );
    check(filtered(equal("a", map([("__x__", int(1))]))), "field name '__x__' is reserved.");
    check(filtered(equal("a", vector([]))), "Cannot have a zero length vector.");
    accept(filtered(equal("a", array([array([int(1)])]))));
    accept(filtered(is("a", FieldOp::In, array([vector([1.0])]))));
}

#[test]
fn names_in_filters() {
    let name = |op, value| filtered(is("__name__", op, value));
    let not_key = "__key__ filter value must be a Key";
    check(name(FieldOp::Equal, int(1)), not_key);
    check(name(FieldOp::Equal, Value::Null), not_key);
    check(name(FieldOp::In, array([reference("c/a"), int(1)])), not_key);
    check(name(FieldOp::NotIn, array([text("c/a")])), not_key);
    for op in [UnaryOp::IsNull, UnaryOp::IsNan, UnaryOp::IsNotNull, UnaryOp::IsNotNan] {
        check(filtered(unary("__name__", op)), not_key);
    }
    check(name(FieldOp::ArrayContains, int(1)), "the name __key__ is reserved");
    check(name(FieldOp::ArrayContainsAny, numbers(1)), "the name __key__ is reserved");
    let other = "The request was for database 'projects/p/databases/(default)' but was \
                 attempting to access database 'projects/zz/databases/(default)'";
    check(name(FieldOp::Equal, foreign()), other);
    check(name(FieldOp::In, array([foreign()])), other);
    check(
        name(FieldOp::Equal, reference("c")),
        "Document parent name \"projects/p/databases/(default)/documents/c\" lacks \"/\" at \
         index 42.",
    );
    let with_inequality = "Equality on key is not allowed if there are other inequality fields and key does not \
         appear in inequalities.";
    let this = || is("__name__", FieldOp::Equal, reference("c/a"));
    check(filtered(Filter::and([this(), greater("n")])), with_inequality);
    check(filtered(Filter::or([this(), greater("n")])), with_inequality);
    check(
        filtered(Filter::and([
            is("__name__", FieldOp::In, array([reference("c/a")])),
            is("n", FieldOp::NotEqual, int(1)),
        ])),
        with_inequality,
    );
    accept(filtered(Filter::and([
        this(),
        greater("n"),
        is("__name__", FieldOp::GreaterThan, reference("c/a")),
    ])));
    accept(filtered(Filter::and([this(), equal("n", int(1))])));
    accept(name(FieldOp::NotEqual, reference("c/a/d/x")));
    accept(name(FieldOp::NotIn, array([reference("c/a/d/x")])));
}

#[test]
fn field_paths() {
    #[track_caller]
    fn check(path: &str, expected: &str) {
        let error: QueryError = base_value::FieldPath::parse(path).unwrap_err().into();
        assert_eq!(
            (error.to_string().as_str(), error.kind()),
            (expected, ErrorKind::InvalidArgument)
        );
    }
    check("", "Invalid empty property path string.");
    check("foo.__x__.bar", "invalid reserved name in field path foo.`__x__`.bar");
    check("a.__key__", "Invalid property path member name \"__key__\".");
}

#[test]
fn orders_are_checked() {
    let ordered = |order| Query { order, ..query() };
    let after_name = "order by clause cannot contain more fields after the key";
    check(ordered(orders(["__name__", "n"])), after_name);
    check(ordered(orders(["__name__", "__name__"])), after_name);
    check(Query { order: orders(["__name__"]), ..filtered(greater("n")) }, after_name);
    check(ordered(orders(["n", "-n"])), "order by clause cannot contain duplicate fields n");
    check(
        ordered(orders(["`a b`.c", "`a b`.c"])),
        "order by clause cannot contain duplicate fields a b.c",
    );
    accept(Query { order: orders(["n"]), ..filtered(equal("n", int(1))) });
    accept(ordered(orders(["-k", "__name__"])));
    accept(ordered(orders(["-__name__"])));
}

#[test]
fn cursors_are_checked() {
    let too_many = "Cursor has too many values.";
    let at = |order: Vec<engine_query::Order>, values: &[Value]| Query {
        order,
        start: Some(engine_query::Cursor { values: values.to_vec(), before: true }),
        ..query()
    };
    check(at(orders(["n"]), &[int(1), reference("c/a")]), too_many);
    check(at(orders([]), &[reference("c/a")]), too_many);
    check(Query { start: cursor(true, [int(1)]), ..filtered(greater("n")) }, too_many);
    check(Query { order: orders(["n"]), end: cursor(true, [int(1), int(1)]), ..query() }, too_many);
    check(at(orders(["__name__"]), &[int(1)]), "Cursor __key__ value is not a document reference.");
    check(
        at(orders(["n", "__name__"]), &[int(1), foreign()]),
        "the cursor key is in a different partition than the query",
    );
    check(
        at(orders(["__name__"]), &[reference("c")]),
        "Document parent name \"projects/p/databases/(default)/documents/c\" lacks \"/\" at \
         index 42.",
    );
    accept(at(orders(["__name__"]), &[reference("d/x/e/y")]));
    accept(at(orders(["n"]), &[foreign()]));
}

#[test]
fn kindless_queries() {
    for from in [From::Children, From::Descendants] {
        let kindless =
            |filter, order| Query { filter, order, ..Query::new(parent(""), from.clone()) };
        let order = "kind is required for all orders except __key__ ascending";
        check(kindless(Some(equal("n", int(1))), orders([])), "kind is required for filter: n");
        check(
            kindless(Some(unary("`a b`.c", UnaryOp::IsNull)), orders([])),
            "kind is required for filter: a b.c",
        );
        check(
            kindless(Some(Filter::or([equal("b", int(1)), equal("a", int(1))])), orders([])),
            "kind is required for filter: b",
        );
        check(kindless(Some(equal("n", int(1))), orders(["n"])), order);
        check(kindless(None, orders(["n"])), order);
        check(kindless(None, orders(["-__name__"])), order);
        accept(kindless(None, orders(["__name__"])));
        accept(kindless(Some(is("__name__", FieldOp::GreaterThan, reference("c/a"))), orders([])));
    }
    check(
        Query { order: orders(["-__name__"]), ..Query::new(parent("c/a"), From::Children) },
        "kind is required for all orders except __key__ ascending",
    );
}

#[test]
fn groups_below_a_document() {
    for from in [From::Group("g".into()), From::Descendants] {
        let below =
            |filter, order| Query { filter, order, ..Query::new(parent("c/a"), from.clone()) };
        let at_root = "collection group queries are only allowed at the root parent";
        check(below(Some(equal("n", int(1))), orders([])), at_root);
        check(below(None, orders(["n"])), at_root);
        check_kind(
            below(None, orders(["-__name__"])),
            ErrorKind::FailedPrecondition,
            "collection group queries are only allowed if they're at the root or they're an \
             ascending primary key scan",
        );
        accept(below(None, orders([])));
        accept(below(Some(is("__name__", FieldOp::Equal, reference("c/a/g/x"))), orders([])));
    }
    accept(Query { order: orders(["-__name__"]), ..group("g", "") });
    accept(Query { filter: Some(equal("n", int(1))), ..group("g", "") });
}

#[test]
fn a_filter_that_is_far_too_large_is_refused_at_once() {
    fn check(filter: Filter, filters: usize) {
        let error = prepare(filtered(filter)).expect_err("must be refused");
        let expected = QueryError::QueryParts { filters, orders: 0, ancestor: "no" };
        assert_eq!(error, expected);
    }
    let equalities =
        |count| (0..count).map(|n| is("a", FieldOp::Equal, int(n))).collect::<Vec<_>>();
    let fields = (0..40_000).map(|n| is(&format!("f{n}"), FieldOp::Equal, int(1)));
    check(Filter::or(equalities(101)), 101);
    // Multiplied out, these would take minutes.
    check(Filter::or(equalities(40_000)), 10_001);
    check(Filter::and(fields.collect::<Vec<_>>()), 10_001);
    check(Filter::and([Filter::or(equalities(9_000)), Filter::or(equalities(9_000))]), 10_001);
}

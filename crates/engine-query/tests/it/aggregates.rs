//! Counts, sums and averages.

use base_value::Value;
use engine_query::{
    AggregateOp, Aggregation, FieldOp, From, Indexer, Query, QueryError, aggregate,
};
use engine_store::Snapshot;

use crate::support::*;

fn named(alias: &str, op: AggregateOp) -> Aggregation {
    Aggregation { alias: alias.to_owned(), op }
}

fn count(up_to: Option<i64>) -> Aggregation {
    named("count", AggregateOp::Count { up_to })
}

fn sum(field: &str) -> Aggregation {
    named(&format!("sum {field}"), AggregateOp::Sum(path(field)))
}

fn avg(field: &str) -> Aggregation {
    named(&format!("avg {field}"), AggregateOp::Avg(path(field)))
}

fn results(
    query: Query,
    aggregations: &[Aggregation],
    documents: &Snapshot,
) -> Result<Vec<Value>, QueryError> {
    let results = aggregate(&prepare(query)?, aggregations, documents)?;
    Ok(results.into_iter().map(|(_, value)| value).collect())
}

fn documents() -> Snapshot {
    snapshot([
        ("c/a", fields([("n", int(5)), ("m", int(9)), ("k", int(1))])),
        ("c/b", fields([("n", int(1)), ("m", int(8)), ("k", int(1))])),
        ("c/c", fields([("z", int(1))])),
        ("c/d", fields([("n", int(2)), ("m", int(7)), ("k", int(1))])),
        ("c/e", fields([("n", int(3)), ("m", text("x")), ("k", int(1))])),
        ("c/f", fields([("n", int(0)), ("m", int(6)), ("k", int(2))])),
        ("c/a/g/x", fields([("n", int(1))])),
    ])
}

#[track_caller]
fn check<const N: usize>(query: Query, aggregations: [Aggregation; N], expected: [Value; N]) {
    let results = results(query, &aggregations, &documents()).unwrap();
    assert_eq!(results, expected);
}

#[test]
fn counts() {
    check(query(), [count(None)], [int(6)]);
    check(query(), [count(Some(2)), named("all", AggregateOp::Count { up_to: None })], {
        [int(2), int(6)]
    });
    check(query(), [count(Some(0))], [int(0)]);
    check(query(), [count(Some(9))], [int(6)]);
    check(Query { limit: Some(4), ..query() }, [count(None)], [int(4)]);
    check(Query { limit: Some(4), ..query() }, [count(Some(3))], [int(3)]);
    check(Query { offset: 4, ..query() }, [count(None)], [int(2)]);
    check(Query { offset: 4, ..query() }, [count(Some(1))], [int(1)]);
    check(Query { offset: 9, limit: Some(3), ..query() }, [count(None)], [int(0)]);
    check(Query { offset: 1, limit: Some(2), order: orders(["n"]), ..query() }, [count(None)], {
        [int(2)]
    });
    check(Query { order: orders(["n"]), ..query() }, [count(None)], [int(5)]);
    check(
        Query { order: orders(["n"]), start: cursor(false, [int(1)]), ..query() },
        [count(None)],
        [int(3)],
    );
    check(Query::new(parent(""), From::Descendants), [count(None)], [int(7)]);
}

#[test]
fn documents_without_a_summed_field_count_nowhere() {
    check(query(), [count(None), sum("n")], [int(5), int(11)]);
    check(query(), [count(None), sum("z"), avg("n")], [int(0), int(0), Value::Null]);
    check(query(), [count(None), sum("m"), avg("m")], [int(5), int(30), double(7.5)]);
}

/// Summed fields extend the order before the name, which decides what a limit leaves.
#[test]
fn limits_with_sums() {
    check(Query { limit: Some(1), ..query() }, [sum("n"), count(None)], [int(0), int(1)]);
    check(Query { limit: Some(3), ..query() }, [sum("n")], [int(3)]);
    check(Query { offset: 2, limit: Some(1), ..query() }, [sum("n")], [int(2)]);
    check(Query { offset: 4, ..query() }, [sum("n")], [int(5)]);
    let by_k = |order| Query { order: orders([order]), limit: Some(1), ..query() };
    check(by_k("k"), [sum("n")], [int(1)]);
    check(by_k("-k"), [sum("n")], [int(0)]);
    let limited = Query { limit: Some(2), order: orders(["k"]), ..query() };
    check(limited.clone(), [sum("n"), sum("m")], [int(3), int(15)]);
    check(limited, [sum("m"), sum("n")], [int(15), int(3)]);
    check(Query { limit: Some(0), ..query() }, [sum("n"), count(None)], [int(0), int(0)]);
}

#[test]
fn arithmetic() {
    #[track_caller]
    fn check<const N: usize>(values: [Value; N], sum_expected: Value, avg_expected: Value) {
        let paths: Vec<String> = (0..N).map(|index| format!("c/{index}")).collect();
        let documents = paths.iter().zip(values.clone());
        let documents =
            snapshot(documents.map(|(path, value)| (path.as_str(), fields([("v", value)]))));
        let aggregations = [sum("v"), avg("v")];
        let found = results(query(), &aggregations, &documents).unwrap();
        assert_eq!(found, [sum_expected.clone(), avg_expected.clone()], "{values:?}");

        // Out of the entries of an index, some of them written over values that are equal but for their type.
        let indexer = Indexer::default();
        let store = indexed_store(&indexer);
        for (path, value) in paths.iter().zip(&values) {
            let other = match value {
                Value::Integer(integer) => double(*integer as f64),
                Value::Double(double) => int(*double as i64),
                other => other.clone(),
            };
            put(&store, path, &fields([("v", other)]));
        }
        store.fold_now().unwrap();
        for (path, value) in paths.iter().zip(values.clone()) {
            put(&store, path, &fields([("v", value)]));
        }
        store.fold_now().unwrap();
        let prepared = prepare(query()).unwrap().with_indexer(&indexer);
        let found = aggregate(&prepared, &aggregations, &store.snapshot()).unwrap();
        let found: Vec<Value> = found.into_iter().map(|(_, value)| value).collect();
        assert_eq!(found, [sum_expected, avg_expected], "{values:?} folded");
    }
    let two_63 = 9_223_372_036_854_775_808.0;
    check([], int(0), Value::Null);
    check([text("x"), Value::Null], int(0), Value::Null);
    check([int(1), int(2), text("x")], int(3), double(1.5));
    check([int(5), double(4.5), double(3.5)], double(13.0), double(13.0 / 3.0));
    check([int(i64::MAX), int(i64::MAX)], double(two_63 * 2.0), double(two_63));
    check([int(i64::MAX), int(1), int(-2)], int(i64::MAX - 1), double(two_63 / 3.0));
    check([int(i64::MIN), int(-1)], double(-two_63), double(-two_63 / 2.0));
    check([double(f64::NAN), int(1)], double(f64::NAN), double(f64::NAN));
    check([double(f64::INFINITY), int(1)], double(f64::INFINITY), double(f64::INFINITY));
    check([double(f64::INFINITY), double(f64::NEG_INFINITY)], double(f64::NAN), double(f64::NAN));
    check([double(f64::MAX), double(f64::MAX)], double(f64::INFINITY), double(f64::INFINITY));
    check([double(-0.0)], double(0.0), double(0.0));
}

#[test]
fn aliases() {
    #[track_caller]
    fn check<const N: usize>(aliases: [&str; N], expected: Result<[&str; N], &str>) {
        let aggregations = aliases.map(|alias| named(alias, AggregateOp::Count { up_to: None }));
        let results = aggregate(&prepare(query()).unwrap(), &aggregations, &documents());
        let found = results
            .map(|results| results.into_iter().map(|(alias, _)| alias).collect::<Vec<_>>())
            .map_err(|error| error.to_string());
        let expected =
            expected.map(|aliases| aliases.map(str::to_owned).to_vec()).map_err(str::to_owned);
        assert_eq!(found, expected);
    }
    check(["a", "b"], Ok(["a", "b"]));
    check(["", "x", ""], Ok(["field_1", "x", "field_2"]));
    check(["", "field_1"], Err("Aggregation aliases contain duplicate alias: field_1."));
    check(["x", "x"], Err("Aggregation aliases contain duplicate alias: x."));
    check([], Err("Aggregations can not be empty."));
    check(["", "", "", "", "", ""], {
        Err("The maximum number of aggregations allowed in an aggregation query is 5. Received: 6")
    });
    check([&"x".repeat(1501)], Err("The property.name is longer than 1500 bytes."));
}

#[test]
fn refusals() {
    #[track_caller]
    fn check(query: Query, aggregation: Aggregation, expected: &str) {
        let error = results(query, &[aggregation], &documents()).unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert_eq!(error.kind(), engine_query::ErrorKind::InvalidArgument);
    }
    check(query(), sum("__name__"), "Aggregations are not supported for the property: __key__");
    check(
        query(),
        count(Some(-1)),
        "The `up_to` value in a COUNT aggregation must be greater than or equal to zero.",
    );
    let after_name = "This query requires an index with fields [n] after __name__ and Firestore \
                      does not currently support such an index. Please try the query again with \
                      additional ordering on those fields.";
    check(Query { order: orders(["__name__"]), ..query() }, sum("n"), after_name);
    check(Query { order: orders(["k", "__name__"]), ..query() }, avg("n"), after_name);
    check(group("g", "c/a"), sum("n"), after_name);
    let named = |value| is("__name__", FieldOp::Equal, value);
    check(Query { filter: Some(named(reference("c/a"))), ..query() }, sum("n"), after_name);
}

#[test]
fn an_order_on_the_field_lifts_the_refusal() {
    let by_n = Query { order: orders(["n", "__name__"]), ..query() };
    check(by_n.clone(), [sum("n")], [int(11)]);
    let named = is("__name__", FieldOp::GreaterThan, reference("c/b"));
    check(Query { filter: Some(named), order: orders(["n"]), ..query() }, [sum("n")], [int(5)]);
    check(group("g", "c/a"), [count(None)], [int(1)]);
    check(group("g", ""), [sum("n")], [int(1)]);
}

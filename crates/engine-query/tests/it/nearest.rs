//! Nearest-neighbour search.

use base_value::{Value, codec};
use engine_query::{
    AggregateOp, Aggregation, DistanceMeasure, FindNearest, Query, QueryError, aggregate,
};
use engine_store::Snapshot;

use crate::support::*;

fn documents() -> Snapshot {
    snapshot([
        ("v/a", fields([("e", vector([1.0, 0.0])), ("o", int(2))])),
        ("v/b", fields([("e", vector([0.0, 1.0]))])),
        ("v/c", fields([("e", vector([1.0, 1.0])), ("o", int(1))])),
        ("v/long", fields([("e", vector([1.0, 0.0, 0.0])), ("o", int(1))])),
        ("v/nested", fields([("m", map([("e", vector([3.0, 4.0]))]))])),
        ("v/none", fields([("o", int(1))])),
        ("v/w", fields([("e", text("no")), ("o", int(1))])),
        ("v/z", fields([("e", vector([0.0, 0.0])), ("o", int(1))])),
    ])
}

fn nearest(measure: DistanceMeasure) -> FindNearest {
    FindNearest {
        field: path("e"),
        query_vector: vector([1.0, 0.0]),
        measure,
        limit: 10,
        distance_result_field: None,
        distance_threshold: None,
    }
}

fn search(nearest: FindNearest) -> Query {
    Query {
        nearest: Some(nearest),
        ..Query::new(parent(""), engine_query::From::Collection("v".into()))
    }
}

use DistanceMeasure::{Cosine, DotProduct, Euclidean};

#[test]
fn near_comes_first() {
    #[track_caller]
    fn check(query: Query, expected: &str) {
        assert_eq!(ids(query, &documents()), expected);
    }
    check(search(nearest(Euclidean)), "a c z b");
    check(search(nearest(Cosine)), "a c b z");
    check(search(nearest(DotProduct)), "a c b z");
    check(search(FindNearest { limit: 2, ..nearest(Euclidean) }), "a c");
    check(search(FindNearest { field: path("m.e"), ..nearest(Euclidean) }), "nested");
    check(search(FindNearest { field: path("__name__"), ..nearest(Euclidean) }), "");
    check(search(FindNearest { query_vector: vector([f64::NAN, 0.0]), ..nearest(Euclidean) }), {
        "a b c z"
    });
    let near = |measure, threshold| FindNearest {
        distance_threshold: Some(threshold),
        ..nearest(measure)
    };
    check(search(near(Euclidean, 1.0)), "a c z");
    check(search(near(Cosine, 1.0)), "a c b");
    check(search(near(DotProduct, 1.0)), "a c");
    // The order only says which documents there are.
    check(Query { order: orders(["o"]), ..search(nearest(Euclidean)) }, "a c z");
    check(Query { filter: Some(equal("o", int(1))), ..search(nearest(Euclidean)) }, "c z");
}

#[test]
fn the_distance_is_shown_where_it_is_asked_for() {
    #[track_caller]
    fn check(field: &str, measure: DistanceMeasure, expected: &[f64]) {
        let query = search(FindNearest {
            distance_result_field: FindNearest::parse_result_field(field).unwrap(),
            ..nearest(measure)
        });
        let prepared = prepare(query).unwrap();
        let documents = documents();
        let distances: Vec<f64> = prepared
            .run(&documents)
            .filter_map(|row| match codec::find(&row.record.value, &path(field)) {
                Some(Value::Double(distance)) => Some(distance),
                _ => None,
            })
            .collect();
        assert_eq!(distances, expected);
    }
    check("d", Euclidean, &[0.0, 1.0, 1.0, 2.0_f64.sqrt()]);
    check("m.d", DotProduct, &[1.0, 1.0, 0.0, 0.0]);
    check("e", Euclidean, &[0.0, 1.0, 1.0, 2.0_f64.sqrt()]);
}

#[test]
fn aggregations_see_the_nearest_only() {
    let prepared = prepare(search(FindNearest { limit: 2, ..nearest(Euclidean) })).unwrap();
    let count = [Aggregation { alias: "n".into(), op: AggregateOp::Count { up_to: None } }];
    let sum = [Aggregation { alias: "s".into(), op: AggregateOp::Sum(path("o")) }];
    let of = |aggregations| aggregate(&prepared, aggregations, &documents()).unwrap();
    assert_eq!(of(&count), [("n".to_owned(), int(2))]);
    assert_eq!(of(&sum), [("s".to_owned(), int(3))]);
}

#[test]
fn refusals() {
    #[track_caller]
    fn check(query: Query, expected: &str) {
        assert_eq!(prepare(query).unwrap_err().to_string(), expected);
    }
    let with = |query_vector| search(FindNearest { query_vector, ..nearest(Euclidean) });
    check(with(int(1)), "Query Value must be of type vector.");
    check(with(map([("value", array([]))])), "Query Value must be of type vector.");
    check(
        with(map([("__type__", text("__vector__")), ("value", array([int(1)]))])),
        "Vector must only contain values of type 'double'",
    );
    check(with(vector([])), "Cannot have a zero length vector.");
    check(with(Value::Vector(vec![0.5; 2049])), "Vectors must be at most 2048 dimensions.");
    for limit in [0, -1, 1001] {
        check(
            search(FindNearest { limit, ..nearest(Euclidean) }),
            "FindNearest.limit must be a positive integer of no more than 1000",
        );
    }
    check(
        Query { limit: Some(0), ..search(nearest(Euclidean)) },
        "A query limit cannot be used with FindNearest",
    );
    check(
        Query { offset: 2, ..search(nearest(Euclidean)) },
        "A query offset cannot be used with FindNearest",
    );
    check(
        Query { start: cursor(true, []), ..search(nearest(Euclidean)) },
        "A cursor cannot be used with FindNearest",
    );
    check(
        search(FindNearest { query_vector: vector([0.0, 0.0]), ..nearest(Cosine) }),
        "COSINE distance needs a query vector with a magnitude greater than zero.",
    );
    check(
        search(FindNearest { distance_result_field: Some(path("__name__")), ..nearest(Cosine) }),
        "The distanceResultField.property.name \"__name__\" is reserved.",
    );
}

#[test]
fn result_fields() {
    #[track_caller]
    fn refused(text: &str, expected: &str) {
        let error: QueryError = FindNearest::parse_result_field(text).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
    assert_eq!(FindNearest::parse_result_field(""), Ok(None));
    assert_eq!(FindNearest::parse_result_field("a.b"), Ok(Some(path("a.b"))));
    refused("__x__", "The distanceResultField.property.name \"__x__\" is reserved.");
    refused("__name__", "The distanceResultField.property.name \"__name__\" is reserved.");
}

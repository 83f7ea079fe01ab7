//! Every way to the same documents: names alone, lists in an order, parts of a group, neighbours behind a filter. What is
//! answered through indexes and keys is what a plain scan answers.

use base_value::{DocumentPath, FieldPath, Value};
use bytes::Bytes;
use engine_query::{
    AggregateOp, Aggregation, Direction, DistanceMeasure, Explain, FieldOp, Filter, FindNearest,
    Indexer, ListDocuments, Order, Page, Prepared, Query, QueryError, Row, aggregate_telling,
    list_documents, list_documents_indexed, partition,
};
use engine_store::Snapshot;

use crate::naive::Document;
use crate::property::{for_every_world, store_in_stages};
use crate::random::{COLLECTIONS, Random};
use crate::support::*;

/// Random documents, some of them long, each with a vector.
fn documents(random: &mut Random) -> Vec<Document> {
    let mut documents = random.documents();
    for (_, fields) in &mut documents {
        let component = |random: &mut Random| random.below(5) as f64 - 2.0;
        let near = vector([component(random), component(random)]);
        fields.insert("near".to_owned(), near);
        if random.chance(30) {
            fields.insert("long".to_owned(), text(&"x".repeat(1_000 + random.below(5_000))));
        }
    }
    documents
}

/// Runs a check with random documents, partly folded, that are derived with random indexes.
pub(crate) fn for_every_snapshot(check: impl Fn(&mut Random, &Snapshot, &Indexer)) {
    for_every_world(|random| {
        let documents = documents(random);
        let indexer = Indexer::new(random.definitions());
        let snapshot = store_in_stages(random, &documents, &indexer);
        for _ in 0..40 {
            check(random, &snapshot, &indexer);
        }
        snapshot.check().unwrap();
    });
}

/// A query with its every plan: all of them, and each alone.
pub(crate) fn plans(query: &Query, indexer: &Indexer) -> Result<Vec<Prepared>, QueryError> {
    let prepared = prepare(query.clone())?.with_indexer(indexer);
    Ok(prepared.alternatives().chain([prepared.clone()]).collect())
}

#[test]
fn names_alone_are_those_of_whole_documents() {
    for_every_snapshot(|random, snapshot, indexer| {
        let query = random.query();
        let Ok(whole) = prepare(query.clone()) else { return };
        let shown = |row: Row| (row.key, row.path, row.record.created, row.record.updated);
        let expected: Vec<_> = whole.run(snapshot).map(shown).collect();
        let query = Query { select: Some(vec![FieldPath::name()]), ..query };
        for plan in plans(&query, indexer).unwrap() {
            let mut rows = plan.run(snapshot);
            let names: Vec<_> = rows.by_ref().map(shown).collect();
            assert_eq!(names, expected, "{plan:#?}");
            let mut scanned = whole.run(snapshot);
            while scanned.next().is_some() {}
            assert_eq!(rows.skipped(), scanned.skipped(), "{plan:#?}");
            for row in plan.run(snapshot) {
                assert_eq!(plan.project(&row.record.value), Bytes::new(), "{plan:#?}");
            }
        }
    });
}

#[test]
fn neighbours_behind_a_filter_do_not_depend_on_the_plan() {
    let met = std::cell::Cell::new(0);
    for_every_snapshot(|random, snapshot, indexer| {
        let nearest = FindNearest {
            field: path("near"),
            query_vector: vector([1.0, 0.0]),
            measure: random.pick(&[
                DistanceMeasure::Euclidean,
                DistanceMeasure::Cosine,
                DistanceMeasure::DotProduct,
            ]),
            limit: 1 + i32::try_from(random.below(8)).unwrap(),
            distance_result_field: random.chance(50).then(|| path("distance")),
            distance_threshold: random.chance(30).then_some(1.5),
        };
        let drawn = random.query();
        let filter = drawn.filter;
        let query =
            Query { filter, nearest: Some(nearest), ..Query::new(drawn.parent, drawn.from) };
        let Ok(scan) = prepare(query.clone()) else { return };
        let expected: Vec<Row> = scan.run(snapshot).collect();
        met.set(met.get() + expected.len());
        for plan in plans(&query, indexer).unwrap() {
            assert_eq!(plan.run(snapshot).collect::<Vec<_>>(), expected, "{plan:#?}");
        }
    });
    assert!(met.get() > 1_000, "only {} rows", met.get());
}

#[test]
fn lists_in_an_order_do_not_depend_on_the_plan() {
    for_every_snapshot(|random, snapshot, indexer| {
        let mut order = Vec::new();
        for _ in 0..random.below(3) {
            let direction = random.pick(&[Direction::Ascending, Direction::Descending]);
            order.push(Order { field: random.field(), direction });
        }
        let mut request = ListDocuments {
            parent: parent(""),
            collection_id: random.pick(&COLLECTIONS).to_owned(),
            order,
            show_missing: random.chance(20),
            page_size: 1 + random.below(5),
            page_token: None,
        };
        loop {
            let scanned: Result<Page, _> = list_documents(&database(), &request, snapshot);
            let indexed = list_documents_indexed(&database(), &request, indexer, snapshot);
            let indexed = indexed.map(|(page, _)| page);
            assert_eq!(indexed, scanned, "{request:#?}");
            match scanned {
                Ok(Page { next_page_token: Some(token), .. }) => request.page_token = Some(token),
                Ok(_) | Err(_) => break,
            }
        }
    });
}

#[test]
fn parts_of_a_group_do_not_depend_on_the_plan() {
    let met = std::cell::Cell::new(0);
    for_every_snapshot(|random, snapshot, indexer| {
        let query = group(random.pick(&COLLECTIONS), "");
        let count = 1 + i64::try_from(random.below(6)).unwrap();
        let points = |prepared: &Prepared| partition(prepared, count, snapshot).unwrap();
        let expected: Vec<DocumentPath> = points(&prepare(query.clone()).unwrap());
        met.set(met.get() + expected.len());
        for plan in plans(&query, indexer).unwrap() {
            assert_eq!(points(&plan), expected, "{plan:#?}");
        }
    });
    assert!(met.get() > 300, "only {} points", met.get());
}

#[test]
fn aggregations_tell_what_a_fold_would_spare() {
    #[track_caller]
    fn check(snapshot: &Snapshot, op: AggregateOp, filtered: bool, expected: usize) {
        let filter = Filter::field(path("a"), FieldOp::Equal, int(1));
        let query = Query { filter: filtered.then_some(filter), ..query() };
        let prepared = prepare(query).unwrap().with_indexer(&Indexer::default());
        let aggregation = Aggregation { alias: "x".into(), op };
        let aggregated =
            aggregate_telling(&prepared, &[aggregation], snapshot, Explain::Off).unwrap();
        assert_eq!(aggregated.unfolded, expected);
        let values = aggregated.values;
        assert_eq!(values, [("x".to_owned(), Value::Integer(values_of(filtered)))]);
    }
    fn values_of(filtered: bool) -> i64 {
        if filtered { 3 } else { 5 }
    }
    let store = indexed_store(&Indexer::default());
    let count = || AggregateOp::Count { up_to: None };
    let sum = || AggregateOp::Sum(path("one"));
    for number in 0..5 {
        let name = format!("c/{number}");
        let document = fields([("a", int(number % 2 + i64::from(number == 1))), ("one", int(1))]);
        put(&store, &name, &document);
    }
    // 0, 2, 0, 1, 0: made to be three of five by one more write.
    for (name, a) in [("c/0", 1), ("c/4", 1)] {
        put(&store, name, &fields([("a", int(a)), ("one", int(1))]));
    }
    let unfolded = store.snapshot();
    check(&unfolded, count(), true, 5);
    check(&unfolded, sum(), true, 5);
    check(&unfolded, count(), false, 0);
    store.fold_now().unwrap();
    check(&store.snapshot(), count(), true, 0);
    check(&store.snapshot(), sum(), true, 0);
    check(&store.snapshot(), count(), false, 0);
    put(&store, "c/4", &fields([("a", int(1)), ("one", int(1)), ("more", int(1))]));
    check(&store.snapshot(), count(), true, 1);
    check(&store.snapshot(), sum(), true, 1);
}

//! Disjunctions in an order: several walks of a plan meet the same documents, small ones and those that are so
//! large that entries are asked before they are read.

use std::cell::Cell;

use base_value::{DocumentPath, Fields, Value};
use engine_query::{Direction, FieldOp, Filter, Indexer, Order, Query};
use engine_store::Store;

use crate::naive::{self, Document};
use crate::property::{for_every_world, store_in_stages};
use crate::random::Random;
use crate::support::*;

const QUERIES_PER_WORLD: usize = 60;

/// Makes a document one that is not read without need.
fn enlarge(fields: &mut Fields) {
    fields.insert("long".to_owned(), text(&"x".repeat(5_000)));
}

/// A few documents of one collection that differ in little.
fn documents(random: &mut Random) -> Vec<Document> {
    let are_large = random.chance(50);
    let mut documents = Vec::new();
    for number in 0..=random.below(11) {
        let mut fields = Fields::new();
        for field in ["x", "y", "r"] {
            if random.chance(85) {
                fields.insert(field.to_owned(), int(random.below(3) as i64));
            }
        }
        let tags = (0..3).filter(|_| random.chance(50)).map(int).collect();
        fields.insert("tags".to_owned(), Value::Array(tags));
        if are_large {
            enlarge(&mut fields);
        }
        let path = DocumentPath::parse(&format!("c/{number:02}")).expect("it is a path");
        documents.push((path, fields));
    }
    documents
}

/// A filter that several walks serve.
fn disjunction(random: &mut Random) -> Filter {
    let values = |random: &mut Random| {
        let (one, other) = random.pick(&[(0, 1), (0, 2), (1, 2)]);
        array([int(one), int(other)])
    };
    match random.below(3) {
        0 => is(random.pick(&["x", "y"]), FieldOp::In, values(random)),
        1 => is("tags", FieldOp::ArrayContainsAny, values(random)),
        _ => {
            let either = |random: &mut Random| {
                equal(random.pick(&["x", "y", "r"]), int(random.below(3) as i64))
            };
            Filter::or([either(random), either(random)])
        }
    }
}

fn disjunctive_query(random: &mut Random) -> Query {
    let mut filters = vec![disjunction(random)];
    if random.chance(40) {
        let op = random.pick(&[FieldOp::GreaterThan, FieldOp::LessThanOrEqual]);
        filters.push(is(random.pick(&["r", "y"]), op, int(random.below(3) as i64)));
    }
    let mut order: Vec<Order> = Vec::new();
    for _ in 0..random.below(3) {
        let field = path(random.pick(&["x", "y", "r"]));
        let direction = random.pick(&[Direction::Ascending, Direction::Descending]);
        if order.iter().all(|known| known.field != field) {
            order.push(Order { field, direction });
        }
    }
    let limit = random.chance(30).then(|| 1 + random.below(4) as u32);
    Query { filter: Some(Filter::and(filters)), order, limit, ..query() }
}

#[test]
fn disjunctions_in_an_order_do_not_depend_on_the_plan() {
    let (found, compared) = (Cell::new(0), Cell::new(0));
    for_every_world(|random| {
        let documents = documents(random);
        let indexer = Indexer::new(random.definitions());
        let snapshot = store_in_stages(random, &documents, &indexer);
        for _ in 0..QUERIES_PER_WORLD {
            let query = disjunctive_query(random);
            let prepared = prepare(query.clone()).expect("the query is good");
            let prepared = prepared.with_indexer(&indexer);
            let matching = naive::matching(&documents, &query);
            let limit = query.limit.map_or(usize::MAX, |limit| limit as usize);
            let expected: Vec<_> = matching.iter().take(limit).map(|(path, _)| path).collect();
            for plan in prepared.alternatives().chain([prepared.clone()]) {
                let rows: Vec<_> = plan.run(&snapshot).map(|row| row.path).collect();
                assert_eq!(rows.iter().collect::<Vec<_>>(), expected, "{plan:#?}");
                compared.set(compared.get() + 1);
            }
            found.set(found.get() + expected.len());
        }
    });
    assert!(found.get() > 3_000, "only {} rows", found.get());
    assert!(compared.get() > 6_000, "only {} plans", compared.get());
}

fn folded(documents: Vec<(&str, Fields)>) -> Store {
    let store = indexed_store(&Indexer::default());
    for (path, fields) in &documents {
        put(&store, path, fields);
    }
    store.fold_now().expect("it folds");
    store
}

/// Checks every plan of a query.
#[track_caller]
fn check(documents: Vec<(&str, Fields)>, query: Query, expected: &str) {
    let snapshot = folded(documents).snapshot();
    let prepared = prepare(query).expect("the query is good").with_indexer(&Indexer::default());
    for plan in prepared.alternatives().chain([prepared.clone()]) {
        let rows: Vec<_> = plan.run(&snapshot).map(|row| row.path.id().to_owned()).collect();
        assert_eq!(rows.join(" "), expected, "{plan:#?}");
    }
}

#[test]
fn a_walk_that_rules_a_document_out_leaves_it_to_the_others() {
    let document = |x: i64, r: i64| {
        let mut fields = fields([("x", int(x)), ("r", int(r))]);
        enlarge(&mut fields);
        fields
    };
    let documents = vec![
        ("c/1", document(1, 1)),
        ("c/2", document(2, 2)),
        ("c/3", document(1, 3)),
        ("c/4", document(2, 4)),
    ];
    let either = is("x", FieldOp::In, array([int(1), int(2)]));
    let ordered = Query { filter: Some(either), order: orders(["r"]), ..query() };
    check(documents, ordered, "1 2 3 4");
}

#[test]
fn a_document_met_at_a_false_place_is_met_again_at_its_own() {
    let documents = vec![("c/1", fields([("x", int(2)), ("b", int(11))]))];
    let filters =
        [is("x", FieldOp::In, array([int(1), int(2)])), is("b", FieldOp::GreaterThan, int(10))];
    let filter = Some(Filter::and(filters));
    check(documents, Query { filter, order: orders(["x", "b"]), ..query() }, "1");
}

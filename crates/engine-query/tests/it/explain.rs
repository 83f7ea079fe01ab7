//! What explaining tells: the indexes a plan reads, what was read, and what production would charge for it.

use engine_query::{
    AggregateOp, Aggregation, Charge, DistanceMeasure, Explain, FieldOp, Filter, FindNearest, From,
    IndexDefinition, IndexField, IndexMode, IndexScope, Indexer, Prepared, Query, Scanned,
    UsedIndex, aggregate_telling,
};
use engine_store::Snapshot;

use crate::access::{for_every_snapshot, plans};
use crate::support::*;

/// Documents of each collection.
const DOCUMENTS: i64 = 40;

fn indexer() -> Indexer {
    let field = |path, mode| IndexField { path: crate::support::path(path), mode };
    Indexer::new([IndexDefinition {
        collection_id: "declared".to_owned(),
        scope: IndexScope::Collection,
        fields: vec![field("tenth", IndexMode::Ascending), field("rank", IndexMode::Descending)],
    }])
}

/// Two collections of documents with a rank of their own; where folded, with a base that has them all.
fn documents(folded: bool) -> Snapshot {
    let store = indexed_store(&indexer());
    for collection in ["c", "declared", "c/00/sub"] {
        for rank in 0..DOCUMENTS {
            let document = fields([
                ("rank", int(rank)),
                ("tenth", int(rank % 10)),
                ("half", int(rank % 2)),
                ("tags", array(if rank < 3 { [text("low")] } else { [text("other")] })),
                ("a b", map([("x\u{0}y", int(rank))])),
                ("near", vector([rank as f64, 1.0])),
            ]);
            put(&store, &format!("{collection}/{rank:02}"), &document);
        }
    }
    if folded {
        store.fold_now().unwrap();
    }
    store.snapshot()
}

fn prepared(query: Query) -> Prepared {
    prepare(query).unwrap().with_indexer(&indexer())
}

fn show(indexes: &[UsedIndex]) -> String {
    indexes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

fn read(index_entries: u64, documents: u64) -> Scanned {
    Scanned { index_entries, documents, vectors: 0 }
}

/// Checks the plan, the indexes that were read, and how much of them.
#[track_caller]
fn check(snapshot: &Snapshot, query: Query, planned: &str, used: &str, expected: Scanned) {
    let prepared = prepared(query);
    assert_eq!(show(&prepared.plan(snapshot)), planned, "planned");
    let mut rows = prepared.run(snapshot);
    rows.by_ref().for_each(drop);
    assert_eq!((show(&rows.used_indexes(snapshot)).as_str(), rows.scanned()), (used, expected));
}

/// Same for aggregations, and checks how many documents have matched.
#[track_caller]
fn check_sum(
    snapshot: &Snapshot,
    query: Query,
    op: AggregateOp,
    used: &str,
    (matched, expected): (u64, Scanned),
) {
    let prepared = prepared(query);
    let of = [Aggregation { alias: String::new(), op }];
    let planned = aggregate_telling(&prepared, &of, snapshot, Explain::Plan).unwrap();
    assert_eq!((planned.values, planned.scanned), (Vec::new(), Scanned::default()));
    let found = aggregate_telling(&prepared, &of, snapshot, Explain::Analyze).unwrap();
    assert_eq!((found.matched, found.scanned), (matched, expected));
    assert_eq!((show(&found.indexes).as_str(), show(&planned.indexes).as_str()), (used, used));
    let off = aggregate_telling(&prepared, &of, snapshot, Explain::Off).unwrap();
    assert_eq!((off.values, off.indexes), (found.values, Vec::new()));
}

fn below(collection: &str) -> Query {
    Query::new(parent(""), From::Collection(collection.to_owned()))
}

const NAMES: &str = "(__name__ ASC)";

#[test]
fn names_are_walked_where_there_is_no_index() {
    let small = &documents(false);
    let all = read(40, 40);
    check(small, query(), NAMES, NAMES, all);
    check(small, Query { limit: Some(3), ..query() }, NAMES, NAMES, read(3, 3));
    check(small, Query { limit: Some(0), ..query() }, NAMES, NAMES, read(0, 0));
    // Names are walked past an offset; nobody reads their documents.
    check(small, Query { offset: 10, limit: Some(3), ..query() }, NAMES, NAMES, read(13, 3));
    check(small, Query { select: Some(vec![]), ..query() }, NAMES, NAMES, read(40, 0));
    let down = "(__name__ DESC)";
    check(small, Query { order: orders(["-__name__"]), ..query() }, down, down, all);
    // Documents that no fold has seen yet are matched one by one.
    check(small, Query { filter: Some(equal("tenth", int(3))), ..query() }, NAMES, NAMES, all);
    check(small, Query { order: orders(["rank"]), ..query() }, NAMES, NAMES, all);
    let name = is("__name__", FieldOp::Equal, reference("c/07"));
    check(small, Query { filter: Some(name), ..query() }, NAMES, NAMES, read(1, 1));
    let from = cursor(true, [reference("c/30")]);
    let behind = Query { order: orders(["__name__"]), start: from, ..query() };
    check(small, behind, NAMES, NAMES, read(10, 10));
    check(small, Query::new(parent(""), From::Descendants), NAMES, NAMES, read(120, 120));
    check(&documents(true), query(), NAMES, NAMES, all);
}

#[test]
fn indexes_are_named_as_they_are_walked() {
    let snapshot = &documents(true);
    let tenth = || equal("tenth", int(3));
    let half = || equal("half", int(1));
    let filtered = |filter| Query { filter: Some(filter), ..query() };
    let by_tenth = "(tenth ASC, __name__ ASC)";
    check(snapshot, filtered(tenth()), by_tenth, by_tenth, read(4, 4));
    let up = "(rank ASC, __name__ ASC)";
    let first = |order| Query { order: orders([order]), limit: Some(3), ..query() };
    check(snapshot, first("rank"), up, up, read(3, 3));
    let down = "(rank DESC, __name__ DESC)";
    check(snapshot, first("-rank"), down, down, read(3, 3));
    let from = cursor(false, [int(20)]);
    check(snapshot, Query { start: from, ..first("rank") }, up, up, read(4, 4));
    check(snapshot, filtered(is("rank", FieldOp::GreaterThan, int(30))), up, up, read(9, 9));
    let tags = "(tags CONTAINS, __name__ ASC)";
    check(snapshot, filtered(is("tags", FieldOp::ArrayContains, text("low"))), tags, tags, {
        read(3, 3)
    });
    let nested = "(`a b`.`x\u{0}y` ASC, __name__ ASC)";
    check(snapshot, filtered(equal("`a b`.`x\u{0}y`", int(5))), nested, nested, read(1, 1));
    let names = Query { select: Some(vec![path("__name__")]), ..filtered(tenth()) };
    check(snapshot, names, by_tenth, by_tenth, read(4, 0));
    // Two postings are merged (four steps and a seek between matches), and a list takes one index for all its values.
    let both = "(half ASC, __name__ ASC) (tenth ASC, __name__ ASC)";
    let and = Filter::and([half(), tenth()]);
    check(snapshot, filtered(and), both, both, read(21, 4));
    let either = is("tenth", FieldOp::In, array([int(3), int(4)]));
    check(snapshot, filtered(either), by_tenth, by_tenth, read(8, 8));
    let or = Filter::or([tenth(), equal("rank", int(2))]);
    let two = "(tenth ASC, __name__ ASC) (rank ASC, __name__ ASC)";
    check(snapshot, filtered(or), two, two, read(5, 5));
}

#[test]
fn a_declared_index_is_named_as_it_is_declared() {
    let snapshot = &documents(true);
    let tenth = Some(equal("tenth", int(3)));
    let ordered =
        |order| Query { filter: tenth.clone(), order: orders([order]), ..below("declared") };
    let declared = "(tenth ASC, rank DESC, __name__ DESC)";
    let both = "(tenth ASC, rank DESC, __name__ DESC) (tenth ASC, __name__ ASC)";
    let down = "(tenth ASC, rank DESC, __name__ DESC) (tenth DESC, __name__ DESC)";
    check(snapshot, ordered("-rank"), down, declared, read(4, 4));
    check(snapshot, ordered("rank"), both, declared, read(4, 4));
}

#[test]
fn a_group_is_told_from_a_collection() {
    let snapshot = &documents(true);
    let filter = Some(equal("tenth", int(3)));
    let tenth = "(tenth ASC, __name__ ASC)";
    let query = Query { filter, ..group("sub", "") };
    check(snapshot, query.clone(), tenth, tenth, read(4, 4));
    assert_eq!(prepared(query).plan(snapshot)[0].scope, IndexScope::Group);
    assert_eq!(prepared(below("c")).plan(snapshot)[0].scope, IndexScope::Collection);
}

#[test]
fn plans_that_race_are_told_with_what_they_have_read() {
    let store = indexed_store(&indexer());
    for rank in 0..2_000 {
        let few = int(i64::from(rank >= 1_990));
        put(&store, &format!("c/{rank:04}"), &fields([("rank", int(rank)), ("few", few)]));
    }
    store.fold_now().unwrap();
    let snapshot = store.snapshot();
    let query = Query { filter: Some(equal("few", int(1))), order: orders(["rank"]), ..query() };
    let prepared = prepared(query);
    let plan = "(rank ASC, __name__ ASC) (few ASC, __name__ ASC)";
    assert_eq!(show(&prepared.plan(&snapshot)), plan);
    let mut rows = prepared.run(&snapshot);
    assert_eq!(rows.by_ref().count(), 10);
    assert_eq!(
        show(&rows.used_indexes(&snapshot)),
        "(few ASC, __name__ ASC) (rank ASC, __name__ ASC)"
    );
    let alone = prepared.alternatives().map(|alone| {
        let mut rows = alone.run(&snapshot);
        rows.by_ref().for_each(drop);
        rows.scanned()
    });
    // A scan, the order, and the one that wins: beside its own the other's share of the race is told.
    let alone: Vec<Scanned> = alone.collect();
    assert_eq!((alone[0], alone[2]), (read(2_000, 2_000), read(10, 10)));
    let raced = rows.scanned();
    assert!(raced.documents > 10 && raced.documents <= 40, "{raced:?}");
}

#[test]
fn what_is_newer_than_the_base_is_documents_without_entries() {
    let store = indexed_store(&indexer());
    for rank in 0..10 {
        put(&store, &format!("c/{rank}"), &fields([("rank", int(rank))]));
    }
    store.fold_now().unwrap();
    for rank in 5..8 {
        put(&store, &format!("c/{rank}"), &fields([("rank", int(-rank))]));
    }
    let snapshot = &store.snapshot();
    let up = "(rank ASC, __name__ ASC)";
    let all = Query { filter: Some(is("rank", FieldOp::GreaterThanOrEqual, int(0))), ..query() };
    check(snapshot, all.clone(), up, up, read(10, 10));
    let count = || AggregateOp::Count { up_to: None };
    check_sum(snapshot, all, count(), up, (7, read(10, 3)));
    // A counter is no entry; that it is to be mended by three names is told.
    check_sum(snapshot, query(), count(), NAMES, (10, read(3, 0)));
}

#[test]
fn aggregations_tell_what_they_read() {
    let (small, folded) = (&documents(false), &documents(true));
    let count = |up_to| AggregateOp::Count { up_to };
    let sum = || AggregateOp::Sum(path("rank"));
    let filtered = |filter| Query { filter: Some(filter), ..query() };
    let tenth = || filtered(equal("tenth", int(3)));
    let by_tenth = "(tenth ASC, __name__ ASC)";
    let by_rank = "(rank ASC, __name__ ASC)";
    check_sum(small, query(), count(None), NAMES, (40, read(40, 0)));
    check_sum(small, query(), count(Some(7)), NAMES, (7, read(7, 0)));
    check_sum(small, query(), count(Some(0)), NAMES, (0, read(0, 0)));
    check_sum(small, tenth(), count(None), NAMES, (4, read(40, 40)));
    check_sum(small, query(), sum(), NAMES, (40, read(40, 40)));
    check_sum(folded, query(), count(None), NAMES, (40, read(0, 0)));
    check_sum(folded, Query { offset: 30, ..query() }, count(None), NAMES, (40, read(0, 0)));
    check_sum(folded, tenth(), count(None), by_tenth, (4, read(4, 0)));
    check_sum(folded, query(), sum(), by_rank, (40, read(40, 0)));
    check_sum(folded, tenth(), sum(), by_tenth, (4, read(4, 4)));
    let limited = Query { limit: Some(2), offset: 1, ..tenth() };
    check_sum(folded, limited, count(None), by_tenth, (3, read(3, 0)));
    let declared = Query { filter: tenth().filter, ..below("declared") };
    check_sum(folded, declared, sum(), "(tenth ASC, rank DESC, __name__ DESC)", (4, read(4, 0)));
}

fn near(filter: Option<Filter>) -> Query {
    let nearest = FindNearest {
        field: path("near"),
        query_vector: vector([1.0, 0.0]),
        measure: DistanceMeasure::Euclidean,
        limit: 5,
        distance_result_field: None,
        distance_threshold: None,
    };
    Query { filter, nearest: Some(nearest), ..query() }
}

#[test]
fn a_search_of_neighbours_tells_its_vectors() {
    let snapshot = &documents(true);
    let vectors = |index_entries, documents, vectors| Scanned { index_entries, documents, vectors };
    check(snapshot, near(None), NAMES, NAMES, vectors(40, 40, 40));
    let tenth = "(tenth ASC, __name__ ASC)";
    let filter = Some(equal("tenth", int(3)));
    check(snapshot, near(filter.clone()), tenth, tenth, vectors(4, 4, 4));
    let count = AggregateOp::Count { up_to: None };
    check_sum(snapshot, near(filter), count, tenth, (4, vectors(4, 4, 4)));
}

#[test]
fn production_charges_by_its_price_list() {
    let scanned = |index_entries, vectors| Scanned { index_entries, documents: 9, vectors };
    let ranges = |fields: &[&str]| {
        let range = |field: &&str| is(field, FieldOp::GreaterThan, int(0));
        let filters: Vec<Filter> = fields.iter().map(range).collect();
        Query { filter: Some(Filter::and(filters)), ..query() }
    };
    #[track_caller]
    fn check(charge: Charge, documents: u64, index_entries: u64, reads: u64) {
        assert_eq!(charge, Charge { documents, index_entries, reads });
        assert_eq!(charge.is_minimum(), documents == 0 && index_entries == 0);
    }
    check(Charge::of_query(&query(), 0, 0, scanned(0, 0)), 0, 0, 1);
    check(Charge::of_query(&query(), 5, 2, scanned(9_000, 0)), 7, 0, 7);
    check(Charge::of_query(&ranges(&["a"]), 5, 0, scanned(95_000, 0)), 5, 0, 5);
    // The examples of the price list and of its page on queries with several ranges.
    check(Charge::of_query(&ranges(&["a", "b"]), 5, 0, scanned(95_000, 0)), 5, 95_000, 100);
    check(Charge::of_query(&ranges(&["a", "b"]), 5, 0, scanned(900, 0)), 5, 900, 6);
    check(Charge::of_query(&near(None), 5, 0, scanned(0, 1_550)), 5, 1_550, 21);
    check(Charge::of_aggregation(&query(), 0, scanned(0, 0)), 0, 0, 1);
    check(Charge::of_aggregation(&query(), 1_500, scanned(0, 0)), 0, 1_500, 2);
    check(Charge::of_aggregation(&ranges(&["a", "b"]), 3, scanned(2_001, 0)), 0, 2_001, 3);
}

#[test]
fn every_plan_names_what_it_reads() {
    let met = std::cell::Cell::new(0);
    for_every_snapshot(|random, snapshot, indexer| {
        let query = random.query();
        let is_names =
            query.select.as_ref().is_some_and(|select| select.iter().all(|f| f.is_name()));
        if prepare(query.clone()).is_err() {
            return;
        }
        for plan in plans(&query, indexer).unwrap() {
            let planned = plan.plan(snapshot);
            let mut rows = plan.run(snapshot);
            let shown = rows.by_ref().count() as u64;
            let used = rows.used_indexes(snapshot);
            assert!(planned.contains(&used[0]), "{planned:?} {used:?} {plan:#?}");
            let scanned = rows.scanned();
            assert!(is_names || scanned.documents >= shown, "{scanned:?} {shown} {plan:#?}");
            // Whatever was read was read through something.
            assert!(scanned.index_entries + scanned.documents >= shown, "{scanned:?} {plan:#?}");
            met.set(met.get() + shown);
        }
    });
    assert!(met.get() > 1_000, "only {} rows", met.get());
}

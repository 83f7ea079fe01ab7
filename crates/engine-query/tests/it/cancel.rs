//! Readers that are gone: whatever is asked, and whichever way it is answered, nothing more is read for them.

use base_value::{ParentPath, ResourcePath};
use engine_query::{
    AggregateOp, Aggregation, Explain, From, Indexer, ListDocuments, Prepared, Query, Scanned,
    aggregate_telling, keys_below, list_collection_ids, list_documents_indexed, partition,
};
use engine_store::{Cancel, Snapshot, StoreError};

use crate::support::{
    database, equal, fields, group, indexed_store, int, orders, path, put, query,
};

const DOCUMENTS: usize = 400;

/// A state of which half is in the base with its indexes, and half is over it; or all of it is in memory.
fn snapshot(has_base: bool) -> Snapshot {
    let store = indexed_store(&Indexer::default());
    for number in 0..DOCUMENTS {
        let parity = i64::from(number % 2 == 0);
        let n = i64::try_from(number).unwrap();
        put(&store, &format!("c/{number:03}"), &fields([("n", int(n)), ("even", int(parity))]));
        if has_base && number == DOCUMENTS / 2 {
            store.fold_now().unwrap();
        }
    }
    store.snapshot()
}

fn queries() -> Vec<Query> {
    let everything = |from| Query::new(ParentPath::root(), from);
    vec![
        query(),
        Query { offset: 100, ..query() },
        Query { order: orders(["-__name__"]), ..query() },
        Query { order: orders(["n"]), ..query() },
        Query { order: orders(["-n"]), limit: Some(300), ..query() },
        Query { filter: Some(equal("even", int(1))), ..query() },
        Query { filter: Some(equal("even", int(1))), order: orders(["n"]), ..query() },
        Query { select: Some(vec![path("__name__")]), ..query() },
        group("c", ""),
        everything(From::Children),
        everything(From::Descendants),
    ]
}

/// What walks have at hand when their reader goes.
const AT_HAND_MAX: u64 = 8;

fn entries(scanned: Scanned) -> u64 {
    scanned.index_entries + scanned.documents
}

#[track_caller]
fn check_cancelled(snapshot: &Snapshot) {
    assert_eq!(snapshot.check(), Err(StoreError::Cancelled));
}

#[test]
fn a_query_ends_when_its_reader_goes() {
    for has_base in [false, true] {
        let whole = snapshot(has_base);
        for query in queries() {
            let text = format!("{query:?}, base: {has_base}");
            let prepared =
                Prepared::new(&database(), query).unwrap().with_indexer(&Indexer::default());
            for prepared in prepared.alternatives().chain([prepared.clone()]) {
                let all = prepared.run(&whole).count();
                assert!(all > 100, "{text}: {all}");
                let cancel = Cancel::default();
                let state = whole.clone().until(&cancel);
                let mut rows = prepared.run(&state);
                assert!(rows.next().is_some(), "{text}");
                cancel.cancel();
                let before = entries(rows.scanned());
                let _left = rows.by_ref().count();
                let more = entries(rows.scanned()) - before;
                assert!(more <= AT_HAND_MAX, "{text}: {more}");
                check_cancelled(&state);
                let mut rows = prepared.run(&state);
                assert!(rows.next().is_none(), "{text}");
                assert!(entries(rows.scanned()) <= AT_HAND_MAX, "{text}");
            }
        }
    }
}

#[test]
fn nothing_else_is_read_for_a_reader_that_is_gone() {
    for has_base in [false, true] {
        let cancel = Cancel::default();
        let state = snapshot(has_base).until(&cancel);
        cancel.cancel();
        for query in queries() {
            let text = format!("{query:?}, base: {has_base}");
            for op in [AggregateOp::Count { up_to: None }, AggregateOp::Sum(path("n"))] {
                let prepared = Prepared::new(&database(), query.clone()).unwrap();
                let prepared = prepared.with_indexer(&Indexer::default());
                let aggregations = [Aggregation { alias: String::new(), op }];
                let Ok(found) =
                    aggregate_telling(&prepared, &aggregations, &state, Explain::Analyze)
                else {
                    // Sums do not go with every query.
                    continue;
                };
                assert!(entries(found.scanned) <= AT_HAND_MAX, "{text}");
            }
        }
        assert!(list_collection_ids(&state, &ParentPath::root()).is_empty());
        let below = ResourcePath::parse("c/000").unwrap();
        assert_eq!(keys_below(&state, &below).count(), 0);
        for show_missing in [false, true] {
            let list = ListDocuments {
                parent: ParentPath::root(),
                collection_id: "c".to_owned(),
                order: Vec::new(),
                show_missing,
                page_size: 10,
                page_token: None,
            };
            let (page, _) =
                list_documents_indexed(&database(), &list, &Indexer::default(), &state).unwrap();
            assert!(page.documents.is_empty());
        }
        let everything = Prepared::new(&database(), group("c", "")).unwrap();
        assert!(partition(&everything, 3, &state).unwrap().is_empty());
        check_cancelled(&state);
    }
}

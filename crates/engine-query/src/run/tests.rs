//! How much is read: bounds that hold whatever the machine.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DatabaseName, DocumentPath, FieldPath, ParentPath, Value, codec, key};
use engine_store::{Snapshot, Store, StoreError, StoreOptions, WriteBatch};

use super::*;
use crate::index::{IndexDefinition, IndexField, IndexMode, IndexScope, Indexer};
use crate::model::{Cursor, Direction, FieldOp, Filter, From, Order, Query};

const DOCUMENTS: i64 = 4_000;

fn indexer() -> Indexer {
    let field = |path, mode| IndexField { path: FieldPath::single(path), mode };
    Indexer::new([IndexDefinition {
        collection_id: "composed".to_owned(),
        scope: IndexScope::Collection,
        fields: vec![field("tenth", IndexMode::Ascending), field("rank", IndexMode::Descending)],
    }])
}

/// Documents with a rank of their own, a tenth they are in, a half, and a tag that few have.
fn snapshot() -> Snapshot {
    let options = StoreOptions::memory(Env::simulated(1, UnixMicros(1)));
    let store = Store::open(StoreOptions { derive: Arc::new(indexer()), ..options }).unwrap();
    let mut batch = WriteBatch::new();
    for collection in ["plain", "composed"] {
        for rank in 0..DOCUMENTS {
            let path = format!("{collection}/{:05}", rank * 7_919 % DOCUMENTS);
            let tags = if rank % 500 == 0 { vec![Value::Integer(1)] } else { Vec::new() };
            let fields = [
                ("rank", Value::Integer(rank)),
                ("tenth", Value::Integer(rank % 10)),
                ("half", Value::Boolean(rank % 2 == 0)),
                ("tags", Value::Array(tags)),
            ];
            let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
            let key = key::document(&DocumentPath::parse(&path).unwrap());
            batch.put(key, codec::encode_fields(&fields));
        }
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.fold_now().unwrap();
    store.snapshot()
}

fn is(field: &str, op: FieldOp, value: Value) -> Filter {
    Filter::field(FieldPath::single(field), op, value)
}

fn query(collection: &str, filters: Vec<Filter>, order: &[(&str, Direction)]) -> Query {
    let from = From::Collection(collection.to_owned());
    Query {
        filter: (!filters.is_empty()).then(|| Filter::and(filters)),
        order: order
            .iter()
            .map(|(field, direction)| Order {
                field: FieldPath::single(field),
                direction: *direction,
            })
            .collect(),
        limit: Some(20),
        ..Query::new(ParentPath::root(), from)
    }
}

/// Checks that the plan which wins has read no more than that many entries and documents.
#[track_caller]
fn check(snapshot: &Snapshot, query: Query, rows: usize, entries: u64, documents: u64) {
    let prepared = Prepared::new(&DatabaseName::new("p", "d"), query).unwrap();
    let prepared = prepared.with_indexer(&indexer());
    let mut run = prepared.run_indexed(snapshot).unwrap();
    run.advance(false);
    assert_eq!(run.ready.len(), rows);
    let meter = &run.meter;
    assert!(meter.entries <= entries, "{} entries", meter.entries);
    assert!(meter.documents <= documents, "{} documents", meter.documents);
}

#[test]
fn reading_stops_at_the_limit() {
    use Direction::{Ascending, Descending};
    use FieldOp::{ArrayContains, Equal, GreaterThan, In, NotEqual};
    let snapshot = &snapshot();
    let tenth = || is("tenth", Equal, Value::Integer(3));
    let half = || is("half", Equal, Value::Boolean(true));
    let above = is("rank", GreaterThan, Value::Integer(2_000));

    check(snapshot, query("plain", vec![], &[("rank", Ascending)]), 20, 20, 20);
    check(snapshot, query("plain", vec![], &[("rank", Descending)]), 20, 20, 20);
    check(snapshot, query("plain", vec![above], &[]), 20, 20, 20);
    check(snapshot, query("plain", vec![half()], &[]), 20, 20, 20);
    // Every tenth document in order matches.
    check(snapshot, query("plain", vec![tenth()], &[("rank", Descending)]), 20, 200, 200);
    check(snapshot, query("composed", vec![tenth()], &[("rank", Descending)]), 20, 20, 20);
    // Eight documents have the tag; an order by rank would have to walk to the end.
    let tagged = || is("tags", ArrayContains, Value::Integer(1));
    check(snapshot, query("plain", vec![tagged()], &[("rank", Ascending)]), 8, 9, 8);
    // A few steps and one seek for each of them.
    check(snapshot, query("plain", vec![tagged(), half()], &[]), 8, 8 * 6, 8);
    let either = is("tenth", In, Value::Array(vec![Value::Integer(3), Value::Integer(4)]));
    check(snapshot, query("plain", vec![either], &[]), 20, 22, 20);
    let other = is("rank", NotEqual, Value::Integer(0));
    check(snapshot, query("plain", vec![other], &[]), 20, 21, 20);
}

#[test]
fn a_cursor_and_an_offset_read_only_what_follows() {
    let snapshot = &snapshot();
    let order = [("rank", Direction::Ascending)];
    let at = |rank| Some(Cursor { values: vec![Value::Integer(rank)], before: false });
    check(snapshot, Query { start: at(3_000), ..query("plain", vec![], &order) }, 20, 21, 21);
    check(snapshot, Query { offset: 1_000, ..query("plain", vec![], &order) }, 20, 1_020, 20);
}

#[test]
fn names_alone_read_no_documents() {
    let snapshot = &snapshot();
    let half = is("half", FieldOp::Equal, Value::Boolean(true));
    let names = Some(vec![FieldPath::name()]);
    check(snapshot, Query { select: names, ..query("plain", vec![half], &[]) }, 20, 20, 0);
}

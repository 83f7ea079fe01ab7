//! Documents that several walks meet count once, and few of them are remembered at a time.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DatabaseName, DocumentPath, FieldPath, ParentPath, Value, codec, key};
use engine_store::{Store, StoreError, StoreOptions, WriteBatch};

use super::*;
use crate::index::Indexer;
use crate::model::{FieldOp, Filter, From, Query};

const DOCUMENTS: i64 = 300;

fn indexer() -> Indexer {
    Indexer::new([])
}

/// Documents with a number of their own, the tenth and the half they are in, and two of three tags.
fn snapshot() -> Snapshot {
    let options = StoreOptions::memory(Env::simulated(1, UnixMicros(1)));
    let store = Store::open(StoreOptions { derive: Arc::new(indexer()), ..options }).unwrap();
    let mut batch = WriteBatch::new();
    for at in 0..DOCUMENTS {
        let tags = [at % 3, (at + 1) % 3].map(Value::Integer).to_vec();
        let fields = [
            ("n", Value::Integer(at)),
            ("tenth", Value::Integer(at % 10)),
            ("half", Value::Boolean(at % 2 == 0)),
            ("tags", Value::Array(tags)),
        ];
        let fields = fields.map(|(name, value)| (name.to_owned(), value)).into();
        let path = DocumentPath::parse(&format!("c/{:03}", at * 7 % DOCUMENTS)).unwrap();
        batch.put(key::document(&path), codec::encode_fields(&fields));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.fold_now().unwrap();
    store.snapshot()
}

fn is(field: &str, op: FieldOp, value: Value) -> Filter {
    Filter::field(FieldPath::single(field), op, value)
}

fn integers<const N: usize>(integers: [i64; N]) -> Value {
    Value::Array(integers.map(Value::Integer).to_vec())
}

/// What its plans have to remember of a query's matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Memory {
    /// Nothing: no document is met twice.
    None,
    /// The newest one.
    Newest,
}

/// Checks how many documents match, by each plan that runs in some order, and what was remembered for it.
#[track_caller]
fn check(filter: Filter, memory: Memory, expected: u64) {
    let snapshot = snapshot();
    let from = From::Collection("c".to_owned());
    let query = Query { filter: Some(filter), ..Query::new(ParentPath::root(), from) };
    let prepared = Prepared::new(&DatabaseName::new("p", "d"), query).unwrap();
    let prepared = prepared.with_indexer(&indexer());
    let overlay = Overlay::of(&prepared, &snapshot);
    let mut in_order = 0;
    for (at, plan) in prepared.index_plans(&snapshot).iter().enumerate() {
        let mut tally = Tally::new(&prepared, &snapshot, plan, &overlay, u64::MAX);
        tally.advance();
        assert!(tally.is_done);
        assert_eq!(tally.count, expected, "counted by plan {at}");
        assert_eq!(tally.repeats.are_possible, memory != Memory::None, "plan {at}");
        let mut keys = HashSet::new();
        let mut visits = 0;
        visit_indexed(&prepared, &snapshot, at, &mut |key, _, _| {
            keys.insert(key.clone());
            visits += 1;
        });
        assert_eq!((visits, keys.len() as u64), (expected, expected), "visited by plan {at}");
        if memory == Memory::None || plan.covered > 0 || plan.is_complete {
            in_order += 1;
            let most = if memory == Memory::None { 0 } else { 1 };
            assert!(tally.repeats.seen.len() <= most, "{}", tally.repeats.seen.len());
        }
    }
    assert!(in_order > 0, "the query has a plan to look at");
}

#[test]
fn values_of_one_field_need_no_memory() {
    use FieldOp::{ArrayContains, In, LessThan};
    let tenth = || is("tenth", In, integers([1, 2]));
    check(tenth(), Memory::None, 60);
    check(Filter::and([tenth(), is("n", LessThan, Value::Integer(100))]), Memory::None, 20);
    let half = is("half", In, Value::Array(vec![Value::Boolean(true), Value::Boolean(false)]));
    check(Filter::and([tenth(), half]), Memory::None, 60);
    check(Filter::and([tenth(), is("tags", ArrayContains, Value::Integer(0))]), Memory::None, 40);
}

#[test]
fn what_two_walks_may_meet_is_remembered_one_at_a_time() {
    use FieldOp::{ArrayContains, ArrayContainsAny, Equal, GreaterThan, In, LessThan};
    let number = Value::Integer;
    check(is("tags", ArrayContainsAny, integers([0, 1])), Memory::Newest, 300);
    let either =
        Filter::or([is("tenth", Equal, number(4)), is("half", Equal, Value::Boolean(true))]);
    check(either, Memory::Newest, 150);
    let below = is("n", LessThan, number(50));
    check(Filter::or([is("tenth", Equal, number(3)), below]), Memory::Newest, 50 + 25);
    let above = is("n", GreaterThan, number(40));
    let below = is("n", LessThan, number(50));
    check(Filter::or([above, below]), Memory::Newest, 300);
    let tags = is("tags", ArrayContains, number(2));
    check(Filter::or([is("tenth", In, integers([1, 2])), tags]), Memory::Newest, 200 + 20);
}

//! Which sums are of entries alone.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{DatabaseName, DocumentPath, ParentPath, codec, key};
use engine_store::{Store, StoreError, StoreOptions, WriteBatch};

use super::*;
use crate::index::{IndexDefinition, IndexField, IndexMode, IndexScope, Indexer};
use crate::model::{FieldOp, Filter, From, Query, UnaryOp};

const DOCUMENTS: i64 = 100;

fn indexer() -> Indexer {
    let field = |path, mode| IndexField { path: FieldPath::single(path), mode };
    Indexer::new([IndexDefinition {
        collection_id: "c".to_owned(),
        scope: IndexScope::Collection,
        fields: vec![field("tenth", IndexMode::Ascending), field("n", IndexMode::Descending)],
    }])
}

/// Documents whose `n` counts up, half of them in doubles; where it ends in 7 it is text, and in 3 it is missing.
fn snapshot() -> Snapshot {
    let options = StoreOptions::memory(Env::simulated(1, UnixMicros(1)));
    let store = Store::open(StoreOptions { derive: Arc::new(indexer()), ..options }).unwrap();
    let mut batch = WriteBatch::new();
    for at in 0..DOCUMENTS {
        let path = DocumentPath::parse(&format!("c/{at:03}")).unwrap();
        let n = match at % 10 {
            7 => Value::String("seven".to_owned()),
            digit if digit % 2 == 0 => Value::Double(at as f64),
            _ => Value::Integer(at),
        };
        let mut fields = vec![("tenth".to_owned(), Value::Integer(at % 10))];
        fields.extend((at % 10 != 3).then(|| ("n".to_owned(), n)));
        batch.put(key::document(&path), codec::encode_fields(&fields.into_iter().collect()));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.fold_now().unwrap();
    store.snapshot()
}

fn is(field: &str, op: FieldOp, value: i64) -> Filter {
    Filter::field(FieldPath::single(field), op, Value::Integer(value))
}

#[test]
fn sums_read_no_documents_where_entries_hold_the_numbers() {
    /// How many documents and what sum of `n` entries alone lead to; `None` where documents are read.
    #[track_caller]
    fn check(filters: Vec<Filter>, fields: &[&str], expected: Option<(u64, Value)>) {
        let from = From::Collection("c".to_owned());
        let filter = (!filters.is_empty()).then(|| Filter::and(filters));
        let query = Query { filter, ..Query::new(ParentPath::root(), from) };
        let fields: Vec<FieldPath> = fields.iter().map(|field| FieldPath::single(field)).collect();
        let prepared = Prepared::new(&DatabaseName::new("p", "d"), query).unwrap();
        let prepared = prepared.with_indexer(&indexer()).reordered(&fields).unwrap();
        let walk = NumberWalk::of(prepared.index_plans(&snapshot()), &fields);
        let found = walk.map(|walk| {
            let total = Total { field: fields[0].clone(), slot: None, numbers: Numbers::default() };
            let mut totals = Totals { fields: vec![total], ..Totals::default() };
            assert_eq!(totals.add_indexed(&prepared, &snapshot(), &walk).unfolded, 0);
            (totals.count, totals.value(&AggregateOp::Sum(fields[0].clone())))
        });
        assert_eq!(found, expected);
    }
    use FieldOp::{Equal, GreaterThan, GreaterThanOrEqual, LessThan};
    let all: i64 = (0..DOCUMENTS).filter(|at| ![3, 7].contains(&(at % 10))).sum();
    check(vec![], &["n"], Some((90, Value::Double(all as f64))));
    check(vec![is("n", GreaterThan, 96)], &["n"], Some((2, Value::Double(98.0 + 99.0))));
    let between = vec![is("n", GreaterThanOrEqual, 11), is("n", LessThan, 12)];
    check(between, &["n"], Some((1, Value::Integer(11))));
    let number = Filter::unary(FieldPath::single("n"), UnaryOp::IsNotNull);
    check(vec![number], &["n"], Some((90, Value::Double(all as f64))));
    // The composite index.
    check(vec![is("tenth", Equal, 5)], &["n"], Some((10, Value::Integer(500))));
    check(vec![is("tenth", Equal, 6)], &["n"], Some((10, Value::Double(510.0))));
    check(vec![is("tenth", Equal, 7)], &["n"], Some((10, Value::Integer(0))));
    // None holds both, or nothing but the matches.
    check(vec![], &["n", "tenth"], None);
    check(vec![is("tenth", Equal, 5), is("n", GreaterThan, 50)], &["n", "tenth"], None);
    check(vec![is("other", Equal, 5)], &["n"], None);
}

//! Short ways to say documents, values and queries.

use std::sync::Arc;

use base_env::{Env, UnixMicros};
use base_value::{
    DatabaseName, DocumentPath, FieldPath, Fields, ParentPath, Timestamp, Value, codec, key,
};
use engine_query::{
    Cursor, Direction, FieldOp, Filter, From, Indexer, Order, Prepared, Query, QueryError, UnaryOp,
};
use engine_store::{Snapshot, Store, StoreError, StoreOptions, WriteBatch};

pub(crate) fn database() -> DatabaseName {
    DatabaseName::new("p", "(default)")
}

pub(crate) fn snapshot<'d>(documents: impl IntoIterator<Item = (&'d str, Fields)>) -> Snapshot {
    let store = Store::memory(Env::simulated(1, UnixMicros(1_000_000)));
    let mut batch = WriteBatch::new();
    for (path, fields) in documents {
        let path = DocumentPath::parse(path).unwrap();
        batch.put(key::document(&path), codec::encode_fields(&fields));
    }
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
    store.snapshot()
}

/// An empty store that derives what queries look up.
pub(crate) fn indexed_store(indexer: &Indexer) -> Store {
    let options = StoreOptions::memory(Env::simulated(1, UnixMicros(1_000_000)));
    Store::open(StoreOptions { derive: Arc::new(indexer.clone()), ..options }).unwrap()
}

/// Writes one document.
pub(crate) fn put(store: &Store, path: &str, fields: &Fields) {
    let mut batch = WriteBatch::new();
    batch.put(key::document(&DocumentPath::parse(path).unwrap()), codec::encode_fields(fields));
    store.apply(|_| Ok::<(), StoreError>(()), batch).unwrap();
}

pub(crate) fn fields<const N: usize>(fields: [(&str, Value); N]) -> Fields {
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(fields(entries))
}

pub(crate) fn int(integer: i64) -> Value {
    Value::Integer(integer)
}

pub(crate) fn double(double: f64) -> Value {
    Value::Double(double)
}

pub(crate) fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

pub(crate) fn array<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

pub(crate) fn vector<const N: usize>(components: [f64; N]) -> Value {
    Value::Vector(components.into())
}

pub(crate) fn time(seconds: i64) -> Value {
    Value::Timestamp(Timestamp { seconds, nanos: 0 })
}

/// A reference to a document of [`database`].
pub(crate) fn reference(path: &str) -> Value {
    Value::Reference(format!("{}/documents/{path}", database()))
}

pub(crate) fn path(path: &str) -> FieldPath {
    FieldPath::parse(path).unwrap()
}

pub(crate) fn is(field: &str, op: FieldOp, value: Value) -> Filter {
    Filter::field(path(field), op, value)
}

pub(crate) fn equal(field: &str, value: Value) -> Filter {
    is(field, FieldOp::Equal, value)
}

pub(crate) fn unary(field: &str, op: UnaryOp) -> Filter {
    Filter::unary(path(field), op)
}

/// Orders such as `a` and `-b`, the latter descending.
pub(crate) fn orders<const N: usize>(fields: [&str; N]) -> Vec<Order> {
    let order = |text: &str| match text.strip_prefix('-') {
        Some(field) => Order { field: path(field), direction: Direction::Descending },
        None => Order { field: path(text), direction: Direction::Ascending },
    };
    fields.into_iter().map(order).collect()
}

pub(crate) fn cursor<const N: usize>(before: bool, values: [Value; N]) -> Option<Cursor> {
    Some(Cursor { values: values.into(), before })
}

pub(crate) fn parent(path: &str) -> ParentPath {
    ParentPath::parse(path).unwrap()
}

/// A query of the collection `c`.
pub(crate) fn query() -> Query {
    Query::new(ParentPath::root(), From::Collection("c".to_owned()))
}

pub(crate) fn group(id: &str, below: &str) -> Query {
    Query::new(parent(below), From::Group(id.to_owned()))
}

pub(crate) fn prepare(query: Query) -> Result<Prepared, QueryError> {
    Prepared::new(&database(), query)
}

/// The paths of a result, joined by blanks.
pub(crate) fn run(query: Query, snapshot: &Snapshot) -> String {
    let prepared = prepare(query).unwrap();
    let rows: Vec<String> = prepared.run(snapshot).map(|row| row.path.to_string()).collect();
    rows.join(" ")
}

/// The ids of a result in one collection, joined by blanks.
pub(crate) fn ids(query: Query, snapshot: &Snapshot) -> String {
    let prepared = prepare(query).unwrap();
    let rows: Vec<String> = prepared.run(snapshot).map(|row| row.path.id().to_owned()).collect();
    rows.join(" ")
}

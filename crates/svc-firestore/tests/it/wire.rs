//! Requests from short texts.

use base_env::UnixMicros;
use base_value::{DocumentName, Value, codec};
use base_wire::google::firestore::v1 as wire;
use base_wire::{WireDocument, WireValue};
use bytes::Bytes;
use prost_types::Timestamp;
use wire::structured_query::{
    CollectionSelector, Direction, FieldFilter, FieldReference, Filter, Order, Projection,
    field_filter, filter,
};
use wire::target::{DocumentsTarget, QueryTarget, ResumeType, TargetType, query_target};

use crate::fields;
use crate::server::DATABASE;

/// The full name of a document, or of the root with an empty path.
pub(crate) fn name(path: &str) -> String {
    match path {
        "" => format!("{DATABASE}/documents"),
        path if path.starts_with("projects/") => path.to_owned(),
        path => format!("{DATABASE}/documents/{path}"),
    }
}

/// The path in a full name.
pub(crate) fn path(name: &str) -> String {
    DocumentName::parse(name).expect("a name of ours").path.to_string()
}

pub(crate) fn micros(time: Option<Timestamp>) -> UnixMicros {
    let time = time.expect("a time");
    assert_eq!(time.nanos % 1_000, 0, "whole microseconds");
    UnixMicros(time.seconds * 1_000_000 + i64::from(time.nanos) / 1_000)
}

pub(crate) fn timestamp(time: UnixMicros) -> Timestamp {
    let time = base_value::Timestamp::from_micros(time.0);
    Timestamp { seconds: time.seconds, nanos: time.nanos }
}

pub(crate) fn document(path: &str, fields: Bytes) -> WireDocument {
    WireDocument { name: name(path), fields, ..WireDocument::default() }
}

pub(crate) fn set(path: &str, fields: Bytes) -> wire::Write {
    let update = wire::write::Operation::Update(document(path, fields));
    wire::Write { operation: Some(update), ..wire::Write::default() }
}

pub(crate) fn delete(path: &str) -> wire::Write {
    let delete = wire::write::Operation::Delete(name(path));
    wire::Write { operation: Some(delete), ..wire::Write::default() }
}

pub(crate) fn commit(writes: Vec<wire::Write>, transaction: Bytes) -> wire::CommitRequest {
    wire::CommitRequest { database: DATABASE.to_owned(), writes, transaction }
}

/// Writes from a text: `set c/a n=1 & delete c/b`; `create`, `update` and `verify` demand what they say.
pub(crate) fn writes(text: &str) -> Vec<wire::Write> {
    text.split(" & ").map(write).collect()
}

fn write(text: &str) -> wire::Write {
    let mut words = text.split_whitespace();
    let (kind, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let demanding = |exists| {
        let exists = wire::precondition::ConditionType::Exists(exists);
        Some(wire::Precondition { condition_type: Some(exists) })
    };
    match kind {
        "set" => set(path, fields::parse(words)),
        "delete" => delete(path),
        "create" => {
            wire::Write { current_document: demanding(false), ..set(path, fields::parse(words)) }
        }
        "update" => {
            wire::Write { current_document: demanding(true), ..set(path, fields::parse(words)) }
        }
        "verify" => wire::Write {
            operation: Some(wire::write::Operation::Verify(name(path))),
            current_document: demanding(true),
            ..wire::Write::default()
        },
        "increment" => increment(path, words.next().unwrap_or_default()),
        other => panic!("unknown write `{other}` in `{text}`"),
    }
}

/// Adds 1 to a field.
fn increment(path: &str, field: &str) -> wire::Write {
    use wire::document_transform::field_transform::TransformType;
    let one = WireValue::from(codec::encode_value(&Value::Integer(1)));
    let transform = wire::document_transform::FieldTransform {
        field_path: field.to_owned(),
        transform_type: Some(TransformType::Increment(one)),
    };
    wire::Write {
        update_mask: Some(wire::DocumentMask::default()),
        update_transforms: vec![transform],
        ..set(path, Bytes::new())
    }
}

/// A target from a text: `c where n > 1 order -n limit 2 offset 1 select n once expect 3`, `**/c`, `docs c/a c/b`.
pub(crate) fn target(id: i32, text: &str) -> wire::Target {
    let mut words = text.split_whitespace().peekable();
    let mut target = wire::Target { target_id: id, ..wire::Target::default() };
    if words.peek() == Some(&"docs") {
        let documents = words.skip(1).map(name).collect();
        target.target_type = Some(TargetType::Documents(DocumentsTarget { documents }));
        return target;
    }
    let mut query = wire::StructuredQuery::default();
    let (parent, selector) = selector(words.next().unwrap_or_default());
    query.from.push(selector);
    while let Some(word) = words.next() {
        let mut next =
            || words.next().unwrap_or_else(|| panic!("nothing after `{word}` in `{text}`"));
        match word {
            "where" => query.r#where = Some(comparison(next(), next(), next())),
            "order" => query.order_by.extend(next().split(',').map(order)),
            "limit" => query.limit = Some(next().parse().expect("a number")),
            "offset" => query.offset = next().parse().expect("a number"),
            "select" => {
                let fields = next().split(',').map(reference).collect();
                query.select = Some(Projection { fields });
            }
            "once" => target.once = true,
            "expect" => target.expected_count = Some(next().parse().expect("a number")),
            other => panic!("unknown `{other}` in `{text}`"),
        }
    }
    let query = Some(query_target::QueryType::StructuredQuery(query));
    target.target_type = Some(TargetType::Query(QueryTarget { parent, query_type: query }));
    target
}

/// The query of a target that is one.
pub(crate) fn structured(text: &str) -> (String, wire::StructuredQuery) {
    match target(1, text).target_type {
        Some(TargetType::Query(QueryTarget {
            parent,
            query_type: Some(query_target::QueryType::StructuredQuery(query)),
        })) => (parent, query),
        _ => panic!("no query: {text}"),
    }
}

/// `token` makes the target take up where that was given.
pub(crate) fn with_token(target: wire::Target, token: Bytes) -> wire::Target {
    wire::Target { resume_type: Some(ResumeType::ResumeToken(token)), ..target }
}

/// `time` makes the target take up at that.
pub(crate) fn with_read_time(target: wire::Target, time: UnixMicros) -> wire::Target {
    wire::Target { resume_type: Some(ResumeType::ReadTime(timestamp(time))), ..target }
}

/// The request that adds a target.
pub(crate) fn add(target: wire::Target, database: &str) -> wire::ListenRequest {
    wire::ListenRequest {
        database: database.to_owned(),
        target_change: Some(wire::listen_request::TargetChange::AddTarget(target)),
        ..wire::ListenRequest::default()
    }
}

/// The request that removes one.
pub(crate) fn remove(id: i32, database: &str) -> wire::ListenRequest {
    wire::ListenRequest {
        database: database.to_owned(),
        target_change: Some(wire::listen_request::TargetChange::RemoveTarget(id)),
        ..wire::ListenRequest::default()
    }
}

/// Parent and selector of `c`, `c/x/d`, `**/c` or `c/x/**/d`.
fn selector(text: &str) -> (String, CollectionSelector) {
    let (before, id) = text.rsplit_once('/').unwrap_or(("", text));
    let (parent, all_descendants) = match before.strip_suffix("**") {
        Some(parent) => (parent.trim_end_matches('/'), true),
        None => (before, false),
    };
    (name(parent), CollectionSelector { collection_id: id.to_owned(), all_descendants })
}

fn reference(path: &str) -> FieldReference {
    FieldReference { field_path: path.to_owned() }
}

fn comparison(path: &str, op: &str, value: &str) -> Filter {
    use field_filter::Operator;
    let op = match op {
        "<" => Operator::LessThan,
        ">" => Operator::GreaterThan,
        "=" => Operator::Equal,
        "!=" => Operator::NotEqual,
        _ => panic!("unknown operator `{op}`"),
    };
    let value = Some(fields::wire_value(value));
    let comparison = FieldFilter { field: Some(reference(path)), op: op.into(), value };
    Filter { filter_type: Some(filter::FilterType::FieldFilter(comparison)) }
}

fn order(text: &str) -> Order {
    let (path, direction) = match text.strip_prefix('-') {
        Some(path) => (path, Direction::Descending),
        None => (text, Direction::Ascending),
    };
    Order { field: Some(reference(path)), direction: direction.into() }
}

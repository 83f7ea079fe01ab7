//! The documents that workloads write and read: some 200 bytes each, with a field of each common kind.

use base_value::{Fields, Timestamp, Value};
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use serde_json::json;
use wire::write::Operation;

use crate::client::Request;

/// The project of every run. A `demo-` project can never be a real one.
pub const PROJECT: &str = "demo-bench";
/// The database.
pub const DATABASE: &str = "projects/demo-bench/databases/(default)";
/// The collection that is read and queried.
pub const READ: &str = "people";
/// How many documents it has.
pub const READ_DOCUMENTS: u64 = 350;
/// The collection that is written.
pub const WRITTEN: &str = "events";
/// How many different documents are written, over and over.
pub const WRITTEN_DOCUMENTS: u64 = 1_000;

/// The id of a document; ids sort as their numbers.
#[must_use]
pub fn id(number: u64) -> String {
    format!("{number:06}")
}

/// The full name of a document.
#[must_use]
pub fn name(collection: &str, number: u64) -> String {
    format!("{DATABASE}/documents/{collection}/{}", id(number))
}

/// The `rank` of a document of [`READ`]: a permutation, so that the order of a query by it is neither
/// that of the ids nor that in which they were written.
#[must_use]
pub fn rank(number: u64) -> u64 {
    // 149 has no factor in common with 350.
    (number * 149) % READ_DOCUMENTS
}

fn text(number: u64) -> String {
    format!("entry {number} of a list that somebody keeps for a while and then reads again")
}

/// Noon of a day in November 2023, in seconds since 1970.
const NOON: i64 = 1_699_963_200;

fn fields(rank: u64, number: u64) -> Fields {
    let seconds = NOON + i64::try_from(number % 3_600).unwrap_or_default();
    let rank = i64::try_from(rank).unwrap_or(i64::MAX);
    Fields::from([
        ("active".to_owned(), Value::Boolean(number.is_multiple_of(2))),
        ("at".to_owned(), Value::Timestamp(Timestamp { seconds, nanos: 0 })),
        ("rank".to_owned(), Value::Integer(rank)),
        ("score".to_owned(), Value::Double(0.5)),
        ("text".to_owned(), Value::String(text(number))),
    ])
}

/// The same document as a REST body.
#[must_use]
pub fn json_body(rank: u64, number: u64) -> String {
    let (minute, second) = (number % 3_600 / 60, number % 60);
    json!({"fields": {
        "active": {"booleanValue": number.is_multiple_of(2)},
        "at": {"timestampValue": format!("2023-11-14T12:{minute:02}:{second:02}Z")},
        "rank": {"integerValue": rank.to_string()},
        "score": {"doubleValue": 0.5},
        "text": {"stringValue": text(number)},
    }})
    .to_string()
}

/// A gRPC commit of documents given by collection, number of the id, rank and number of the content.
#[must_use]
pub fn commit(documents: impl IntoIterator<Item = (&'static str, u64, u64, u64)>) -> Request {
    let write = |(collection, id, rank, number)| wire::Write {
        operation: Some(Operation::Update(WireDocument {
            name: name(collection, id),
            fields: base_value::codec::encode_fields(&fields(rank, number)),
            create_time: None,
            update_time: None,
        })),
        ..wire::Write::default()
    };
    let request = wire::CommitRequest {
        database: DATABASE.to_owned(),
        writes: documents.into_iter().map(write).collect(),
        ..wire::CommitRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/Commit", &request)
}

/// The commit that fills [`READ`].
#[must_use]
pub fn seed() -> Request {
    commit((0..READ_DOCUMENTS).map(|number| (READ, number, rank(number), number)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_a_permutation() {
        let mut ranks: Vec<_> = (0..READ_DOCUMENTS).map(rank).collect();
        ranks.sort_unstable();
        assert!(ranks.into_iter().eq(0..READ_DOCUMENTS));
    }

    #[test]
    fn a_document_has_some_two_hundred_bytes() {
        let bytes = base_value::codec::encode_fields(&fields(17, 17)).len();
        assert!((120..=250).contains(&bytes), "{bytes}");
    }
}

//! Queries over the small collection.

use anyhow::{Context, Result, ensure};
use base_wire::google::firestore::v1 as wire;
use http::Method;
use serde_json::json;
use wire::run_query_request::QueryType;
use wire::structured_query::{CollectionSelector, Direction, FieldReference, Order};

use super::RequestWorkload;
use super::data::{self, DATABASE, READ};
use crate::client::{Answer, Request, Transport};

const LIMIT: usize = 20;

/// The rows of this group.
pub(super) const ROWS: &[RequestWorkload] = &[
    RequestWorkload {
        name: "query, orderBy limit 20 of 350, gRPC",
        transport: Transport::Grpc,
        at_once: 1,
        request: ordered,
        check: is_ordered,
    },
    RequestWorkload {
        name: "query, orderBy limit 20 of 350, REST",
        transport: Transport::Rest,
        at_once: 1,
        request: rest_ordered,
        check: is_ordered_json,
    },
];

fn ordered(_: u64) -> Request {
    let query = wire::StructuredQuery {
        from: vec![CollectionSelector { collection_id: READ.to_owned(), all_descendants: false }],
        order_by: vec![Order {
            field: Some(FieldReference { field_path: "rank".to_owned() }),
            direction: Direction::Ascending.into(),
        }],
        limit: i32::try_from(LIMIT).ok(),
        ..wire::StructuredQuery::default()
    };
    let request = wire::RunQueryRequest {
        parent: format!("{DATABASE}/documents"),
        query_type: Some(QueryType::StructuredQuery(query)),
        ..wire::RunQueryRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/RunQuery", &request)
}

fn is_ordered(_: u64, answer: &Answer) -> Result<()> {
    let responses = answer.messages::<wire::RunQueryResponse>()?;
    let documents = responses.into_iter().filter_map(|response| response.document);
    expect_names(&documents.map(|document| document.name).collect::<Vec<_>>())
}

fn rest_ordered(_: u64) -> Request {
    let body = json!({"structuredQuery": {
        "from": [{"collectionId": READ}],
        "orderBy": [{"field": {"fieldPath": "rank"}, "direction": "ASCENDING"}],
        "limit": LIMIT,
    }});
    Request::rest(Method::POST, format!("/v1/{DATABASE}/documents:runQuery"), body.to_string())
}

fn is_ordered_json(_: u64, answer: &Answer) -> Result<()> {
    let body = answer.json()?;
    let responses = body.as_array().context("the answer is not an array")?;
    let names = responses.iter().filter_map(|response| response.pointer("/document/name"));
    expect_names(&names.filter_map(|name| name.as_str().map(str::to_owned)).collect::<Vec<_>>())
}

fn expect_names(names: &[String]) -> Result<()> {
    let mut all: Vec<u64> = (0..data::READ_DOCUMENTS).collect();
    all.sort_by_key(|number| data::rank(*number));
    let expected: Vec<_> =
        all.into_iter().take(LIMIT).map(|number| data::name(READ, number)).collect();
    ensure!(names == expected, "the query found {names:?}");
    Ok(())
}

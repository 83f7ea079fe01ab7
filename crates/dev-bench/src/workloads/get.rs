//! Reading one document by its name.

use anyhow::{Result, ensure};
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use http::Method;

use super::RequestWorkload;
use super::data::{self, READ, READ_DOCUMENTS};
use crate::client::{Answer, Request, Transport};

/// The rows of this group.
pub(super) const ROWS: &[RequestWorkload] = &[
    RequestWorkload {
        name: "get, gRPC (GetDocument)",
        transport: Transport::Grpc,
        at_once: 1,
        request: get,
        check: is_found,
    },
    RequestWorkload {
        name: "get, gRPC as SDKs do it (BatchGetDocuments)",
        transport: Transport::Grpc,
        at_once: 1,
        request: batch_get,
        check: is_in_batch,
    },
    RequestWorkload {
        name: "get, REST (GET)",
        transport: Transport::Rest,
        at_once: 1,
        request: rest_get,
        check: is_in_json,
    },
];

fn name(number: u64) -> String {
    data::name(READ, number % READ_DOCUMENTS)
}

fn get(number: u64) -> Request {
    let request =
        wire::GetDocumentRequest { name: name(number), ..wire::GetDocumentRequest::default() };
    Request::grpc("/google.firestore.v1.Firestore/GetDocument", &request)
}

fn is_found(number: u64, answer: &Answer) -> Result<()> {
    let found = answer.messages::<WireDocument>()?;
    let names: Vec<_> = found.into_iter().map(|document| document.name).collect();
    ensure!(names == [name(number)], "found {names:?}");
    Ok(())
}

fn batch_get(number: u64) -> Request {
    let request = wire::BatchGetDocumentsRequest {
        database: data::DATABASE.to_owned(),
        documents: vec![name(number)],
        ..wire::BatchGetDocumentsRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/BatchGetDocuments", &request)
}

fn is_in_batch(number: u64, answer: &Answer) -> Result<()> {
    use wire::batch_get_documents_response::Result::{Found, Missing};
    let responses = answer.messages::<wire::BatchGetDocumentsResponse>()?;
    let names: Vec<_> = responses
        .into_iter()
        .filter_map(|response| match response.result {
            Some(Found(document)) => Some(document.name),
            Some(Missing(_)) | None => None,
        })
        .collect();
    ensure!(names == [name(number)], "found {names:?}");
    Ok(())
}

fn rest_get(number: u64) -> Request {
    Request::rest(Method::GET, format!("/v1/{}", name(number)), "")
}

fn is_in_json(number: u64, answer: &Answer) -> Result<()> {
    let body = answer.json()?;
    let found = body.get("name").and_then(|name| name.as_str());
    ensure!(found == Some(&name(number)), "found {body}");
    Ok(())
}

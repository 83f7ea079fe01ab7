//! Documents, found, missing and listed.

use base_status::Status;
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use futures_util::{Stream, StreamExt, stream};
use wire::batch_get_documents_response::Result as Found;

use super::queries::complete;
use super::time;
use crate::ops::batch_get_documents::{Chunk, Results};
use crate::ops::get_document::Document;
use crate::ops::page_token;
use crate::ops::{batch_get_documents, list_documents};

/// A document that exists.
pub(crate) fn document(document: Document) -> WireDocument {
    WireDocument {
        name: document.name.to_string(),
        fields: document.fields,
        create_time: Some(time(document.record.created)),
        update_time: Some(time(document.record.updated)),
    }
}

/// One response a name; a transaction that the read began is told first, in a response of its own.
pub(crate) fn batch_get_documents(
    answer: batch_get_documents::Response,
) -> impl Stream<Item = Result<wire::BatchGetDocumentsResponse, Status>> + Send {
    let read_time = Some(time(answer.read_time));
    let begun = answer.new_transaction.map(|id| wire::BatchGetDocumentsResponse {
        transaction: super::transaction(id),
        ..Default::default()
    });
    let response = move |found| {
        Ok(wire::BatchGetDocumentsResponse {
            read_time,
            result: Some(match found {
                batch_get_documents::Found::Document(found) => Found::Found(document(found)),
                batch_get_documents::Found::Missing(name) => Found::Missing(name.to_string()),
            }),
            ..Default::default()
        })
    };
    let responses = move |results: Vec<_>| stream::iter(results.into_iter().map(response));
    let chunk = move |chunk: Result<Chunk, Status>| match chunk {
        Ok(chunk) => responses(chunk.results).left_stream(),
        Err(status) => stream::iter([Err(status)]).right_stream(),
    };
    let results = match answer.results {
        Results::Here(results) => responses(results).left_stream(),
        Results::Coming(chunks) => {
            complete(chunks, |chunk: &Chunk| chunk.last).flat_map(chunk).right_stream()
        }
    };
    stream::iter(begun.map(Ok)).chain(results)
}

/// One page. A missing document has nothing but its name.
pub(crate) fn list_documents(page: list_documents::Page) -> wire::ListDocumentsResponse {
    let entry = |entry| match entry {
        list_documents::Entry::Document(found) => document(found),
        list_documents::Entry::Missing(name) => {
            WireDocument { name: name.to_string(), ..WireDocument::default() }
        }
    };
    wire::ListDocumentsResponse {
        documents: page.documents.into_iter().map(entry).collect(),
        next_page_token: page
            .next_page_token
            .map(|token| page_token::encode(&token))
            .unwrap_or_default(),
    }
}

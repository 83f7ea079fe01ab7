//! Documents, found, missing and listed.

use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use wire::batch_get_documents_response::Result as Found;

use super::time;
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
) -> impl Iterator<Item = wire::BatchGetDocumentsResponse> {
    let read_time = Some(time(answer.read_time));
    let begun = answer.new_transaction.map(|id| wire::BatchGetDocumentsResponse {
        transaction: super::transaction(id),
        ..Default::default()
    });
    let found = answer.results.into_iter().map(move |found| wire::BatchGetDocumentsResponse {
        read_time,
        result: Some(match found {
            batch_get_documents::Found::Document(found) => Found::Found(document(found)),
            batch_get_documents::Found::Missing(name) => Found::Missing(name.to_string()),
        }),
        ..Default::default()
    });
    begun.into_iter().chain(found)
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

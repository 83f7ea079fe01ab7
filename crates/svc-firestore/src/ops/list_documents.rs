//! ListDocuments: a collection page by page, with the documents that only have something below them if asked.

use base_token::Identity;
use base_value::{CollectionPath, DatabaseName, DocumentName, FieldPath, ParentPath};
use bytes::Bytes;
use engine_query::{From as Selector, Page as ListedPage};
use engine_query::{
    ListDocuments, Listed, Prepared, Query, list_documents_indexed, parse_order_by,
};
use engine_store::Snapshot;
use engine_txn::ReadScope;
use std::sync::Arc;

use super::get_document::Document;
use super::run_query;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::limits::{LIST_PAGE_SIZE_DEFAULT, LIST_PAGE_SIZE_MAX};
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) parent: ParentPath,
    /// `None` lists every collection directly below the parent.
    pub(crate) collection: Option<CollectionPath>,
    /// Zero where the client names none.
    pub(crate) page_size: usize,
    pub(crate) page_token: String,
    pub(crate) order_by: String,
    pub(crate) mask: Option<Vec<FieldPath>>,
    pub(crate) show_missing: bool,
    pub(crate) consistency: Consistency,
}

/// One page.
pub(crate) struct Page {
    pub(crate) documents: Vec<Entry>,
    /// Where the next page starts; `None` after the last.
    pub(crate) next_page_token: Option<Bytes>,
}

/// One listed document.
pub(crate) enum Entry {
    Document(Document),
    /// It does not exist, but documents below it do.
    Missing(DocumentName),
}

/// Lists one page.
///
/// # Errors
/// Orders and page tokens that cannot be read, what the rules refuse, and those of the consistency asked for.
pub(crate) async fn list_documents(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Page, Error> {
    if request.show_missing {
        access::check(caller, Access::Admin)?;
    }
    let guard = access::guard(state, caller, &request.database);
    let database = state.database(&request.database)?;
    let collection_id = request.collection.as_ref().map_or("", |collection| collection.id());
    let list = ListDocuments {
        parent: request.parent.clone(),
        collection_id: collection_id.to_owned(),
        order: parse_order_by(&request.order_by)?,
        show_missing: request.show_missing,
        page_size: match request.page_size {
            0 => LIST_PAGE_SIZE_DEFAULT,
            size => size.min(LIST_PAGE_SIZE_MAX),
        },
        page_token: page_token(&request.page_token)?,
    };
    let scope = scope(&request, collection_id)?;
    let asked = guard.as_ref().map(|_| asked(&request, &list));
    let view = view::open(state, &database, request.consistency, || scope).await?;
    if let (Some(guard), Some(asked)) = (guard, asked) {
        guard.list(&asked, &view.snapshot, view.kind)?;
    }
    let name = request.database.clone();
    let indexer = state.preparer.indexer(&name);
    let run = move |snapshot: &Snapshot| {
        let (page, unfolded) = list_documents_indexed(&name, &list, &indexer, snapshot)?;
        super::fold_if_many(&database, unfolded);
        Ok(page)
    };
    let page = super::reading(view.snapshot, run).await?;
    Ok(Page::masked(&request.database, page, request.mask.as_deref()))
}

/// What a transaction depends on that has listed the collection: all of it.
fn scope(request: &Request, collection_id: &str) -> Result<ReadScope, Error> {
    let query = Query::new(request.parent.clone(), Selector::selector(collection_id, false));
    Ok(run_query::scope(&Arc::new(Prepared::new(&request.database, query)?)))
}

/// The list as the query that rules decide: its page size is the limit.
fn asked(request: &Request, list: &ListDocuments) -> Query {
    let from = Selector::selector(&list.collection_id, false);
    let size = if request.page_size == 0 { list.page_size } else { request.page_size };
    let limit = Some(u32::try_from(size).unwrap_or(u32::MAX));
    let order = list.order.clone();
    Query { limit, order, ..Query::new(request.parent.clone(), from) }
}

fn page_token(token: &str) -> Result<Option<Bytes>, Error> {
    if token.is_empty() {
        return Ok(None);
    }
    super::page_token::decode(token).map(Some)
}

impl Page {
    fn masked(database: &DatabaseName, page: ListedPage, mask: Option<&[FieldPath]>) -> Page {
        let entry = |Listed { path, record }: Listed| {
            let name = database.document(path);
            match record {
                Some(record) => Entry::Document(Document::masked(name, record, mask)),
                None => Entry::Missing(name),
            }
        };
        Page {
            documents: page.documents.into_iter().map(entry).collect(),
            next_page_token: page.next_page_token,
        }
    }
}

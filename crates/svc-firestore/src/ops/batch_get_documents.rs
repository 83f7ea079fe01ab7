//! BatchGetDocuments: several documents of one state, each answered as found or missing.

use std::collections::HashSet;

use base_env::UnixMicros;
use base_token::Identity;
use base_value::{DatabaseName, DocumentName, FieldPath, key};
use engine_txn::{ReadScope, TxnId};

use super::get_document::Document;
use super::view::{self, Consistency};
use crate::access;
use crate::error::Error;
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) names: Vec<DocumentName>,
    pub(crate) mask: Option<Vec<FieldPath>>,
    pub(crate) consistency: Consistency,
}

/// The answer: every distinct name once, in the order of the request.
pub(crate) struct Response {
    pub(crate) results: Vec<Found>,
    pub(crate) read_time: UnixMicros,
    pub(crate) new_transaction: Option<TxnId>,
}

/// One name's answer.
pub(crate) enum Found {
    Document(Document),
    Missing(DocumentName),
}

/// Reads the documents.
///
/// # Errors
/// Those of the consistency asked for; PERMISSION_DENIED where one document may not be read.
pub(crate) async fn batch_get_documents(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Response, Error> {
    let guard = access::guard(state, caller, &request.database);
    let database = state.database(&request.database)?;
    let mut seen = HashSet::with_capacity(request.names.len());
    let names = request.names.into_iter().map(|name| (key::document(&name.path), name));
    let keyed: Vec<_> = names.filter(|(key, _)| seen.insert(key.clone())).collect();
    let scope = || ReadScope::Keys(keyed.iter().map(|(key, _)| key.clone()).collect());
    let view = view::open(state, &database, request.consistency, scope).await?;
    if let Some(guard) = guard {
        let paths: Vec<_> = keyed.iter().map(|(_, name)| &name.path).collect();
        guard.get_all(&paths, &view.snapshot, view.kind)?;
    }
    let mask = request.mask.as_deref();
    let results = keyed.into_iter().map(|(key, name)| match view.snapshot.get(&key) {
        Some(record) => Found::Document(Document::masked(name, record, mask)),
        None => Found::Missing(name),
    });
    let results = results.collect();
    view.check()?;
    Ok(Response { results, read_time: view.read_time(), new_transaction: view.new_transaction })
}

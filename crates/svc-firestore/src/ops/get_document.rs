//! GetDocument: one document, whole or the fields a mask names.

use base_token::Identity;
use base_value::{DocumentName, FieldPath, key};
use bytes::Bytes;
use engine_store::Record;
use engine_txn::ReadScope;

use super::view::{self, Consistency};
use crate::access;
use crate::error::Error;
use crate::state::State;

/// What is asked for.
pub(crate) struct Request {
    pub(crate) name: DocumentName,
    pub(crate) mask: Option<Vec<FieldPath>>,
    pub(crate) consistency: Consistency,
}

/// A document as a read answers it.
pub(crate) struct Document {
    pub(crate) name: DocumentName,
    pub(crate) record: Record,
    /// The encoded fields: all of them, or those of the mask.
    pub(crate) fields: Bytes,
}

/// Reads the document.
///
/// # Errors
/// NOT_FOUND when there is none; PERMISSION_DENIED before that.
pub(crate) async fn get_document(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Document, Error> {
    let guard = access::guard(state, caller, &request.name.database);
    let database = state.database(&request.name.database)?;
    let key = key::document(&request.name.path);
    let scope = || ReadScope::Keys(vec![key.clone()]);
    let view = view::open(state, &database, request.consistency, scope).await?;
    if let Some(guard) = guard {
        guard.get(&request.name.path, &view.snapshot, view.kind)?;
    }
    let found = view.snapshot.get(&key);
    view.check()?;
    match found {
        Some(record) => Ok(Document::masked(request.name, record, request.mask.as_deref())),
        None => Err(Error::DocumentNotFound(request.name)),
    }
}

impl Document {
    /// The document with the fields `mask` names; with all of them when there is no mask.
    pub(crate) fn masked(name: DocumentName, record: Record, mask: Option<&[FieldPath]>) -> Self {
        let fields = match mask {
            None => record.value.clone(),
            Some(paths) => engine_query::project(&record.value, paths),
        };
        Document { name, record, fields }
    }
}

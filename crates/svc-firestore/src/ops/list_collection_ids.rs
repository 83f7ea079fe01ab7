//! ListCollectionIds: the collections directly below the root or a document that hold anything.

use base_token::Identity;
use base_value::{DatabaseName, ParentPath};
use engine_store::Snapshot;
use engine_txn::ReadScope;

use super::page_token;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::limits::COLLECTION_IDS_PAGE_SIZE_DEFAULT;
use crate::state::State;

/// What every token of this method begins with.
const TOKEN: &[u8] = b"collection:";

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) parent: ParentPath,
    /// Zero where the client names none.
    pub(crate) page_size: usize,
    pub(crate) page_token: String,
    pub(crate) consistency: Consistency,
}

/// One page of ids, in the order of their bytes.
pub(crate) struct Page {
    pub(crate) ids: Vec<String>,
    /// Empty after the last page.
    pub(crate) next_page_token: String,
}

/// Lists one page. A token holds the last id of the page before it.
///
/// # Errors
/// Page tokens that cannot be read, and those of the consistency asked for.
pub(crate) async fn list_collection_ids(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Page, Error> {
    access::check(caller, Access::Admin)?;
    let database = state.database(&request.database)?;
    let after = page_token::name_after(TOKEN, &request.page_token)?;
    let view =
        view::open(state, &database, request.consistency, || ReadScope::Keys(Vec::new())).await?;
    let parent = request.parent;
    let list = move |snapshot: &Snapshot| Ok(engine_query::list_collection_ids(snapshot, &parent));
    let mut ids = super::reading(view.snapshot, list).await?;
    if let Some(after) = after {
        ids.retain(|id| *id > after);
    }
    let size = match request.page_size {
        0 => COLLECTION_IDS_PAGE_SIZE_DEFAULT,
        size => size,
    };
    let more = ids.len() > size;
    ids.truncate(size);
    let last = ids.last().filter(|_| more);
    let next_page_token = last.map(|id| page_token::of_name(TOKEN, id)).unwrap_or_default();
    Ok(Page { ids, next_page_token })
}

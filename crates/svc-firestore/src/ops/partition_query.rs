//! PartitionQuery: where to cut a collection group so that several clients can read it side by side.

use base_token::Identity;
use base_value::{DatabaseName, DocumentName, DocumentPath};
use engine_query::{Prepared, Query, partition};
use engine_store::Snapshot;
use engine_txn::ReadScope;

use super::page_token;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

/// What every token of this method begins with.
const TOKEN: &[u8] = b"cut:";

/// What is asked for.
pub(crate) struct Request {
    pub(crate) database: DatabaseName,
    pub(crate) query: Query,
    /// How many cuts at most.
    pub(crate) partitions: i64,
    /// How many of them in one answer; zero for all.
    pub(crate) page_size: usize,
    pub(crate) page_token: String,
    pub(crate) consistency: Consistency,
}

/// One page of cuts, in order of names.
pub(crate) struct Page {
    pub(crate) cuts: Vec<DocumentName>,
    /// Empty after the last page.
    pub(crate) next_page_token: String,
}

/// Finds the cuts. A token holds the last one that was answered before, so that what is written between two pages
/// repeats none.
///
/// # Errors
/// Queries that cannot be partitioned, page tokens that cannot be read, and those of the consistency.
pub(crate) async fn partition_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Page, Error> {
    access::check(caller, Access::Admin)?;
    let after = page_token::name_after(TOKEN, &request.page_token)?;
    let database = state.database(&request.database)?;
    let query = Query { limits: state.limits(), ..request.query };
    let prepared = Prepared::new(&request.database, query)?;
    let view =
        view::open(state, &database, request.consistency, || ReadScope::Keys(Vec::new())).await?;
    let partitions = request.partitions;
    let cut = move |snapshot: &Snapshot| Ok(partition(&prepared, partitions, snapshot)?);
    let mut cuts = super::reading(view.snapshot, cut).await?;
    if let Some(after) = after {
        let after = DocumentPath::parse(&after).map_err(|_| page_token::invalid())?;
        cuts.retain(|cut| *cut > after);
    }
    let size = if request.page_size == 0 { usize::MAX } else { request.page_size };
    let more = cuts.len() > size;
    cuts.truncate(size);
    let last = cuts.last().filter(|_| more);
    let next_page_token = last.map(|cut| page_token::of_name(TOKEN, cut.as_str()));
    Ok(Page {
        next_page_token: next_page_token.unwrap_or_default(),
        cuts: cuts.into_iter().map(|cut| request.database.document(cut)).collect(),
    })
}

//! PartitionQuery: where to cut a collection group so that several clients can read it side by side.

use base_token::Identity;
use base_value::{DatabaseName, DocumentName};
use engine_query::{Prepared, Query, partition};
use engine_txn::ReadScope;

use super::page_token;
use super::view::{self, Consistency};
use crate::access::{self, Access};
use crate::error::Error;
use crate::state::State;

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

/// Finds the cuts. A token holds how many were answered before.
///
/// # Errors
/// Queries that cannot be partitioned, page tokens that cannot be read, and those of the consistency.
pub(crate) async fn partition_query(
    state: &State,
    caller: &Identity,
    request: Request,
) -> Result<Page, Error> {
    access::check(caller, Access::Admin)?;
    let database = state.database(&request.database)?;
    let query = Query { limits: state.limits(), ..request.query };
    let prepared = Prepared::new(&request.database, query)?;
    let view =
        view::open(state, &database, request.consistency, || ReadScope::Keys(Vec::new())).await?;
    let partitions = request.partitions;
    let cut = move || {
        let cuts = partition(&prepared, partitions, &view.snapshot)?;
        view.check()?;
        Ok::<_, Error>(cuts)
    };
    let all = super::blocking(cut).await??;
    let before = answered_before(&request.page_token)?;
    let size = if request.page_size == 0 { usize::MAX } else { request.page_size };
    let cuts: Vec<_> = all.iter().skip(before).take(size).cloned().collect();
    let answered = before.saturating_add(cuts.len());
    let next_page_token = match answered < all.len() {
        true => page_token::encode(answered.to_string().as_bytes()),
        false => String::new(),
    };
    let name = |path| request.database.document(path);
    Ok(Page { cuts: cuts.into_iter().map(name).collect(), next_page_token })
}

fn answered_before(token: &str) -> Result<usize, Error> {
    if token.is_empty() {
        return Ok(0);
    }
    let bytes = page_token::decode(token)?;
    let number = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse().ok());
    number.ok_or_else(|| Error::invalid("invalid page token"))
}

//! Which indexes queries are served by: the automatic ones of every field. A database's store derives with
//! the same indexer that its queries are prepared with.

use base_value::DatabaseName;
use engine_query::{Indexer, Prepared, Query, QueryError};

/// What every database derives from its documents.
pub(crate) fn indexer() -> Indexer {
    Indexer::default()
}

/// Checks and compiles a query, to be served by the indexes.
///
/// # Errors
/// Queries that production refuses.
pub(crate) fn prepare(database: &DatabaseName, query: Query) -> Result<Prepared, QueryError> {
    Ok(Prepared::new(database, query)?.with_indexer(&indexer()))
}

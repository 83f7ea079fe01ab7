//! Cuts a collection group into parts that can be read side by side.

use base_value::{DocumentPath, key};
use engine_store::Snapshot;

use crate::aggregate::counted;
use crate::error::QueryError;
use crate::execute::Prepared;
use crate::limits::PARTITION_DOCUMENTS_MIN;
use crate::model::{Direction, From};

/// Up to `count` names, evenly spaced, at which the result of a query can be cut.
///
/// # Errors
/// The query must be a plain one of a collection group, in ascending order of names.
pub fn partition(
    prepared: &Prepared,
    count: i64,
    snapshot: &Snapshot,
) -> Result<Vec<DocumentPath>, QueryError> {
    let query = prepared.query();
    let by_name = prepared
        .order()
        .iter()
        .all(|order| order.field.is_name() && order.direction == Direction::Ascending);
    let is_plain = query.filter.is_none()
        && query.offset == 0
        && query.limit.is_none()
        && query.start.is_none()
        && query.end.is_none()
        && query.nearest.is_none();
    if !by_name || !is_plain || !matches!(query.from, From::Group(_) | From::Descendants) {
        return Err(QueryError::PartitionQuery);
    }
    let count = usize::try_from(count).ok().filter(|count| *count > 0);
    let count = count.ok_or(QueryError::PartitionCount)?;

    let documents = match counted(prepared, u64::MAX, snapshot) {
        Some((documents, _)) => usize::try_from(documents).unwrap_or(usize::MAX),
        None => prepared.keys(snapshot).count(),
    };
    let parts = count.saturating_add(1).min(documents / PARTITION_DOCUMENTS_MIN);
    let mut points = Vec::new();
    for (index, (key, _)) in prepared.keys(snapshot).enumerate() {
        if points.len() + 1 >= parts {
            break;
        }
        // Point n stands at n parts of the whole, rounded down.
        if index > 0 && index >= (points.len() + 1) * documents / parts {
            points.extend(key::parse(&key));
        }
    }
    Ok(points)
}

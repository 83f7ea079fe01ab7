//! The operations, one file a method, named as Google names them.
//!
//! An operation takes the state and who is asking, then a domain request, and answers a domain
//! response. It sees no wire type and no socket.

pub(crate) mod admin;
pub(crate) mod batch_get_documents;
pub(crate) mod batch_write;
pub(crate) mod begin_transaction;
mod blocking;
pub(crate) mod clear;
pub(crate) mod commit;
pub(crate) mod execute_pipeline;
pub(crate) mod explain;
pub(crate) mod fork;
pub(crate) mod get_document;
pub(crate) mod list_collection_ids;
pub(crate) mod list_documents;
pub(crate) mod listen;
pub(crate) mod page_token;
pub(crate) mod partition_query;
pub(crate) mod rollback;
pub(crate) mod run_aggregation_query;
pub(crate) mod run_query;
pub(crate) mod view;
pub(crate) mod write_document;
pub(crate) mod write_stream;
pub(crate) mod writes;

pub(crate) use self::blocking::{Chunks, Reader, blocking, reading, stopping};

use engine_txn::Database;

use crate::limits::{UNFOLDED_BYTES_MAX, UNFOLDED_LARGE_MAX, UNFOLDED_MAX};

/// Asks for a fold where a query had to look at many documents outside of the indexes, or at fewer in a
/// database of large ones.
pub(crate) fn fold_if_many(database: &Database, unfolded: usize) {
    let is_much =
        || unfolded > UNFOLDED_LARGE_MAX && database.unfolded_bytes() > UNFOLDED_BYTES_MAX;
    if unfolded > UNFOLDED_MAX || is_much() {
        database.request_fold();
    }
}

//! The consistency selectors of every read method, which the protocol spells once per request type.

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use wire::transaction_options::{self, read_only};

use super::times;
use crate::error::Error;
use crate::ops::view::Consistency;
use engine_txn::{Begin, TxnId};

/// Which mode a transaction has whose options name none: reads that begin one get a read-only one,
/// BeginTransaction a read-write one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum DefaultMode {
    ReadOnly,
    ReadWrite,
}

/// The mode of a new transaction.
pub(crate) fn mode(
    options: Option<wire::TransactionOptions>,
    default: DefaultMode,
) -> Result<Begin, Error> {
    match (options.and_then(|options| options.mode), default) {
        (None, DefaultMode::ReadOnly) => Ok(Begin::ReadOnly { read_time: None }),
        (None, DefaultMode::ReadWrite) => Ok(Begin::ReadWrite { retry: None }),
        (Some(transaction_options::Mode::ReadOnly(options)), _) => {
            let read_time = match options.consistency_selector {
                None => None,
                Some(read_only::ConsistencySelector::ReadTime(time)) => {
                    Some(times::read_time(time)?)
                }
            };
            Ok(Begin::ReadOnly { read_time })
        }
        (Some(transaction_options::Mode::ReadWrite(options)), _) => {
            let retry = transaction(&options.retry_transaction)?;
            Ok(Begin::ReadWrite { retry })
        }
    }
}

/// A transaction id; empty bytes name none.
pub(crate) fn transaction(id: &Bytes) -> Result<Option<TxnId>, Error> {
    if id.is_empty() {
        return Ok(None);
    }
    TxnId::from_bytes(id).map(Some).ok_or(Error::InvalidTransaction)
}

fn in_transaction(id: &Bytes) -> Result<Consistency, Error> {
    Ok(transaction(id)?.map_or(Consistency::Latest, Consistency::Transaction))
}

/// Turns the selector of one request type into a [`Consistency`].
pub(crate) trait Selector {
    /// # Errors
    /// Malformed transaction ids and read times.
    fn consistency(self) -> Result<Consistency, Error>;
}

macro_rules! selector {
    ($module:ident { $($variant:ident),* }) => {
        impl Selector for Option<wire::$module::ConsistencySelector> {
            fn consistency(self) -> Result<Consistency, Error> {
                match self {
                    None => Ok(Consistency::Latest),
                    $(Some(wire::$module::ConsistencySelector::$variant(it)) => selector!(@$variant it),)*
                }
            }
        }
    };
    (@Transaction $id:ident) => { in_transaction(&$id) };
    (@ReadTime $time:ident) => { Ok(Consistency::ReadTime(times::read_time($time)?)) };
    (@NewTransaction $options:ident) => {
        Ok(Consistency::NewTransaction(mode(Some($options), DefaultMode::ReadOnly)?))
    };
}

selector!(get_document_request { Transaction, ReadTime });
selector!(list_documents_request { Transaction, ReadTime });
selector!(batch_get_documents_request { Transaction, NewTransaction, ReadTime });
selector!(run_query_request { Transaction, NewTransaction, ReadTime });
selector!(execute_pipeline_request { Transaction, NewTransaction, ReadTime });
selector!(run_aggregation_query_request { Transaction, NewTransaction, ReadTime });
selector!(list_collection_ids_request { ReadTime });
selector!(partition_query_request { ReadTime });

//! Domain types to wire types. Documents are spliced from stored bytes, never decoded.

pub(crate) mod admin;
mod documents;
mod explain;
mod pipelines;
mod queries;
mod streams;
mod writes;

pub(crate) use documents::{batch_get_documents, document, list_documents};
pub(crate) use pipelines::execute_pipeline;
pub(crate) use queries::{partition_query, run_aggregation_query, run_query};
pub(crate) use streams::{listen_response, write_response};
pub(crate) use writes::{batch_write, commit};

use base_env::UnixMicros;
use base_value::{Value, codec};
use base_wire::WireValue;
use bytes::Bytes;
use engine_txn::TxnId;
use prost_types::Timestamp;

/// A time with its protocol's seconds and nanoseconds.
fn time(time: UnixMicros) -> Timestamp {
    let time = base_value::Timestamp::from_micros(time.0);
    Timestamp { seconds: time.seconds, nanos: time.nanos }
}

fn value(value: &Value) -> WireValue {
    WireValue::from(codec::encode_value(value))
}

/// A transaction id as clients hold it.
pub(crate) fn transaction(id: TxnId) -> Bytes {
    Bytes::copy_from_slice(&id.to_bytes())
}

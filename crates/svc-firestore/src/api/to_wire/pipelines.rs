//! The rows of pipelines.

use base_status::Status;
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use engine_pipeline::Row;
use futures_util::{Stream, StreamExt, stream};
use prost::Message;
use prost_types::{Any, Timestamp};

use super::queries::complete;
use super::time;
use crate::ops::execute_pipeline::{Chunk, Run};

/// The responses of a pipeline: the transaction it began, then one a chunk, the last of them with what is
/// told of the pipeline.
pub(crate) fn execute_pipeline(
    run: Run,
) -> impl Stream<Item = Result<wire::ExecutePipelineResponse, Status>> + Send {
    let execution_time = Some(time(run.execution_time));
    let begun = run.new_transaction.map(|id| wire::ExecutePipelineResponse {
        transaction: super::transaction(id),
        ..Default::default()
    });
    let response = move |Chunk { rows, explained, last: _ }: Chunk| wire::ExecutePipelineResponse {
        results: rows.into_iter().map(row).collect(),
        execution_time,
        explain_stats: explained.map(stats),
        ..Default::default()
    };
    let chunks = complete(run.chunks, |chunk: &Chunk| chunk.last);
    stream::iter(begun.map(Ok)).chain(chunks.map(move |chunk| chunk.map(response)))
}

fn row(row: Row) -> WireDocument {
    let time = |time: base_value::Timestamp| Timestamp { seconds: time.seconds, nanos: time.nanos };
    WireDocument {
        fields: row.encoded(),
        name: row.name.unwrap_or_default(),
        create_time: row.created.map(time),
        update_time: row.updated.map(time),
    }
}

fn stats(text: String) -> wire::ExplainStats {
    // `google.protobuf.StringValue` is a message of one string.
    let value = text.encode_to_vec();
    let type_url = "type.googleapis.com/google.protobuf.StringValue".to_owned();
    wire::ExplainStats { data: Some(Any { type_url, value }) }
}

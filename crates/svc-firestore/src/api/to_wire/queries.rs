//! The results of queries, aggregations and partitions.

use base_status::Status;
use base_value::Value;
use base_wire::google::firestore::v1 as wire;
use futures_util::{Stream, StreamExt, stream};

use super::explain::explain_metrics;
use super::{time, value};
use crate::ops::run_query::{Chunk, Run};
use crate::ops::{partition_query, run_aggregation_query};

/// The responses of a query: the transaction it began, what the offset skipped, one a document, and
/// where there is nothing of these, one with the read time alone. What is told of the query comes with the last
/// document, or else with a response of its own.
pub(crate) fn run_query(
    run: Run,
) -> impl Stream<Item = Result<wire::RunQueryResponse, Status>> + Send {
    let read_time = run.read_time.map(time);
    let begun = run.new_transaction.map(|id| wire::RunQueryResponse {
        transaction: super::transaction(id),
        ..Default::default()
    });
    let responses = move |Chunk { skipped, documents, last: _, explained }: Chunk| {
        let mut metrics = explained.map(|explained| explain_metrics(&explained));
        let alone = metrics.take_if(|_| documents.is_empty());
        let alone = alone.map(|metrics| wire::RunQueryResponse {
            read_time,
            explain_metrics: Some(metrics),
            ..Default::default()
        });
        let last = documents.len().saturating_sub(1);
        let skipped = (skipped > 0).then(|| wire::RunQueryResponse {
            read_time,
            skipped_results: i32::try_from(skipped).unwrap_or(i32::MAX),
            ..Default::default()
        });
        let document = move |(at, document)| wire::RunQueryResponse {
            document: Some(super::document(document)),
            read_time,
            explain_metrics: metrics.take_if(|_| at == last),
            ..Default::default()
        };
        let documents = documents.into_iter().enumerate().map(document);
        skipped.into_iter().chain(documents).chain(alone).map(Ok)
    };
    let chunk = move |chunk: Result<Chunk, Status>| match chunk {
        Ok(chunk) => stream::iter(responses(chunk)).left_stream(),
        Err(status) => stream::iter([Err(status)]).right_stream(),
    };
    let results = complete(run.chunks, |chunk: &Chunk| chunk.last).flat_map(chunk);
    let empty = wire::RunQueryResponse { read_time, ..Default::default() };
    stream::iter(begun.map(Ok)).chain(or_else_one(results, Ok(empty)))
}

/// The chunks, and an error if they end before the last one: as who makes them gives a reader up.
pub(super) fn complete<T>(
    chunks: impl Stream<Item = Result<T, Status>>,
    is_last: impl Fn(&T) -> bool,
) -> impl Stream<Item = Result<T, Status>> {
    let state = (Box::pin(chunks), false, is_last);
    stream::unfold(state, |(mut chunks, ended, is_last)| async move {
        if ended {
            return None;
        }
        let chunk = chunks.next().await.unwrap_or_else(|| {
            Err(Status::unavailable(
                "the rest of the result was given up, as its reader took nothing for too long",
            ))
        });
        let ended = chunk.as_ref().map_or(true, &is_last);
        Some((chunk, (chunks, ended, is_last)))
    })
}

/// The items of `stream`; `alone` if it has none.
fn or_else_one<T>(stream: impl Stream<Item = T>, alone: T) -> impl Stream<Item = T> {
    let state = (Box::pin(stream.fuse()), Some(alone));
    stream::unfold(state, |(mut stream, alone)| async move {
        match stream.next().await {
            Some(item) => Some((item, (stream, None))),
            None => alone.map(|alone| (alone, (stream, None))),
        }
    })
}

/// The one response of an aggregation, after the transaction it began. Where nothing was executed, it holds what is
/// told of the query alone.
pub(crate) fn run_aggregation_query(
    aggregated: run_aggregation_query::Aggregated,
) -> impl Iterator<Item = wire::RunAggregationQueryResponse> {
    let begun = aggregated.new_transaction.map(|id| wire::RunAggregationQueryResponse {
        transaction: super::transaction(id),
        ..Default::default()
    });
    let read_time = aggregated.result.as_ref().map(|result| time(result.read_time));
    let result = aggregated.result.map(|result| {
        let values = result.values.iter().map(|(alias, it)| (alias.clone(), value(it)));
        wire::AggregationResult { aggregate_fields: values.collect() }
    });
    let explain_metrics = aggregated.explained.as_ref().map(explain_metrics);
    let response = wire::RunAggregationQueryResponse {
        result,
        read_time,
        explain_metrics,
        ..Default::default()
    };
    begun.into_iter().chain([response])
}

/// Cuts as cursors of one reference each.
pub(crate) fn partition_query(page: partition_query::Page) -> wire::PartitionQueryResponse {
    let cursor = |name: &base_value::DocumentName| wire::Cursor {
        values: vec![value(&Value::Reference(name.to_string()))],
        before: false,
    };
    wire::PartitionQueryResponse {
        partitions: page.cuts.iter().map(cursor).collect(),
        next_page_token: page.next_page_token,
    }
}

#[cfg(test)]
mod tests {
    use base_env::UnixMicros;
    use base_status::Code;
    use tokio::sync::mpsc;

    use super::*;
    use crate::ops::Chunks;

    #[tokio::test]
    async fn a_result_is_complete_or_ends_in_an_error() {
        async fn check(chunks: &[bool], expected: &[Result<(), Code>]) {
            let (out, receiver) = mpsc::channel(8);
            for &last in chunks {
                let documents = Vec::new();
                let chunk = Chunk { skipped: 1, documents, last, explained: None };
                out.send(Ok(chunk)).await.expect("there is room");
            }
            drop(out);
            let read_time = Some(UnixMicros(1));
            let run = Run { read_time, new_transaction: None, chunks: Chunks::from(receiver) };
            let seen: Vec<_> = run_query(run)
                .map(|response| response.map(drop).map_err(|status| status.code))
                .collect()
                .await;
            assert_eq!(seen, expected, "{chunks:?}");
        }
        check(&[true], &[Ok(())]).await;
        check(&[false, false, true], &[Ok(()), Ok(()), Ok(())]).await;
        check(&[false], &[Ok(()), Err(Code::Unavailable)]).await;
        check(&[], &[Err(Code::Unavailable)]).await;
    }
}

//! Queries that are explained: which messages are answered, and what a plan alone does to a transaction.

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use prost_types::value::Kind;
use prost_types::{Duration, Struct};
use wire::structured_query::CollectionSelector;
use wire::transaction_options::{Mode, ReadWrite};
use wire::{run_aggregation_query_request as aggregated, run_query_request as queried};

use crate::server::{Failure, Server};
use crate::wire::{commit, name, writes};

const PLAN: Option<wire::ExplainOptions> = Some(wire::ExplainOptions { analyze: false });
const ANALYZE: Option<wire::ExplainOptions> = Some(wire::ExplainOptions { analyze: true });

/// Rows handed from the query's thread at once, so that more of them are several portions.
const ROWS: usize = 64;

/// A service with so many documents in a collection.
async fn server(documents: usize) -> Server {
    let server = Server::new(1);
    let texts: Vec<String> = (0..documents).map(|at| format!("set c/{at:03} n={at}")).collect();
    if !texts.is_empty() {
        change(&server, &texts.join(" & "), Bytes::new()).await.expect("it commits");
    }
    server
}

async fn change(server: &Server, text: &str, transaction: Bytes) -> Result<(), Failure> {
    let request = commit(writes(text), transaction);
    server.call("Commit", &request).await.map(|_: wire::CommitResponse| ())
}

/// The collection, from an offset on.
fn all(offset: i32) -> wire::StructuredQuery {
    let from = CollectionSelector { collection_id: "c".to_owned(), all_descendants: false };
    wire::StructuredQuery { from: vec![from], offset, ..wire::StructuredQuery::default() }
}

async fn query(
    server: &Server,
    query: wire::StructuredQuery,
    explain_options: Option<wire::ExplainOptions>,
    consistency_selector: Option<queried::ConsistencySelector>,
) -> Result<Vec<wire::RunQueryResponse>, Failure> {
    let request = wire::RunQueryRequest {
        parent: name(""),
        query_type: Some(queried::QueryType::StructuredQuery(query)),
        explain_options,
        consistency_selector,
    };
    server.all("RunQuery", &request).await
}

async fn count(
    server: &Server,
    explain_options: Option<wire::ExplainOptions>,
    consistency_selector: Option<aggregated::ConsistencySelector>,
) -> Result<Vec<wire::RunAggregationQueryResponse>, Failure> {
    use wire::structured_aggregation_query::{Aggregation, QueryType, aggregation};
    let count = aggregation::Operator::Count(aggregation::Count::default());
    let aggregation = Aggregation { alias: "n".to_owned(), operator: Some(count) };
    let query = wire::StructuredAggregationQuery {
        query_type: Some(QueryType::StructuredQuery(all(0))),
        aggregations: vec![aggregation],
    };
    let request = wire::RunAggregationQueryRequest {
        parent: name(""),
        query_type: Some(aggregated::QueryType::StructuredAggregationQuery(query)),
        explain_options,
        consistency_selector,
    };
    server.all("RunAggregationQuery", &request).await
}

/// `key=value` of every text of a struct, those inside of others included.
fn show(of: &Struct) -> String {
    let member = |(name, value): (&String, &prost_types::Value)| match &value.kind {
        Some(Kind::StringValue(text)) => format!("{name}={text}"),
        Some(Kind::StructValue(inner)) => show(inner),
        other => panic!("no text: {other:?}"),
    };
    of.fields.iter().map(member).collect::<Vec<_>>().join(" ")
}

/// The indexes, and where it was executed, results, reads and the rest.
fn metrics(metrics: &wire::ExplainMetrics) -> (String, Option<(i64, i64, String)>) {
    let plan = metrics.plan_summary.as_ref().expect("a plan");
    let indexes: Vec<String> = plan.indexes_used.iter().map(show).collect();
    let stats = metrics.execution_stats.as_ref().map(|stats| {
        // The clock stands still.
        assert_eq!(stats.execution_duration, Some(Duration::default()));
        let debug = stats.debug_stats.as_ref().expect("they are told");
        (stats.results_returned, stats.read_operations, show(debug))
    });
    (indexes.join("; "), stats)
}

const NAMES: &str = "properties=(__name__ ASC) query_scope=Collection";

/// One letter for each message: what the offset skipped, a document, a read time alone; with a star where it is
/// explained.
async fn shape(documents: usize, offset: i32, explain: Option<wire::ExplainOptions>) -> String {
    let server = server(documents).await;
    let answers = query(&server, all(offset), explain, None).await.expect("an answer");
    let letter = |answer: wire::RunQueryResponse| {
        assert_eq!(answer.read_time.is_some(), explain != PLAN);
        let letter = match (&answer.document, answer.skipped_results) {
            (Some(_), _) => "d",
            (None, 0) => "r",
            (None, _) => "s",
        };
        let star = if answer.explain_metrics.is_some() { "*" } else { "" };
        format!("{letter}{star}")
    };
    answers.into_iter().map(letter).collect()
}

#[tokio::test]
async fn what_is_told_comes_with_the_last_message() {
    assert_eq!(shape(3, 0, None).await, "ddd");
    assert_eq!(shape(3, 0, PLAN).await, "r*");
    assert_eq!(shape(3, 0, ANALYZE).await, "ddd*");
    assert_eq!(shape(3, 2, ANALYZE).await, "sd*");
    assert_eq!(shape(3, 5, None).await, "s");
    assert_eq!(shape(3, 5, ANALYZE).await, "sr*");
    assert_eq!(shape(0, 0, ANALYZE).await, "r*");
    for documents in [ROWS - 1, ROWS, ROWS + 1, 2 * ROWS] {
        let expected = format!("{}*", "d".repeat(documents));
        assert_eq!(shape(documents, 0, ANALYZE).await, expected, "{documents}");
    }
}

#[tokio::test]
async fn a_query_tells_its_plan_and_what_it_took() {
    let server = server(5).await;
    let told = async |offset, explain| {
        let answers = query(&server, all(offset), explain, None).await.expect("an answer");
        let last = answers.last().and_then(|last| last.explain_metrics.as_ref());
        last.map(metrics)
    };
    assert_eq!(told(0, None).await, None);
    assert_eq!(told(0, PLAN).await, Some((NAMES.to_owned(), None)));
    let stats = |results, reads, billed, minimum, documents, entries| {
        let debug = format!(
            "documents_billable={billed} index_entries_billable=0 min_query_cost={minimum} \
             small_ops=0 documents_scanned={documents} index_entries_scanned={entries}"
        );
        Some((NAMES.to_owned(), Some((results, reads, debug))))
    };
    assert_eq!(told(0, ANALYZE).await, stats(5, 5, 5, 0, 5, 5));
    assert_eq!(told(2, ANALYZE).await, stats(3, 5, 5, 0, 3, 5));
    let empty = self::server(0).await;
    let answers = query(&empty, all(0), ANALYZE, None).await.expect("an answer");
    let last = answers[0].explain_metrics.as_ref().map(metrics);
    assert_eq!(last, stats(0, 1, 0, 1, 0, 0));
}

#[tokio::test]
async fn an_aggregation_tells_its_plan_and_what_it_took() {
    let server = server(5).await;
    let planned = &count(&server, PLAN, None).await.expect("an answer")[..];
    let [planned] = planned else { panic!("one answer: {planned:?}") };
    assert_eq!((&planned.result, &planned.read_time), (&None, &None));
    let told = planned.explain_metrics.as_ref().map(metrics);
    assert_eq!(told, Some((NAMES.to_owned(), None)));
    let analyzed = &count(&server, ANALYZE, None).await.expect("an answer")[..];
    let [analyzed] = analyzed else { panic!("one answer: {analyzed:?}") };
    assert!(analyzed.result.is_some() && analyzed.read_time.is_some());
    let told = analyzed.explain_metrics.as_ref().map(metrics);
    let debug = "documents_billable=0 index_entries_billable=5 min_query_cost=0 small_ops=0 \
                 documents_scanned=0 index_entries_scanned=5";
    assert_eq!(told, Some((NAMES.to_owned(), Some((1, 1, debug.to_owned())))));
    let off = count(&server, None, None).await.expect("an answer");
    assert_eq!(off[0].explain_metrics, None);
}

#[tokio::test]
async fn a_transaction_does_not_depend_on_what_it_has_only_planned() {
    for (explain, is_read) in [(PLAN, false), (ANALYZE, true), (None, true)] {
        let server = server(3).await;
        let begin =
            || wire::TransactionOptions { mode: Some(Mode::ReadWrite(ReadWrite::default())) };
        let new = queried::ConsistencySelector::NewTransaction(begin());
        let answers = query(&server, all(0), explain, Some(new)).await.expect("an answer");
        let transaction = answers[0].transaction.clone();
        assert!(!transaction.is_empty(), "the first message names the transaction");
        let same = aggregated::ConsistencySelector::Transaction(transaction.clone());
        count(&server, explain, Some(same)).await.expect("an answer");
        change(&server, "set c/001 n=7", Bytes::new()).await.expect("somebody else's");
        let ended = change(&server, "set d/1 n=1", transaction.clone()).await;
        assert_eq!(ended.is_err(), is_read, "{explain:?}: {ended:?}");
        // One that has ended plans nothing.
        let same = queried::ConsistencySelector::Transaction(transaction);
        query(&server, all(0), explain, Some(same)).await.expect_err("it is over");
    }
}

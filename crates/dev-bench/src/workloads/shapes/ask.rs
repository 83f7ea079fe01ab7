//! What a shape asks, sent over one connection, and what was found: names and documents, comparable across sides.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use base_env::Env;
use base_value::{FieldPath, Fields, Value, codec};
use base_wire::google::firestore::v1 as wire;
use base_wire::{WireDocument, WireValue};
use wire::batch_get_documents_request::ConsistencySelector;
use wire::batch_get_documents_response::Result as Got;
use wire::listen_request::TargetChange as Change;
use wire::listen_response::ResponseType;
use wire::run_query_request::QueryType;
use wire::structured_aggregation_query::aggregation::{Count, Operator};
use wire::structured_aggregation_query::{Aggregation, QueryType as Counted};
use wire::target::{QueryTarget, TargetType, query_target};
use wire::target_change::TargetChangeType;
use wire::transaction_options::{Mode, ReadWrite};
use wire::write::Operation;

use super::query::{Query, encoded};
use crate::client::{Grpc, Messages, Request};
use crate::dataset::Document;
use crate::workloads::data::DATABASE;

/// One thing to ask. Whatever takes more than one request counts as a whole.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// A query.
    Rows(Query),
    /// How many documents a query has.
    Count(Query),
    /// Pages of a query that is ordered by this field, each begun behind the end of the one before.
    Pages { query: Query, field: &'static str, pages: usize },
    /// One document.
    Get(String),
    /// Documents by their names.
    BatchGet(Vec<String>),
    /// Writes a document, then deletes it.
    WriteAndDelete(Document),
    /// Reads a document in a transaction and sets its `revision` to this.
    Transaction { path: String, revision: u64 },
    /// A listener's first snapshot.
    Listen(Query),
}

/// What an answer holds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Found {
    /// The documents, in the order they came; a count counts as a name.
    pub(crate) documents: Vec<WireDocument>,
}

impl Found {
    fn names_only(name: impl Into<String>) -> Self {
        Self { documents: vec![WireDocument { name: name.into(), ..WireDocument::default() }] }
    }

    /// The same documents in the order of their names, for answers that promise none.
    fn sorted(mut documents: Vec<WireDocument>) -> Self {
        documents.sort_by(|one, other| one.name.cmp(&other.name));
        Self { documents }
    }

    pub(crate) fn names(&self) -> Vec<&str> {
        self.documents.iter().map(|document| document.name.as_str()).collect()
    }

    /// The fields of every document. Two encodings of the same map may differ, their values do not.
    pub(crate) fn fields(&self) -> Result<Vec<Fields>> {
        let decoded = self.documents.iter().map(|one| codec::decode_fields(&one.fields));
        decoded.collect::<Result<_, _>>().context("a document that cannot be read")
    }
}

/// The full name of a document.
pub(crate) fn name(path: &str) -> String {
    format!("{DATABASE}/documents/{path}")
}

impl Ask {
    /// Asks, and tells how long it took from the call to the last byte of the answer.
    pub(crate) async fn send(&self, grpc: &mut Grpc) -> Result<(Duration, Found)> {
        let clock = Env::real();
        match self {
            Self::Rows(query) => {
                let request = run_query(query);
                let begun = clock.monotonic();
                let answer = grpc.send(request).await?;
                let took = clock.monotonic().saturating_sub(begun);
                Ok((took, rows(answer.messages()?)))
            }
            Self::Count(query) => {
                let request = count(query);
                let begun = clock.monotonic();
                let answer = grpc.send(request).await?;
                let took = clock.monotonic().saturating_sub(begun);
                Ok((took, counted(answer.messages()?)?))
            }
            Self::Get(path) => {
                let request = get(path);
                let begun = clock.monotonic();
                let answer = grpc.send(request).await?;
                let took = clock.monotonic().saturating_sub(begun);
                Ok((took, Found { documents: answer.messages()? }))
            }
            Self::BatchGet(paths) => {
                let request = batch_get(paths, None);
                let begun = clock.monotonic();
                let answer = grpc.send(request).await?;
                let took = clock.monotonic().saturating_sub(begun);
                Ok((took, Found::sorted(got(answer.messages()?).1)))
            }
            Self::Pages { query, field, pages } => {
                page_through(grpc, &clock, query, field, *pages).await
            }
            Self::WriteAndDelete(document) => write_and_delete(grpc, &clock, document).await,
            Self::Transaction { path, revision } => {
                transaction(grpc, &clock, path, *revision).await
            }
            Self::Listen(query) => first_snapshot(grpc, &clock, query).await,
        }
    }
}

fn parent() -> String {
    format!("{DATABASE}/documents")
}

fn run_query(query: &Query) -> Request {
    let request = wire::RunQueryRequest {
        parent: parent(),
        query_type: Some(QueryType::StructuredQuery(query.wire())),
        ..wire::RunQueryRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/RunQuery", &request)
}

fn rows(responses: Vec<wire::RunQueryResponse>) -> Found {
    Found { documents: responses.into_iter().filter_map(|response| response.document).collect() }
}

fn count(query: &Query) -> Request {
    let count = Aggregation {
        alias: "count".to_owned(),
        operator: Some(Operator::Count(Count::default())),
    };
    let aggregation = wire::StructuredAggregationQuery {
        aggregations: vec![count],
        query_type: Some(Counted::StructuredQuery(query.wire())),
    };
    let request = wire::RunAggregationQueryRequest {
        parent: parent(),
        query_type: Some(
            wire::run_aggregation_query_request::QueryType::StructuredAggregationQuery(aggregation),
        ),
        ..wire::RunAggregationQueryRequest::default()
    };
    Request::grpc("/google.firestore.v1.Firestore/RunAggregationQuery", &request)
}

fn counted(responses: Vec<wire::RunAggregationQueryResponse>) -> Result<Found> {
    let mut results = responses.into_iter().filter_map(|response| response.result);
    let result = results.next().context("no count in the answer")?;
    let count = result.aggregate_fields.get("count").context("no count in the answer")?;
    match codec::decode_value(&count.raw)? {
        Value::Integer(count) => Ok(Found::names_only(count.to_string())),
        other => bail!("a count that is {other:?}"),
    }
}

fn get(path: &str) -> Request {
    let request =
        wire::GetDocumentRequest { name: name(path), ..wire::GetDocumentRequest::default() };
    Request::grpc("/google.firestore.v1.Firestore/GetDocument", &request)
}

fn batch_get(paths: &[String], consistency: Option<ConsistencySelector>) -> Request {
    let request = wire::BatchGetDocumentsRequest {
        database: DATABASE.to_owned(),
        documents: paths.iter().map(|path| name(path)).collect(),
        mask: None,
        consistency_selector: consistency,
    };
    Request::grpc("/google.firestore.v1.Firestore/BatchGetDocuments", &request)
}

/// The transaction that was begun, and the documents.
fn got(responses: Vec<wire::BatchGetDocumentsResponse>) -> (bytes::Bytes, Vec<WireDocument>) {
    let mut transaction = bytes::Bytes::new();
    let mut documents = Vec::new();
    for response in responses {
        if !response.transaction.is_empty() {
            transaction = response.transaction;
        }
        if let Some(Got::Found(document)) = response.result {
            documents.push(document);
        }
    }
    (transaction, documents)
}

fn commit(write: wire::Write, transaction: bytes::Bytes) -> Request {
    let request =
        wire::CommitRequest { database: DATABASE.to_owned(), writes: vec![write], transaction };
    Request::grpc("/google.firestore.v1.Firestore/Commit", &request)
}

fn update(path: &str, fields: bytes::Bytes) -> wire::Write {
    let document = WireDocument { name: name(path), fields, ..WireDocument::default() };
    wire::Write { operation: Some(Operation::Update(document)), ..wire::Write::default() }
}

async fn page_through(
    grpc: &mut Grpc,
    clock: &Env,
    query: &Query,
    field: &str,
    pages: usize,
) -> Result<(Duration, Found)> {
    let path = FieldPath::parse(field)?;
    let mut all = Vec::new();
    let begun = clock.monotonic();
    let mut page = query.clone();
    for _ in 0..pages {
        let found = rows(grpc.send(run_query(&page)).await?.messages()?);
        let last = found.documents.last().context("a page without documents")?;
        let value = codec::find_raw(&last.fields, &path).context("a document without the field")?;
        let value = WireValue::from(bytes::Bytes::copy_from_slice(value));
        page = query.clone().after(vec![value, encoded(&Value::Reference(last.name.clone()))]);
        all.extend(found.documents);
    }
    Ok((clock.monotonic().saturating_sub(begun), Found { documents: all }))
}

async fn write_and_delete(
    grpc: &mut Grpc,
    clock: &Env,
    document: &Document,
) -> Result<(Duration, Found)> {
    let write = commit(update(&document.path, document.fields.clone()), bytes::Bytes::new());
    let delete = wire::Write {
        operation: Some(Operation::Delete(name(&document.path))),
        ..wire::Write::default()
    };
    let delete = commit(delete, bytes::Bytes::new());
    let begun = clock.monotonic();
    let written = grpc.send(write).await?;
    let deleted = grpc.send(delete).await?;
    let took = clock.monotonic().saturating_sub(begun);
    for answer in [written, deleted] {
        let results: usize = answer
            .messages::<wire::CommitResponse>()?
            .iter()
            .map(|commit| commit.write_results.len())
            .sum();
        ensure!(results == 1, "one write had {results} results");
    }
    Ok((took, Found::names_only(document.path.clone())))
}

async fn transaction(
    grpc: &mut Grpc,
    clock: &Env,
    path: &str,
    revision: u64,
) -> Result<(Duration, Found)> {
    let mode = Some(Mode::ReadWrite(ReadWrite::default()));
    let begin = ConsistencySelector::NewTransaction(wire::TransactionOptions { mode });
    let read = batch_get(&[path.to_owned()], Some(begin));
    let revision = Value::Integer(i64::try_from(revision)?);
    let fields = Fields::from([("revision".to_owned(), revision)]);
    let mask = wire::DocumentMask { field_paths: vec!["revision".to_owned()] };
    let write =
        wire::Write { update_mask: Some(mask), ..update(path, codec::encode_fields(&fields)) };
    let begun = clock.monotonic();
    let (transaction, documents) = got(grpc.send(read).await?.messages()?);
    let written = grpc.send(commit(write, transaction.clone())).await?;
    let took = clock.monotonic().saturating_sub(begun);
    ensure!(!transaction.is_empty(), "no transaction was begun");
    ensure!(written.messages::<wire::CommitResponse>()?.len() == 1, "not committed");
    let names = documents.into_iter().map(|document| document.name).collect::<Vec<_>>();
    Ok((took, Found::names_only(names.join(" "))))
}

async fn first_snapshot(grpc: &mut Grpc, clock: &Env, query: &Query) -> Result<(Duration, Found)> {
    let target = QueryTarget {
        parent: parent(),
        query_type: Some(query_target::QueryType::StructuredQuery(query.wire())),
    };
    let target = wire::Target {
        target_id: 1,
        target_type: Some(TargetType::Query(target)),
        ..wire::Target::default()
    };
    let request = wire::ListenRequest {
        database: DATABASE.to_owned(),
        target_change: Some(Change::AddTarget(target)),
        ..wire::ListenRequest::default()
    };
    let request = Request::grpc("/google.firestore.v1.Firestore/Listen", &request);
    let begun = clock.monotonic();
    let mut messages = Messages::of(grpc.stream(request).await?);
    let (mut documents, mut is_current) = (Vec::new(), false);
    loop {
        let message = messages.next::<wire::ListenResponse>().await?;
        let message = message.context("the listener ended before its first snapshot")?;
        match message.response_type {
            Some(ResponseType::DocumentChange(change)) => documents.push(change.decoded()?),
            Some(ResponseType::TargetChange(change)) => {
                let kind = change.target_change_type();
                ensure!(kind != TargetChangeType::Remove, "the target was refused");
                is_current |= kind == TargetChangeType::Current;
                // The moment at which the SDKs call back: everything is consistent as of a read time.
                let is_consistent = change.target_ids.is_empty() && change.read_time.is_some();
                if is_current && is_consistent {
                    break;
                }
            }
            Some(_) | None => {}
        }
    }
    Ok((clock.monotonic().saturating_sub(begun), Found::sorted(documents)))
}

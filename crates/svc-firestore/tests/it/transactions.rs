//! Transactions: contention between clients that retry as SDKs do, and expiry on a clock that is moved.

use std::sync::Arc;
use std::time::Duration;

use base_env::Env;
use base_value::{FieldPath, Value, codec};
use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use wire::batch_get_documents_request::ConsistencySelector;
use wire::batch_get_documents_response::Result as Found;
use wire::transaction_options::{Mode, ReadOnly, ReadWrite};

use crate::fields;
use crate::server::{DATABASE, Failure, Server};
use crate::wire::{commit, name, set, writes};

const ABORTED: i32 = 10;

/// Attempts of one transaction, as in the server SDKs.
const ATTEMPTS_MAX: usize = 5;

fn read_write(retry: Bytes) -> wire::TransactionOptions {
    let mode = Mode::ReadWrite(ReadWrite { retry_transaction: retry });
    wire::TransactionOptions { mode: Some(mode) }
}

/// Reads documents; the transaction the read began, if it began one, and the field `n` of each.
async fn read(
    server: &Server,
    paths: &[&str],
    consistency: ConsistencySelector,
) -> Result<(Bytes, Vec<Option<i64>>), Failure> {
    let request = wire::BatchGetDocumentsRequest {
        database: DATABASE.to_owned(),
        documents: paths.iter().map(|path| name(path)).collect(),
        consistency_selector: Some(consistency),
        ..wire::BatchGetDocumentsRequest::default()
    };
    let answers: Vec<wire::BatchGetDocumentsResponse> =
        server.all("BatchGetDocuments", &request).await?;
    let begun = answers.first().map(|answer| answer.transaction.clone()).unwrap_or_default();
    let values = answers.iter().filter_map(|answer| match answer.result.as_ref()? {
        Found::Missing(_) => Some(None),
        Found::Found(document) => Some(number(&document.fields)),
    });
    Ok((begun, values.collect()))
}

fn number(fields: &[u8]) -> Option<i64> {
    match codec::find(fields, &FieldPath::single("n")) {
        Some(Value::Integer(n)) => Some(n),
        _ => None,
    }
}

async fn end(server: &Server, text: &str, transaction: Bytes) -> Result<(), Failure> {
    let writes = if text.is_empty() { Vec::new() } else { writes(text) };
    let request = commit(writes, transaction);
    server.call("Commit", &request).await.map(|_: wire::CommitResponse| ())
}

/// Runs a transaction as the server SDKs do, but without their pauses: `change` is what is written for
/// what was read. Answers how many attempts it took.
async fn transact(server: &Server, paths: &[&str], change: impl Fn(&[i64]) -> String) -> usize {
    let mut retry = Bytes::new();
    for attempt in 1.. {
        let begin = ConsistencySelector::NewTransaction(read_write(retry.clone()));
        let (transaction, values) = read(server, paths, begin).await.expect("a read");
        assert!(!transaction.is_empty(), "the first answer names the transaction");
        let values: Vec<_> = values.into_iter().map(Option::unwrap_or_default).collect();
        // Others come in between here.
        tokio::task::yield_now().await;
        match end(server, &change(&values), transaction.clone()).await {
            Ok(()) => return attempt,
            Err(failure) => assert_eq!(failure.code, ABORTED, "{failure}"),
        }
        retry = transaction;
    }
    unreachable_attempt()
}

fn unreachable_attempt() -> usize {
    panic!("attempts do not run out")
}

async fn value(server: &Server, path: &str) -> i64 {
    let get = wire::GetDocumentRequest { name: name(path), ..wire::GetDocumentRequest::default() };
    let document: base_wire::WireDocument = server.call("GetDocument", &get).await.expect("it");
    number(&document.fields).expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn contended_counters_count_everybody() {
    for clients in [2, 10, 30] {
        let server = Arc::new(Server::with(Env::real()));
        let tasks: Vec<_> = (0..clients)
            .map(|_| {
                let server = Arc::clone(&server);
                tokio::spawn(async move {
                    transact(&server, &["c/a"], |n| format!("set c/a n={}", n[0] + 1)).await
                })
            })
            .collect();
        let mut most = 0;
        for task in tasks {
            most = most.max(task.await.expect("no panic"));
        }
        assert!(most <= ATTEMPTS_MAX, "{clients} clients: {most} attempts");
        assert_eq!(value(&server, "c/a").await, clients);
    }
}

/// B005 googleapis/google-cloud-go#2604: reads of one transaction that are under way at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_transaction_may_read_twice_at_once() {
    let server = Arc::new(Server::with(Env::real()));
    let attempt = |server: Arc<Server>, retry: Bytes| async move {
        let begin = wire::BeginTransactionRequest {
            database: DATABASE.to_owned(),
            options: Some(read_write(retry)),
        };
        let begun: wire::BeginTransactionResponse =
            server.call("BeginTransaction", &begin).await.expect("a transaction");
        let id = begun.transaction;
        let one = |path: &'static str| {
            let (server, id) = (Arc::clone(&server), id.clone());
            async move { read(&server, &[path], ConsistencySelector::Transaction(id)).await }
        };
        let (a, b) = tokio::join!(one("c/a"), one("c/b"));
        let (a, b) = match (a, b) {
            (Ok((_, a)), Ok((_, b))) => (a[0].unwrap_or(0), b[0].unwrap_or(0)),
            (Err(failure), _) | (_, Err(failure)) => return (id, Err(failure)),
        };
        let text = format!("set c/a n={} & set c/b n={}", a + 1, b + 1);
        let committed = end(&server, &text, id.clone()).await;
        (id, committed)
    };
    let tasks: Vec<_> = (0..10)
        .map(|_| {
            let server = Arc::clone(&server);
            tokio::spawn(async move {
                let mut retry = Bytes::new();
                for _ in 0..ATTEMPTS_MAX {
                    match attempt(Arc::clone(&server), retry).await {
                        (_, Ok(())) => return,
                        (id, Err(failure)) => {
                            assert_eq!(failure.code, ABORTED, "{failure:?}");
                            retry = id;
                        }
                    }
                }
                panic!("more attempts than an SDK makes");
            })
        })
        .collect();
    for task in tasks {
        task.await.expect("all of them end well");
    }
    assert_eq!((value(&server, "c/a").await, value(&server, "c/b").await), (10, 10));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_lose_nothing_whichever_way_round_they_read() {
    const ACCOUNTS: [&str; 4] = ["c/a", "c/b", "c/c", "c/d"];
    let server = Arc::new(Server::with(Env::real()));
    for account in ACCOUNTS {
        end(&server, &format!("set {account} n=100"), Bytes::new()).await.expect("a commit");
    }
    let transfer = |number: usize| {
        let server = Arc::clone(&server);
        let from = ACCOUNTS[number % 4];
        let to = ACCOUNTS[(number + 1 + number / 4 % 3) % 4];
        async move {
            let change = |n: &[i64]| format!("set {from} n={} & set {to} n={}", n[0] - 1, n[1] + 1);
            transact(&server, &[from, to], change).await
        }
    };
    let tasks: Vec<_> = (0..24).map(|number| tokio::spawn(transfer(number))).collect();
    for task in tasks {
        task.await.expect("no panic");
    }
    let mut sum = 0;
    for account in ACCOUNTS {
        sum += value(&server, account).await;
    }
    assert_eq!(sum, 400);
}

/// What happens to a transaction, on a clock that stands still but for `wait`. The last step fails with
/// this text, or with nothing.
const LIVES: &[(&str, &str)] = &[
    ("begin; wait 60; commit", ""),
    ("begin; wait 61; commit", "gone"),
    ("begin; read; wait 60; read; wait 60; commit", ""),
    ("begin; read; wait 61; read", "gone"),
    ("begin; read; wait 61; query", "gone"),
    ("begin; wait 61; rollback", ""),
    ("begin; wait 61; rollback; rollback", ""),
    ("begin; wait 61; retry; commit", ""),
    ("begin; rollback; retry; commit", ""),
    ("begin; commit; retry; commit", ""),
    ("begin; retry; commit", ""),
    ("begin; keep; retry; old; commit", "gone"),
    ("begin only; wait 61; read", "gone"),
    ("begin only; wait 59; read", ""),
    ("begin only; retry", "3 Cannot retry a read-only transaction."),
    ("begin only; wait 61; retry", "3 Cannot retry a read-only transaction."),
    ("begin; often 27 10; commit", ""),
    ("begin; often 27 10; wait 1; commit", "gone"),
    ("begin; often 27 10; wait 1; read", "gone"),
    ("begin; read; outside set c/a n=9; commit", "lost"),
    ("begin; read; outside set c/b n=9; commit", ""),
    ("begin; read; outside delete c/a; commit", "lost"),
    ("begin; outside set c/a n=9; read; commit", ""),
    ("begin; read; outside set c/a n=1; commit", ""),
    ("begin; query; outside set c/b n=9; commit", "lost"),
    ("begin; query; outside set c/b n=0; commit", ""),
    ("begin; query; outside set d/b n=9; commit", ""),
    ("begin; read; outside set c/a n=9; commit; commit", "lost; gone"),
    ("begin; read; outside set c/a n=9; commit; retry; read; commit", "lost"),
    ("begin; read; outside set c/a n=9; empty", ""),
    (
        "begin; read; failing; commit",
        "5 No document to update: projects/p/databases/(default)/documents/c/zz",
    ),
    ("begin; commit; commit", "gone"),
    ("begin; commit; rollback", "gone"),
    ("begin; commit; read", "gone"),
];

const GONE: &str = "10 The referenced transaction has expired or is no longer valid.";
const LOST: &str = "10 Aborted due to cross-transaction contention. This occurs when multiple transactions \
                    attempt to access the same data, requiring Firestore to abort at least one in order to \
                    enforce serializability.";

/// A transaction with its database.
struct Life {
    server: Server,
    id: Bytes,
    kept: Bytes,
}

impl Life {
    async fn step(&mut self, step: &str) -> Result<(), Failure> {
        let words: Vec<_> = step.split(' ').collect();
        match words[..] {
            ["begin"] => self.begin(read_write(Bytes::new())).await,
            ["begin", "only"] => {
                let mode = Some(Mode::ReadOnly(ReadOnly::default()));
                self.begin(wire::TransactionOptions { mode }).await
            }
            ["retry"] => self.begin(read_write(self.id.clone())).await,
            ["keep"] => {
                self.kept = self.id.clone();
                Ok(())
            }
            ["old"] => {
                self.id = self.kept.clone();
                Ok(())
            }
            ["wait", seconds] => {
                self.wait(seconds);
                Ok(())
            }
            ["often", times, seconds] => {
                for _ in 0..times.parse().expect("a number") {
                    self.wait(seconds);
                    self.read().await?;
                }
                Ok(())
            }
            ["read"] => self.read().await,
            ["query"] => self.query().await,
            ["commit"] => end(&self.server, "set c/mine n=1", self.id.clone()).await,
            ["empty"] => end(&self.server, "", self.id.clone()).await,
            ["failing"] => end(&self.server, "update c/zz n=1", self.id.clone()).await,
            ["outside", ..] => {
                let text = step.trim_start_matches("outside ");
                end(&self.server, text, Bytes::new()).await
            }
            ["rollback"] => {
                let database = DATABASE.to_owned();
                let request = wire::RollbackRequest { database, transaction: self.id.clone() };
                self.server.call("Rollback", &request).await
            }
            _ => panic!("unknown step: {step}"),
        }
    }

    async fn begin(&mut self, options: wire::TransactionOptions) -> Result<(), Failure> {
        let (database, options) = (DATABASE.to_owned(), Some(options));
        let request = wire::BeginTransactionRequest { database, options };
        let begun: wire::BeginTransactionResponse =
            self.server.call("BeginTransaction", &request).await?;
        self.id = begun.transaction;
        Ok(())
    }

    fn wait(&self, seconds: &str) {
        self.server.env.advance(Duration::from_secs(seconds.parse().expect("seconds")));
    }

    async fn read(&self) -> Result<(), Failure> {
        let transaction = ConsistencySelector::Transaction(self.id.clone());
        read(&self.server, &["c/a"], transaction).await.map(drop)
    }

    async fn query(&self) -> Result<(), Failure> {
        use wire::run_query_request::{ConsistencySelector, QueryType};
        let (parent, query) = crate::wire::structured("c where n > 1");
        let request = wire::RunQueryRequest {
            parent,
            query_type: Some(QueryType::StructuredQuery(query)),
            consistency_selector: Some(ConsistencySelector::Transaction(self.id.clone())),
            ..wire::RunQueryRequest::default()
        };
        let answers = self.server.all::<_, wire::RunQueryResponse>("RunQuery", &request).await;
        answers.map(drop)
    }
}

#[tokio::test]
async fn lives_of_transactions() {
    for (steps, expected) in LIVES {
        let server = Server::new(1);
        let start = commit(vec![set("c/a", fields::parse(["n=1"]))], Bytes::new());
        let _: wire::CommitResponse = server.call("Commit", &start).await.expect("a commit");
        let mut life = Life { server, id: Bytes::new(), kept: Bytes::new() };
        let mut failures = Vec::new();
        for step in steps.split("; ") {
            if let Err(failure) = life.step(step).await {
                failures.push(match failure.to_string() {
                    text if text == GONE => "gone".to_owned(),
                    text if text == LOST => "lost".to_owned(),
                    text => text,
                });
            }
        }
        assert_eq!(failures.join("; "), *expected, "{steps}");
    }
}

//! Requests with very many parts are answered whole.

use base_wire::google::firestore::v1 as wire;
use serde_json::json;
use svc_kit::Service;
use wire::batch_get_documents_response::Result as Found;

use crate::server::{Call, DATABASE, Next, Server};
use crate::wire::{commit, name, set};

/// A user with the id `me`.
const ME: (&str, &str) = ("authorization", "Bearer e30.eyJzdWIiOiJtZSJ9.");

/// Far more than are done in place.
const MANY: usize = 3_000;

fn path(number: usize) -> String {
    format!("c/{number:04}")
}

fn sets(numbers: impl Iterator<Item = usize>) -> Vec<wire::Write> {
    numbers.map(|number| set(&path(number), crate::fields::parse(["n=1"].into_iter()))).collect()
}

fn names(numbers: impl Iterator<Item = usize>) -> wire::BatchGetDocumentsRequest {
    wire::BatchGetDocumentsRequest {
        database: DATABASE.to_owned(),
        documents: numbers.map(|number| name(&path(number))).collect(),
        ..wire::BatchGetDocumentsRequest::default()
    }
}

#[tokio::test]
async fn many_writes_are_answered_one_by_one() {
    let server = Server::new(1);
    let request = commit(sets(0..MANY), Default::default());
    let committed: wire::CommitResponse =
        server.call("Commit", &request).await.expect("it commits");
    assert_eq!(committed.write_results.len(), MANY);

    let mut writes = sets(0..MANY);
    // One of them fails, the others do not.
    let exists = wire::precondition::ConditionType::Exists(false);
    let create = Some(wire::Precondition { condition_type: Some(exists) });
    if let Some(write) = writes.last_mut() {
        write.current_document = create;
    }
    let request = wire::BatchWriteRequest {
        database: DATABASE.to_owned(),
        writes,
        ..wire::BatchWriteRequest::default()
    };
    let written: wire::BatchWriteResponse =
        server.call("BatchWrite", &request).await.expect("it is answered");
    let codes: Vec<i32> = written.status.iter().map(|status| status.code).collect();
    let expected: Vec<i32> = (1..=MANY).map(|number| if number == MANY { 6 } else { 0 }).collect();
    assert_eq!(codes, expected);
    assert_eq!(written.write_results.len(), MANY);
}

#[tokio::test]
async fn many_documents_are_decided_before_the_first_is_told() {
    let server = Server::new(1);
    let source = "rules_version = '2';
service cloud.firestore { match /databases/{database}/documents {
  match /c/{id} { allow get: if id != '2999'; }
} }";
    server.firestore.control("setRules", &json!({ "source": source })).expect("the rules are good");
    let request = commit(sets((0..MANY).step_by(2)), Default::default());
    let _: wire::CommitResponse = server.call("Commit", &request).await.expect("an owner may");

    let mut call = server.open("BatchGetDocuments", &[ME]).await;
    call.send(&names(0..MANY - 1));
    call.half_close();
    let mut found = Vec::new();
    loop {
        match call.next().await {
            Next::Message(wire::BatchGetDocumentsResponse { result, .. }) => {
                found.push(match result {
                    Some(Found::Found(document)) => (document.name, true),
                    Some(Found::Missing(name)) => (name, false),
                    None => panic!("an answer is about a document"),
                });
            }
            Next::End(end) => {
                end.expect("nothing failed");
                break;
            }
        }
    }
    let expected: Vec<_> =
        (0..MANY - 1).map(|number| (name(&path(number)), number % 2 == 0)).collect();
    assert_eq!(found, expected);

    let mut call: Call<_, wire::BatchGetDocumentsResponse> =
        server.open("BatchGetDocuments", &[ME]).await;
    call.send(&names(0..MANY));
    call.half_close();
    let Next::End(Err(failure)) = call.next().await else {
        panic!("something was told before the last one was decided");
    };
    assert_eq!(failure.code, 7);
    // Clients take 8 KiB of headers.
    assert!(failure.message.len() < 7 * 1024, "{}", failure.message.len());
}

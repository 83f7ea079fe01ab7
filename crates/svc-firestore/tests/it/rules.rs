//! Rules under streams and while clients race: what takes more than one request to see.

use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use serde_json::json;
use svc_kit::Service;
use wire::listen_response::ResponseType;
use wire::target_change::TargetChangeType;

use crate::server::{Call, DATABASE, Next, Server};
use crate::wire::{commit, target, writes};

/// A user with the id `me`.
const ME: (&str, &str) = ("authorization", "Bearer e30.eyJzdWIiOiJtZSJ9.");

const RULES: &str = "rules_version = '2';
service cloud.firestore { match /databases/{database}/documents {
  match /notes/{id} { allow read: if resource.data.owner == request.auth.uid; }
  match /guarded/{id} {
    allow get, list: if exists(/databases/$(database)/documents/members/$(request.auth.uid));
    allow write: if get(/databases/$(database)/documents/doors/door).data.open == 1;
  }
} }";

fn set_rules(server: &Server, source: &str) {
    server.firestore.control("setRules", &json!({ "source": source })).expect("the rules are good");
}

async fn write(server: &Server, text: &str) {
    let request = commit(writes(text), Default::default());
    let _: wire::CommitResponse = server.call("Commit", &request).await.expect("an owner may");
}

type Listen = Call<wire::ListenRequest, wire::ListenResponse>;

/// What a stream tells until it is silent: `add 1`, `c/a`, `remove 1 7`, and `--` for a boundary.
async fn told(call: &mut Listen) -> String {
    let mut told = Vec::new();
    while let Some(Next::Message(message)) = call.soon().await {
        told.push(match message.response_type {
            Some(ResponseType::TargetChange(change)) => {
                let id = change.target_ids.first().copied().unwrap_or_default();
                match change.target_change_type() {
                    TargetChangeType::Add => format!("add {id}"),
                    TargetChangeType::Current => format!("current {id}"),
                    TargetChangeType::NoChange => "--".to_owned(),
                    TargetChangeType::Reset => format!("reset {id}"),
                    TargetChangeType::Remove => {
                        format!("remove {id} {}", change.cause.unwrap_or_default().code)
                    }
                }
            }
            Some(ResponseType::DocumentChange(change)) => {
                crate::wire::path(&change.decoded().expect("a document").name)
            }
            Some(ResponseType::DocumentDelete(delete)) => {
                format!("gone {}", crate::wire::path(&delete.document))
            }
            Some(other) => format!("{other:?}"),
            None => "nothing".to_owned(),
        });
    }
    told.join("; ")
}

fn add(id: i32, text: &str) -> wire::ListenRequest {
    wire::ListenRequest {
        database: DATABASE.to_owned(),
        target_change: Some(wire::listen_request::TargetChange::AddTarget(target(id, text))),
        ..wire::ListenRequest::default()
    }
}

#[tokio::test(start_paused = true)]
async fn a_target_is_decided_when_it_comes_when_it_changes_and_when_rules_do() {
    let server = Server::new(1);
    set_rules(&server, RULES);
    write(&server, "set notes/a owner=me & set notes/b owner=you & set members/me n=1").await;
    let mut call: Listen = server.open("Listen", &[ME]).await;
    for (id, text, expected) in [
        (1, "notes where owner = me", "add 1; notes/a; current 1; --"),
        (2, "notes", "add 2; remove 2 7"),
        (3, "docs notes/a", "add 3; notes/a; current 3; --"),
        (4, "docs notes/a notes/b", "add 4; remove 4 7"),
        (5, "guarded", "add 5; current 5; --"),
    ] {
        call.send(&add(id, text));
        assert_eq!(told(&mut call).await, expected, "{text}");
    }
    // A query is proved by its words: a document that leaves it ends nothing. One asked for by name is read.
    write(&server, "set notes/a owner=you").await;
    assert_eq!(told(&mut call).await, "remove 3 7; notes/a; --");
    // What rules read counts when a commit concerns the target, as in the official emulator.
    write(&server, "delete members/me").await;
    assert_eq!(told(&mut call).await, "");
    write(&server, "set guarded/a n=1").await;
    assert_eq!(told(&mut call).await, "remove 5 7");
    // Other rules are asked at once.
    set_rules(&server, &RULES.replace("allow read: if resource", "allow get: if resource"));
    assert_eq!(told(&mut call).await, "remove 1 7");
    set_rules(&server, RULES);
    call.send(&add(1, "notes where owner = me"));
    assert_eq!(told(&mut call).await, "add 1; current 1; --");
}

#[tokio::test(start_paused = true)]
async fn a_refused_write_ends_its_stream() {
    let server = Server::new(1);
    set_rules(&server, RULES);
    write(&server, "set doors/door open=1").await;
    let mut call: Call<wire::WriteRequest, wire::WriteResponse> = server.open("Write", &[ME]).await;
    call.send(&wire::WriteRequest {
        database: DATABASE.to_owned(),
        ..wire::WriteRequest::default()
    });
    let Some(Next::Message(hello)) = call.soon().await else { panic!("a handshake") };
    let request = |text: &str| wire::WriteRequest {
        writes: writes(text),
        stream_token: hello.stream_token.clone(),
        ..wire::WriteRequest::default()
    };
    call.send(&request("set guarded/a n=1"));
    assert!(matches!(call.soon().await, Some(Next::Message(_))), "an open door");
    write(&server, "set doors/door open=0").await;
    call.send(&request("set guarded/b n=1"));
    match call.soon().await {
        Some(Next::End(Err(failure))) => assert_eq!(failure.code, 7, "{failure}"),
        other => panic!("{other:?}"),
    }
}

/// A thousand different sources in a row, beside clients that read all the time: none of their requests fails, and
/// each is decided by one source or the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn rules_are_swapped_under_requests() {
    let server = std::sync::Arc::new(Server::new(1));
    write(&server, "set notes/a owner=me").await;
    set_rules(&server, RULES);
    let done = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (server, done) = (std::sync::Arc::clone(&server), std::sync::Arc::clone(&done));
            tokio::spawn(async move {
                let mut served = 0_u64;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    let request = wire::GetDocumentRequest {
                        name: format!("{DATABASE}/documents/notes/a"),
                        ..wire::GetDocumentRequest::default()
                    };
                    let mut call: Call<_, WireDocument> = server.open("GetDocument", &[ME]).await;
                    call.send(&request);
                    call.half_close();
                    match call.next().await {
                        Next::Message(_) => {}
                        Next::End(end) => panic!("every one of the sources allows it: {end:?}"),
                    }
                    served += 1;
                    tokio::task::yield_now().await;
                }
                served
            })
        })
        .collect();
    for number in 0..1_000 {
        // Every tenth has an error, and changes nothing.
        let source = match number % 10 {
            9 => RULES.replace("allow", "alow"),
            _ => format!("{RULES}\n// {number}"),
        };
        let asked = json!({ "source": source });
        let answer = server.firestore.control("setRules", &asked);
        assert_eq!(answer.is_ok(), number % 10 != 9, "{number}");
        if number % 50 == 0 {
            tokio::task::yield_now().await;
        }
    }
    done.store(true, std::sync::atomic::Ordering::Relaxed);
    let mut served = 0;
    for reader in readers {
        served += reader.await.expect("no request fails");
    }
    assert!(served > 0);

    // What is counted of sources that are gone is bounded: sixteen, and the one in force.
    let summary = server.firestore.control("coverage", &json!({})).expect("a summary");
    assert_eq!(summary["rulesets"].as_array().map(Vec::len), Some(17));
}

//! The Write stream: commits one after the other, as the web and mobile SDKs send them.
//!
//! A step is what the client sends (`; ` between two messages) and what it is answered. A client sends
//! writes (`set c/a n=1 & delete c/b`, or none), and in front of them what else it says: `database`,
//! `other` (another database), `id` (a stream's id), `token` (the last one it got).
//! Answers: `hello` (a handshake), `token`, `ok 2` (two writes are committed), `end 0`.

use std::collections::BTreeSet;

use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;

use crate::server::{Call, DATABASE, Next, Server};
use crate::wire::{micros, name, writes};

type Case = (&'static str, &'static [(&'static str, &'static str)]);

const CASES: &[Case] = &[
    ("handshake", &[("database", "hello")]),
    (
        "commits",
        &[
            ("database", "hello"),
            ("token set c/a n=1", "ok 1"),
            ("token set c/a n=2 & set c/b n=1 & delete c/c", "ok 3"),
            ("token database delete c/a", "ok 1"),
            ("token delete c/a", "ok 1"),
        ],
    ),
    (
        "many in flight, all with the same token",
        &[
            ("database", "hello"),
            (
                "token set c/a n=1; token set c/a n=2; token set c/b n=1 & set c/c n=1",
                "ok 1; ok 1; ok 2",
            ),
            ("token create c/d", "ok 1"),
        ],
    ),
    ("everything at once", &[("database; set c/a n=1; set c/a n=2", "hello; ok 1; ok 1")]),
    (
        "no writes",
        &[
            ("database", "hello"),
            ("token", "token"),
            ("token set c/a n=1", "ok 1"),
            ("token; token", "token; token"),
        ],
    ),
    (
        "a failure ends the stream",
        &[
            ("database", "hello"),
            (
                "token create c/a n=1; token create c/a n=2; token set c/b n=1",
                "ok 1; end 6 Document already exists: projects/p/databases/(default)/documents/c/a",
            ),
            // What came after the failure is not committed.
            (
                "database; update c/b n=1",
                "hello; end 5 No document to update: projects/p/databases/(default)/documents/c/b",
            ),
            // The batch that failed is not committed in part.
            (
                "database; set c/x n=1 & update c/b n=1",
                "hello; end 5 No document to update: projects/p/databases/(default)/documents/c/b",
            ),
            (
                "database; update c/x n=1",
                "hello; end 5 No document to update: projects/p/databases/(default)/documents/c/x",
            ),
            ("database; update c/a n=1", "hello; ok 1"),
        ],
    ),
    (
        "a write that cannot be read ends the stream",
        &[
            (
                "database; set c n=1",
                "hello; end 3 Document name \"projects/p/databases/(default)/documents/c\" lacks \"/\" at index 42.",
            ),
            ("database; set c/a __x__=1", "hello; end 3 field name __x__ is reserved"),
        ],
    ),
    (
        "the database is named first",
        &[
            ("none", "end 3 'database' must be set on an initial write request."),
            ("set c/a n=1", "end 3 'database' must be set on an initial write request."),
            ("database set c/a n=1", "end 3 'writes' must not be set on an initial write request."),
            (
                "database; update c/a n=1",
                "hello; end 5 No document to update: projects/p/databases/(default)/documents/c/a",
            ),
        ],
    ),
    (
        "and is the only one",
        &[
            (
                "database; other",
                "hello; end 3 The request was for database 'projects/p/databases/(default)' but was attempting to access database 'projects/p/databases/other'",
            ),
            (
                "database; set projects/p/databases/other/documents/c/a n=1",
                "hello; end 3 The request was for database 'projects/p/databases/(default)' but was attempting to access database 'projects/p/databases/other'",
            ),
        ],
    ),
    (
        "streams are not resumed",
        &[
            ("database id token", "end 10 resuming a stream not supported"),
            ("database id", "hello"),
            ("token id set c/a n=1", "ok 1"),
        ],
    ),
    ("the client closes its side", &[("database; set c/a n=1; close", "hello; ok 1; end 0")]),
    ("the client says nothing", &[("close", "end 0")]),
    (
        "the service stops",
        &[("database", "hello"), ("token set c/a n=1; stop", "end 14 the suite is stopping")],
    ),
];

type Stream = Call<wire::WriteRequest, wire::WriteResponse>;

/// A client of write streams.
struct Client {
    server: Server,
    stream: Stream,
    /// The last token, and all there were on this stream.
    token: Bytes,
    tokens: BTreeSet<Bytes>,
    ids: BTreeSet<String>,
    /// The writes that were sent and not answered.
    sent: Vec<Vec<wire::Write>>,
}

impl Client {
    async fn new() -> Client {
        let server = Server::new(1);
        let stream = server.open("Write", &[]).await;
        let token = Bytes::from_static(b"a token of before");
        Client {
            server,
            stream,
            token,
            tokens: BTreeSet::new(),
            ids: BTreeSet::new(),
            sent: Vec::new(),
        }
    }

    fn send(&mut self, message: &str) {
        match message {
            "close" => return self.stream.half_close(),
            "stop" => return self.server.stop(),
            _ => {}
        }
        let mut request = wire::WriteRequest::default();
        let mut rest = message;
        while !rest.is_empty() {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "none" => {}
                "database" => request.database = DATABASE.to_owned(),
                "other" => request.database = "projects/p/databases/other".to_owned(),
                "id" => request.stream_id = "7".to_owned(),
                "token" => request.stream_token = self.token.clone(),
                _ => {
                    request.writes = writes(rest);
                    break;
                }
            }
            rest = after;
        }
        self.stream.send(&request);
        self.sent.push(request.writes);
    }

    async fn read(&mut self) -> Vec<String> {
        let mut told = Vec::new();
        while let Some(next) = self.stream.soon().await {
            match next {
                Next::Message(response) => told.push(self.take(response)),
                Next::End(end) => {
                    let text = end.map_or_else(|failure| failure.to_string(), |()| "0".to_owned());
                    told.push(format!("end {text}"));
                    self.stream = self.server.open("Write", &[]).await;
                    self.sent.clear();
                    self.tokens.clear();
                    break;
                }
            }
        }
        told
    }

    /// What clients rely on.
    fn take(&mut self, response: wire::WriteResponse) -> String {
        let wire::WriteResponse { stream_id, stream_token, write_results, commit_time } = response;
        let is_first = self.tokens.is_empty();
        assert!(!stream_token.is_empty(), "every answer has a token");
        assert!(self.tokens.insert(stream_token.clone()), "no token comes twice");
        assert_eq!(
            is_first,
            !stream_id.is_empty(),
            "the first answer, and it alone, names the stream"
        );
        self.token = stream_token;
        let writes = self.sent.remove(0);
        assert_eq!(write_results.len(), writes.len(), "one result a write");
        assert_eq!(commit_time.is_some(), !writes.is_empty(), "a commit has a time");
        for (write, result) in writes.iter().zip(&write_results) {
            let deletes = matches!(write.operation, Some(wire::write::Operation::Delete(_)));
            assert_eq!(result.update_time.is_none(), deletes, "{write:?}");
            assert!(
                result.update_time.is_none_or(|time| micros(Some(time)) <= micros(commit_time))
            );
        }
        if is_first {
            assert!(self.ids.insert(stream_id), "streams have ids of their own");
            assert!(writes.is_empty(), "a handshake commits nothing");
            return "hello".to_owned();
        }
        if writes.is_empty() { "token".to_owned() } else { format!("ok {}", writes.len()) }
    }
}

#[tokio::test(start_paused = true)]
async fn write_streams() {
    for (name, steps) in CASES {
        let mut client = Client::new().await;
        for (number, (messages, expected)) in steps.iter().enumerate() {
            for message in messages.split("; ") {
                client.send(message);
            }
            assert_eq!(
                client.read().await.join("; "),
                *expected,
                "{name}, step {number}: {messages}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_committed_is_read_at_once() {
    let mut client = Client::new().await;
    for message in ["database", "set c/a n=1", "set c/a n=2 & increment c/a n"] {
        client.send(message);
    }
    assert_eq!(client.read().await, ["hello", "ok 1", "ok 2"]);
    let get = wire::GetDocumentRequest { name: name("c/a"), ..wire::GetDocumentRequest::default() };
    let document: base_wire::WireDocument =
        client.server.call("GetDocument", &get).await.expect("a document");
    assert_eq!(crate::fields::render(&document.fields), "n=3");
}

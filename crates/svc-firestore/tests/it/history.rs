//! How far back reads can look.

use base_env::UnixMicros;
use base_wire::WireDocument;
use base_wire::google::firestore::v1 as wire;
use wire::get_document_request::ConsistencySelector;

use crate::fields;
use crate::server::{Failure, Server};
use crate::wire::{commit, micros, name, timestamp, writes};

/// Commits that are remembered, as docs/reference/limits.md says.
const HISTORY: usize = 16_384;

async fn write(server: &Server, number: usize) -> UnixMicros {
    let request = commit(writes(&format!("set c/a n={number}")), Default::default());
    let committed: Result<wire::CommitResponse, _> = server.call("Commit", &request).await;
    micros(committed.expect("it commits").commit_time)
}

async fn read(server: &Server, time: UnixMicros) -> Result<String, Failure> {
    let request = wire::GetDocumentRequest {
        name: name("c/a"),
        consistency_selector: Some(ConsistencySelector::ReadTime(timestamp(time))),
        ..wire::GetDocumentRequest::default()
    };
    let document: WireDocument = server.call("GetDocument", &request).await?;
    Ok(fields::render(&document.fields))
}

#[tokio::test]
async fn reads_look_back_as_far_as_the_history_reaches() {
    let server = Server::new(1);
    let first = write(&server, 0).await;
    let second = write(&server, 1).await;
    for number in 2..=HISTORY {
        write(&server, number).await;
    }
    assert_eq!(read(&server, first).await.as_deref(), Ok("n=0"));
    write(&server, HISTORY + 1).await;
    let text = "The requested 'read_time' is too old.".to_owned();
    assert_eq!(read(&server, first).await, Err(Failure { code: 9, message: text }));
    assert_eq!(read(&server, second).await.as_deref(), Ok("n=1"));
}

//! Writing one document at a time: over each transport, and from eight clients at once.

use anyhow::{Result, ensure};
use base_wire::google::firestore::v1::CommitResponse;
use http::Method;

use super::RequestWorkload;
use super::data::{self, WRITTEN, WRITTEN_DOCUMENTS};
use crate::client::{Answer, Request, Transport};

/// The rows of this group.
pub(super) const ROWS: &[RequestWorkload] = &[
    RequestWorkload {
        name: "write, gRPC (Commit)",
        transport: Transport::Grpc,
        at_once: 1,
        request: commit,
        check: is_committed,
    },
    RequestWorkload {
        name: "write, REST (PATCH)",
        transport: Transport::Rest,
        at_once: 1,
        request: patch,
        check: is_patched,
    },
    RequestWorkload {
        name: "eight writers at once, gRPC (Commit)",
        transport: Transport::Grpc,
        at_once: 8,
        request: commit,
        check: is_committed,
    },
];

// Every number gives new content: a write that changes nothing would be less work.
fn commit(number: u64) -> Request {
    data::commit([(WRITTEN, number % WRITTEN_DOCUMENTS, number, number)])
}

fn is_committed(_: u64, answer: &Answer) -> Result<()> {
    let committed = answer.messages::<CommitResponse>()?;
    let results: usize = committed.iter().map(|commit| commit.write_results.len()).sum();
    ensure!(results == 1, "one write had {results} results");
    Ok(())
}

fn patch(number: u64) -> Request {
    let name = data::name(WRITTEN, number % WRITTEN_DOCUMENTS);
    Request::rest(Method::PATCH, format!("/v1/{name}"), data::json_body(number, number))
}

fn is_patched(number: u64, answer: &Answer) -> Result<()> {
    let body = answer.json()?;
    let rank = body.pointer("/fields/rank/integerValue").and_then(|rank| rank.as_str());
    ensure!(rank == Some(&number.to_string()), "the document written is {body}");
    Ok(())
}

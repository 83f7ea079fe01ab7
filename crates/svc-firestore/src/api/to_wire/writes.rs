//! The results of writes.

use base_status::Status;
use base_wire::google::firestore::v1 as wire;
use base_wire::google::rpc;
use engine_store::Commit;

use super::{time, value};
use crate::ops::commit::Committed;
use crate::ops::writes::Outcome;

/// A commit's response. One without writes is empty, as production answers it.
pub(crate) fn commit(committed: &Committed) -> wire::CommitResponse {
    if committed.outcomes.is_empty() {
        return wire::CommitResponse::default();
    }
    wire::CommitResponse {
        write_results: write_results(committed),
        commit_time: Some(time(committed.commit.time)),
    }
}

/// Each write's result and status, in order; a failed write has an empty result.
pub(crate) fn batch_write(results: &[Result<Committed, Status>]) -> wire::BatchWriteResponse {
    let one = |result: &Result<Committed, Status>| match result {
        Ok(committed) => {
            let mut results = write_results(committed);
            (results.pop().unwrap_or_default(), rpc::Status::default())
        }
        Err(status) => (wire::WriteResult::default(), super::streams::cause(status)),
    };
    let (write_results, status) = results.iter().map(one).unzip();
    wire::BatchWriteResponse { write_results, status }
}

/// The results of a commit's writes, in their order.
pub(super) fn write_results(committed: &Committed) -> Vec<wire::WriteResult> {
    let commit = &committed.commit;
    committed.outcomes.iter().map(|outcome| write_result(outcome, commit)).collect()
}

fn write_result(outcome: &Outcome, commit: &Commit) -> wire::WriteResult {
    wire::WriteResult {
        update_time: outcome.update_time(commit).map(time),
        transform_results: outcome.transform_results.iter().map(value).collect(),
    }
}

//! The Write stream: commits one after the other over one connection, as the web and mobile SDKs send them.

use std::sync::Arc;

use base_status::Status;
use base_token::Identity;
use base_value::DatabaseName;
use bytes::Bytes;
use futures_util::{Stream, StreamExt};
use tokio::sync::mpsc;

use super::commit::{self, Committed};
use super::writes::Write;
use crate::state::State;

/// One message of a client.
pub(crate) struct Request {
    /// The stream's database; the first message names it.
    pub(crate) database: Option<DatabaseName>,
    pub(crate) writes: Vec<Write>,
    /// Whether the client means to go on with a stream of before.
    pub(crate) resumes: bool,
}

/// One message to a client.
pub(crate) struct Response {
    /// Set in the first message only.
    pub(crate) stream_id: Option<String>,
    /// Acknowledges everything up to this message.
    pub(crate) token: Bytes,
    /// What was committed; `None` for the handshake and for a message without writes.
    pub(crate) committed: Option<Committed>,
}

/// Serves one write stream until its client ends it or goes away, a commit fails, or the service stops.
///
/// # Errors
/// The first commit that fails ends the stream with its status; clients open a new one and go on.
pub(crate) async fn write_stream(
    state: Arc<State>,
    caller: Identity,
    mut requests: impl Stream<Item = Result<Request, Status>> + Unpin,
    out: mpsc::Sender<Response>,
) -> Result<(), Status> {
    let mut stopping = state.stopping();
    let mut database: Option<DatabaseName> = None;
    for number in 0u64.. {
        let request = tokio::select! {
            biased;
            () = front::stopped(&mut stopping) => {
                return Err(Status::unavailable("the suite is stopping"));
            }
            () = out.closed() => return Ok(()),
            request = requests.next() => request,
        };
        let Some(request) = request else { return Ok(()) };
        let request = request?;
        let stream_id = match &database {
            Some(_) => None,
            None => {
                database = Some(first(&request)?);
                Some(state.env.auto_id())
            }
        };
        let committed = match &database {
            Some(database) if !request.writes.is_empty() => {
                let (database, writes) = (database.clone(), request.writes);
                let request = commit::Request { database, writes, transaction: None };
                Some(commit::commit(&state, &caller, request).await.map_err(Status::from)?)
            }
            Some(_) | None => None,
        };
        let token = Bytes::copy_from_slice(&number.to_be_bytes());
        if out.send(Response { stream_id, token, committed }).await.is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// The database that the first message of a stream names.
///
/// # Errors
/// First messages that production, or where that is not known the official emulator, refuses.
fn first(request: &Request) -> Result<DatabaseName, Status> {
    if request.resumes {
        return Err(Status::aborted("resuming a stream not supported"));
    }
    if !request.writes.is_empty() {
        let text = "'writes' must not be set on an initial write request.";
        return Err(Status::invalid_argument(text));
    }
    let named = request.database.clone();
    named.ok_or_else(|| {
        Status::invalid_argument("'database' must be set on an initial write request.")
    })
}

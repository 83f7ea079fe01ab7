//! firelet's own route that makes one project a copy of another.

use std::sync::Arc;

use base_status::Status;

use crate::error::Error;
use crate::state::State;

/// Makes the project `to` a copy of `from`, in place of what it held.
///
/// # Errors
/// INVALID_ARGUMENT for a project that is to be its own copy; as [`State::fork`].
pub(crate) async fn fork(state: &Arc<State>, from: String, to: String) -> Result<(), Error> {
    if from == to {
        let text = format!("project `{to}` cannot be a fork of itself: name another project");
        return Err(Status::invalid_argument(text).into());
    }
    let state = Arc::clone(state);
    // In kept data what differs is written.
    Ok(super::blocking(move || state.fork(&from, &to)).await??)
}

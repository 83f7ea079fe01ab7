//! Transactions over one key space: read sets and their validation, the one committer, the commit log.
//!
//! [`Database`] is the way in. Reads run on snapshots; a commit is validated against what was
//! committed since its reads, and the first committer wins at once. Read-write transactions queue, for a
//! bounded time, for the keys they read, so that contended ones are served one after the other
//! instead of failing each other; nobody waits for a queue that does not move.
#![forbid(unsafe_code)]

mod commit_log;
mod committer;
mod database;
mod error;
mod id;
mod intents;
mod limits;
mod observer;
mod reads;
mod transactions;

pub use commit_log::{CommitLog, Lagged};
pub use committer::PlanTime;
pub use database::{Database, TxnView};
pub use error::{CommitError, Conflict, Finish, ReadTimeError, TxnError};
pub use id::TxnId;
pub use limits::Limits;
pub use observer::{Listing, Observer};
pub use reads::{Matches, ReadScope, Reads};
pub use transactions::{Begin, TxnMode};

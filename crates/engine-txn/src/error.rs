//! Why a transaction or a commit was refused. The texts are for developers; a service maps the
//! variants to what its clients expect.

use bytes::Bytes;
use engine_store::StoreError;
use thiserror::Error;

/// Another commit came between a read and the commit that depends on it.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Conflict {
    /// A key that was read has changed.
    #[error("a key that the transaction read was changed by another commit")]
    Key(Bytes),
    /// A range that was read holds other entries now; the key is one that came, went or changed.
    #[error("a range that the transaction read was changed by another commit")]
    Range(Bytes),
    /// A retried transaction has the next turn on this key.
    #[error("a retried transaction has the next turn on a key that the transaction writes")]
    Intent(Bytes),
    /// Too much was committed since the read to know whether it is still true.
    #[error("the commit log no longer reaches back to the transaction's reads")]
    Forgotten,
}

/// How a transaction ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Finish {
    /// Its commit succeeded.
    Committed,
    /// It was rolled back by its client.
    RolledBack,
    /// Its commit met a [`Conflict`].
    Aborted,
    /// It was unused, or open, for too long.
    Expired,
    /// It was read-only, and asked to write.
    Refused,
}

/// Why a transaction cannot be used in the way asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum TxnError {
    /// This database never gave out the id.
    #[error("the transaction is unknown")]
    Unknown,
    /// The transaction has ended.
    #[error("the transaction has ended: {0:?}")]
    Finished(Finish),
    /// A read-only transaction was asked to write.
    #[error("the transaction is read-only")]
    ReadOnly,
    /// A read-only transaction was named as the one to retry.
    #[error("a read-only transaction cannot be retried")]
    RetryReadOnly,
    /// Too many transactions are open.
    #[error("too many transactions are open")]
    TooMany,
    /// The transaction has read too many keys and ranges.
    #[error("the transaction has read too much")]
    TooManyReads,
    /// The read time of a read-only transaction cannot be served.
    #[error(transparent)]
    ReadTime(#[from] ReadTimeError),
}

/// Why the state at a time cannot be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ReadTimeError {
    /// The time has not come yet.
    #[error("the read time is in the future")]
    Future,
    /// The commit log no longer reaches back that far.
    #[error("the read time is too old")]
    TooOld,
}

/// Why a commit did not happen, apart from what its plan says itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CommitError {
    /// Something read was changed by another commit; nothing was written and the transaction ended.
    #[error(transparent)]
    Conflict(#[from] Conflict),
    /// The transaction cannot be committed.
    #[error(transparent)]
    Transaction(#[from] TxnError),
    /// The disk failed; nothing was written, and the transaction stays open.
    #[error(transparent)]
    Store(#[from] StoreError),
}

//! Everything Firestore refuses, with production's code and text for it.
//!
//! Texts that only the official emulator's answer is known for are taken from there
//! (docs/reference/differences.md says which).

use base_env::UnixMicros;
use base_status::{Code, Status};
use base_value::{DatabaseName, DocumentName, NameError, PathError, ValueError, codec};
use engine_pipeline::PipelineError;
use engine_query::{ErrorKind, IndexEntriesError, QueryError};
use engine_store::StoreError;
use engine_txn::{CommitError, Finish, ReadTimeError, TxnError};

use crate::limits::PIPELINE_TEXT_MAX_BYTES;

/// Why an operation was refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("Document \"{0}\" not found.")]
    DocumentNotFound(DocumentName),
    #[error("No document to update: {0}")]
    NoDocumentToUpdate(DocumentName),
    #[error("Document already exists: {0}")]
    DocumentAlreadyExists(DocumentName),
    #[error(
        "the stored version ({}) does not match the required base version ({})",
        stored.0, required.0
    )]
    StaleUpdateTime { stored: UnixMicros, required: UnixMicros },
    #[error(transparent)]
    WriteOrder(#[from] WriteOrder),
    #[error("Invalid transaction.")]
    InvalidTransaction,
    #[error("Missing or insufficient permissions.")]
    PermissionDenied,
    /// The text is that of the official emulator: which allow statements were tried.
    #[error("{0}")]
    Denied(String),
    #[error("{0}")]
    IndexRequired(String),
    #[error("{0}")]
    Invalid(String),
    #[error("Project '{}' or database '{}' does not exist.", .0.project, .0.database)]
    DatabaseNotFound(DatabaseName),
    #[error("Database already exists. Please use another database_id")]
    DatabaseAlreadyExists,
    #[error(
        "Database '{0}' has delete protection enabled: disable it before deleting the database."
    )]
    DeleteProtected(DatabaseName),
    #[error("the etag of the request is not that of the database")]
    StaleEtag,
    #[error("index already exists")]
    IndexAlreadyExists,
    #[error("there is no index `{0}`")]
    IndexNotFound(String),
    #[error("the database has as many indexes or exceptions as it may")]
    TooManyIndexes,
    #[error(
        "the collection group `{collection_id}` has a TTL policy for the field `{field}` already, and can have \
         one"
    )]
    SecondTtl { collection_id: String, field: String },
    #[error("there is no operation `{0}`")]
    OperationNotFound(String),
    #[error(transparent)]
    Name(#[from] NameError),
    #[error(transparent)]
    Path(#[from] PathError),
    #[error(transparent)]
    Value(#[from] ValueError),
    #[error(transparent)]
    Decode(#[from] codec::DecodeError),
    #[error(transparent)]
    Query(#[from] QueryError),
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    #[error(transparent)]
    IndexEntries(#[from] IndexEntriesError),
    #[error(transparent)]
    ReadTime(#[from] ReadTimeError),
    #[error(transparent)]
    Transaction(#[from] TxnError),
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Status(#[from] Status),
    #[error("firelet met a fault of its own: {0}; please report it")]
    Bug(&'static str),
}

/// Writes to one document in one commit that may not follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WriteOrder {
    #[error("Cannot delete then update an entity in the same request.")]
    DeleteThenUpdate,
    #[error("Cannot upsert then insert an entity in the same request.")]
    UpsertThenInsert,
    #[error("Cannot insert then delete an entity in the same request.")]
    InsertThenDelete,
    #[error("Cannot update then delete an entity in the same request.")]
    UpdateThenDelete,
    #[error("Cannot upsert then delete an entity in the same request.")]
    UpsertThenDelete,
    #[error("Cannot delete then delete an entity in the same request.")]
    DeleteThenDelete,
    #[error("Cannot update then insert an entity in the same request.")]
    UpdateThenInsert,
    #[error(
        "Cannot collapse mutations with different version preconditions ({} and {})",
        version(*first),
        version(Some(*then))
    )]
    OtherVersion { first: Option<UnixMicros>, then: UnixMicros },
    #[error("Cannot insert then insert an entity in the same request.")]
    InsertThenInsert,
    #[error("the same document cannot be written and then verified in a single request")]
    WriteThenVerify,
    #[error("the same document cannot be verified and then written in a single request")]
    VerifyThenWrite,
    #[error("the same document cannot be verified more than once in a single request")]
    VerifyTwice,
}

fn version(time: Option<UnixMicros>) -> String {
    match time {
        Some(UnixMicros(micros)) => {
            format!("VersionPrecondition{{exactBaseVersion={micros}, maxBaseVersion=null}}")
        }
        None => "null".to_owned(),
    }
}

impl Error {
    /// INVALID_ARGUMENT with this text.
    pub(crate) fn invalid(message: impl Into<String>) -> Error {
        Error::Invalid(message.into())
    }
}

impl From<Error> for Status {
    fn from(error: Error) -> Status {
        let message = error.to_string();
        match error {
            Error::DocumentNotFound(_) => {
                Status::new(Code::NotFound, "document-not-found", message)
            }
            Error::NoDocumentToUpdate(_) => {
                Status::new(Code::NotFound, "no-document-to-update", message)
            }
            Error::DocumentAlreadyExists(_) => {
                Status::new(Code::AlreadyExists, "document-already-exists", message)
            }
            Error::StaleUpdateTime { .. } => {
                Status::new(Code::FailedPrecondition, "stale-update-time", message)
            }
            Error::WriteOrder(_) => Status::new(Code::InvalidArgument, "write-order", message),
            Error::InvalidTransaction => {
                Status::new(Code::InvalidArgument, "invalid-transaction", message)
            }
            Error::PermissionDenied | Error::Denied(_) => Status::permission_denied(message),
            Error::IndexRequired(_) => {
                Status::new(Code::FailedPrecondition, "index-required", message)
            }
            Error::Invalid(_) => Status::invalid_argument(message),
            Error::DatabaseNotFound(_) => {
                Status::new(Code::NotFound, "database-not-found", message)
            }
            Error::DatabaseAlreadyExists => {
                Status::new(Code::AlreadyExists, "database-already-exists", message)
            }
            Error::DeleteProtected(_) => {
                Status::new(Code::FailedPrecondition, "delete-protected", message)
            }
            Error::StaleEtag => Status::new(Code::FailedPrecondition, "stale-etag", message),
            Error::IndexAlreadyExists => {
                Status::new(Code::AlreadyExists, "index-already-exists", message)
            }
            Error::IndexNotFound(_) => Status::new(Code::NotFound, "index-not-found", message),
            Error::TooManyIndexes => {
                Status::new(Code::ResourceExhausted, "too-many-indexes", message)
            }
            Error::SecondTtl { .. } => Status::new(Code::FailedPrecondition, "second-ttl", message),
            Error::OperationNotFound(_) => {
                Status::new(Code::NotFound, "operation-not-found", message)
            }
            Error::Name(_) => Status::new(Code::InvalidArgument, "invalid-name", message),
            Error::Path(_) => Status::new(Code::InvalidArgument, "invalid-field-path", message),
            Error::Value(_) | Error::Decode(_) => {
                Status::new(Code::InvalidArgument, "invalid-value", message)
            }
            Error::IndexEntries(_) => Status::new(Code::InvalidArgument, "index-entries", message),
            Error::Query(error) => query(&error),
            Error::Pipeline(error) => pipeline(&error),
            Error::ReadTime(error) => read_time(error),
            Error::Transaction(error) => transaction(error),
            Error::Commit(CommitError::Transaction(error)) => transaction(error),
            Error::Commit(CommitError::Conflict(_)) => Status::new(
                Code::Aborted,
                "contention",
                "Aborted due to cross-transaction contention. This occurs when multiple transactions \
                 attempt to access the same data, requiring Firestore to abort at least one in order \
                 to enforce serializability.",
            ),
            Error::Commit(CommitError::Store(error)) => store(&error, message),
            Error::Status(status) => status,
            Error::Bug(_) => Status::internal(message),
        }
    }
}

/// What may pass by itself is UNAVAILABLE, which clients answer by trying again; nothing else may be.
fn store(error: &StoreError, message: String) -> Status {
    match error {
        StoreError::Io { .. }
        | StoreError::Full { .. }
        | StoreError::InUse { .. }
        | StoreError::Base { .. }
        | StoreError::Closed => Status::new(Code::Unavailable, "store", message),
        StoreError::TooLarge { .. } => {
            Status::new(Code::InvalidArgument, "commit-too-large", message)
        }
        StoreError::Missing { .. } => Status::new(Code::NotFound, "store-missing", message),
        StoreError::Format { .. } => Status::new(Code::FailedPrecondition, "store-format", message),
        StoreError::Damaged { .. } => Status::new(Code::DataLoss, "store-damaged", message),
        StoreError::Panicked { .. } => Status::internal(message),
        StoreError::Cancelled => Status::new(Code::Cancelled, "cancelled", message),
    }
}

fn query(error: &QueryError) -> Status {
    let code = match error.kind() {
        ErrorKind::InvalidArgument => Code::InvalidArgument,
        ErrorKind::FailedPrecondition => Code::FailedPrecondition,
    };
    Status::new(code, "invalid-query", error.to_string())
}

fn pipeline(error: &PipelineError) -> Status {
    let mut message = error.to_string();
    // It may hold a value that the request has computed, and goes into a header.
    let mut end = PIPELINE_TEXT_MAX_BYTES.min(message.len());
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    message.truncate(end);
    match error {
        PipelineError::Invalid(_) => {
            Status::new(Code::InvalidArgument, "invalid-pipeline", message)
        }
        PipelineError::Unimplemented(_) => {
            Status::new(Code::Unimplemented, "not-in-pipelines", message)
        }
        PipelineError::Exhausted(_) => {
            Status::new(Code::ResourceExhausted, "pipeline-limit", message)
        }
        PipelineError::Overdue => Status::new(Code::DeadlineExceeded, "pipeline-overdue", message),
        PipelineError::Cancelled => Status::new(Code::Cancelled, "pipeline-cancelled", message),
        PipelineError::Query(error) => query(error),
    }
}

fn read_time(error: ReadTimeError) -> Status {
    match error {
        ReadTimeError::Future => Status::new(
            Code::InvalidArgument,
            "read-time-in-the-future",
            "The requested 'read_time' cannot be in the future.",
        ),
        ReadTimeError::TooOld => Status::new(
            Code::FailedPrecondition,
            "read-time-too-old",
            "The requested 'read_time' is too old.",
        ),
    }
}

fn transaction(error: TxnError) -> Status {
    match error {
        TxnError::Unknown => {
            Status::new(Code::InvalidArgument, "invalid-transaction", "Invalid transaction.")
        }
        TxnError::Finished(how) => {
            // To begin such a transaction again would not help.
            let code = match how {
                Finish::Refused => Code::InvalidArgument,
                Finish::Committed | Finish::RolledBack | Finish::Aborted | Finish::Expired => {
                    Code::Aborted
                }
            };
            Status::new(
                code,
                "transaction-finished",
                "The referenced transaction has expired or is no longer valid.",
            )
        }
        TxnError::ReadOnly => Status::new(
            Code::InvalidArgument,
            "transaction-read-only",
            "Cannot modify entities in a read-only transaction.",
        ),
        TxnError::RetryReadOnly => Status::new(
            Code::InvalidArgument,
            "transaction-read-only",
            "Cannot retry a read-only transaction.",
        ),
        TxnError::TooMany | TxnError::TooManyReads => {
            Status::new(Code::ResourceExhausted, "transaction-limit", error.to_string())
        }
        TxnError::ReadTime(error) => read_time(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_try_again_where_that_may_help() {
        fn check(error: StoreError, code: Code) {
            let text = error.to_string();
            let status = Status::from(Error::Commit(CommitError::Store(error)));
            assert_eq!((status.code, status.message), (code, text));
        }
        check(StoreError::Full { path: "journal".into() }, Code::Unavailable);
        check(StoreError::Closed, Code::Unavailable);
        check(StoreError::TooLarge { bytes: 5, bytes_max: 4 }, Code::InvalidArgument);
        let damaged = StoreError::Damaged { path: "base".into(), offset: 7, what: "a checksum" };
        check(damaged, Code::DataLoss);
        check(StoreError::Panicked { doing: "fold" }, Code::Internal);
        check(StoreError::Cancelled, Code::Cancelled);
    }
}

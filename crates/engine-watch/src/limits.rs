//! Bounds of listening, each with its reason.

/// Commits that wait for the hub. It works them off in microseconds each; as many as the commit log holds, which they
/// share their memory with.
pub(crate) const INBOX_COMMITS_MAX: usize = 16_384;

/// Bytes of changes that wait for the hub, as of the commit log.
pub(crate) const INBOX_BYTES_MAX: usize = 16 * 1024 * 1024;

/// Commits that wait for one reader: some seconds of a busy database, at some hundred bytes each beside the documents.
pub(crate) const QUEUE_COMMITS_MAX: usize = 8_192;

/// Bytes of documents that wait for one reader, though he may share them with others: with all that lies between the
/// hub and a client, far less than what a client may cost that does not read.
pub(crate) const QUEUE_BYTES_MAX: usize = 8 * 1024 * 1024;

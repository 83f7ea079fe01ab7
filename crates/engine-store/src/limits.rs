//! Bounds of the store, each with its reason.

/// What has at least this many parts is freed on a thread of its own.
///
/// Freeing costs 50 to 200 ns a part, so anything smaller ends well within a millisecond where it is, about
/// as long as starting a thread takes.
pub(crate) const RETIRE_INLINE_LEN_MAX: usize = 2_000;

//! Bounds of the store, each with its reason.

/// What has at least this many parts is freed on a thread of its own.
///
/// Freeing costs 50 to 200 ns a part, so anything smaller ends well within a millisecond where it is, about
/// as long as starting a thread takes.
pub(crate) const RETIRE_INLINE_LEN_MAX: usize = 2_000;

/// Memory for pages of the base. Measured: 79 MB resident with 2.5 million small records.
pub(crate) const CACHE_BYTES: usize = 64 * 1024 * 1024;

/// Unfolded bytes that start a fold. With a quarter of it, 30 KB records were being folded all the time.
pub(crate) const FOLD_BYTES: usize = 64 * 1024 * 1024;

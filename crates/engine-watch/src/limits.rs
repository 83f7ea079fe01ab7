//! Bounds of following, each with its reason.

/// Commits handed out at once. A follower that was away works through the log in pieces, so that it
/// never holds the whole of it.
pub(crate) const EVENT_COMMITS_MAX: usize = 1_024;

//! Who hears of every commit the moment it is made.

use std::sync::Arc;

use engine_store::Commit;

/// Hears of every commit of a database, in their order and without a gap. See [`crate::Database::observe`].
pub trait Observer: Send + Sync {
    /// A commit was made. It is in the log, unless it lists nothing of what it changed. No snapshot shows it before
    /// this returns.
    ///
    /// Called inside the commit mutex: it must be quick, and must not call the database. Answers whether
    /// [`Observer::wake`] is to be called once the mutex is free.
    fn committed(&self, commit: &Arc<Commit>, listing: Listing) -> bool;

    /// Starts whatever is to be done about the commits heard of. Must be quick, too: the one who committed waits for it.
    fn wake(&self);
}

/// Whether a commit says what it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Its changes are complete.
    Complete,
    /// It replaced so much that it lists nothing.
    LeftOut,
}

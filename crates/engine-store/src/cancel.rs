//! Telling a long read that nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether whoever asked for a read has gone. Clones are the same; see [`crate::Snapshot::until`].
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Says that nobody waits any more. It cannot be taken back.
    pub fn cancel(&self) {
        // Nothing is handed over with it, and a walk that sees it an entry later ends an entry later.
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits any more.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a walk asks before each entry: a load of what is in the processor's cache, a small part of what an entry
/// costs.
#[derive(Clone, Copy)]
pub(crate) struct Until<'a>(Option<&'a AtomicBool>);

impl<'a> Until<'a> {
    pub(crate) fn new(cancel: Option<&'a Cancel>) -> Until<'a> {
        Until(cancel.map(|cancel| &*cancel.0))
    }

    #[inline]
    pub(crate) fn is_over(self) -> bool {
        self.0.is_some_and(|cancelled| cancelled.load(Ordering::Relaxed))
    }
}

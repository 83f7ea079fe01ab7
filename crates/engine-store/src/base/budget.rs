//! How much memory for pages each file of a family of stores gets.
//!
//! A file has its pages for itself, and a store with its forks may have many: each fork that outgrew memory,
//! and each older state that somebody still looks at. So the first file gets the whole budget and each further
//! one a smaller part. With nine of them that is less than three budgets, where it would be nine.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The budget of a store and its forks.
#[derive(Clone, Debug)]
pub(crate) struct CacheBudget {
    bytes: usize,
    files: Arc<AtomicUsize>,
}

/// What one file got. It counts until this is dropped.
#[derive(Debug)]
pub(crate) struct CacheShare {
    pub(super) bytes: usize,
    files: Arc<AtomicUsize>,
}

impl CacheBudget {
    pub(crate) fn new(bytes: usize) -> CacheBudget {
        CacheBudget { bytes, files: Arc::default() }
    }

    /// The file of a kept store: there is one, but for the moment in which it is replaced.
    pub(crate) fn whole(&self) -> CacheShare {
        self.count();
        CacheShare { bytes: self.bytes, files: Arc::clone(&self.files) }
    }

    /// A file like others.
    pub(crate) fn share(&self) -> CacheShare {
        let before = self.count();
        CacheShare { bytes: self.bytes / (before + 1), files: Arc::clone(&self.files) }
    }

    fn count(&self) -> usize {
        self.files.fetch_add(1, Ordering::Relaxed)
    }
}

impl Drop for CacheShare {
    fn drop(&mut self) {
        self.files.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_beside_others_get_less_and_give_it_back() {
        let budget = CacheBudget::new(1_200);
        let first = budget.whole();
        let (second, third) = (budget.share(), budget.clone().share());
        assert_eq!([first.bytes, second.bytes, third.bytes], [1_200, 600, 400]);
        drop(second);
        drop(first);
        assert_eq!(budget.share().bytes, 600);
        drop(third);
        assert_eq!(budget.share().bytes, 1_200);
    }
}

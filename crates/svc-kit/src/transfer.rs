//! Data that comes into a service from an export, or goes out into one, and how far that is.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::{Map, Value};

/// What a service takes in before it serves its first request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Import {
    /// The service's own parts of the export: files or folders, in the product's format.
    pub parts: Vec<PathBuf>,
    /// The collections to take, by their ids; all of them without.
    pub collections: Option<Vec<String>>,
    /// The databases to take, by their ids; all of them without.
    pub databases: Option<Vec<String>>,
}

/// What a service has written of its data into the folder it was given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exported {
    /// What an importer has to know of it, as members of the service's own object in the export's metadata.
    pub metadata: Map<String, Value>,
    /// How many documents, accounts or objects there are.
    pub items: u64,
}

/// How far an import or an export is, told from the thread that works to those who watch.
#[derive(Debug, Default)]
pub struct Progress {
    items: AtomicU64,
    bytes: AtomicU64,
    bytes_total: AtomicU64,
    cancelled: AtomicBool,
}

impl Progress {
    /// Some more items were done.
    pub fn add_items(&self, items: u64) {
        self.items.fetch_add(items, Ordering::Relaxed);
    }

    /// How many items were done so far.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items.load(Ordering::Relaxed)
    }

    /// There are so many more bytes to read.
    pub fn expect_bytes(&self, bytes: u64) {
        self.bytes_total.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Some more bytes were read.
    pub fn add_bytes(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How much of the bytes was read, in percent; `None` where nobody knows how many there are.
    #[must_use]
    pub fn percent(&self) -> Option<u64> {
        let (bytes, total) =
            (self.bytes.load(Ordering::Relaxed), self.bytes_total.load(Ordering::Relaxed));
        bytes.saturating_mul(100).checked_div(total).map(|percent| percent.min(100))
    }

    /// Asks the work to end without its result.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits for the result any more.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percent_are_those_of_the_bytes() {
        let progress = Progress::default();
        assert_eq!(progress.percent(), None);
        progress.expect_bytes(150);
        progress.expect_bytes(50);
        assert_eq!(progress.percent(), Some(0));
        progress.add_bytes(50);
        assert_eq!(progress.percent(), Some(25));
        progress.add_bytes(500);
        assert_eq!(progress.percent(), Some(100));
    }
}

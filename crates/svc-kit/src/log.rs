//! What a service tells the developer while it runs.

use std::fmt;
use std::sync::Arc;

/// Where warnings go. Clones lead to the same place; by default there is none.
#[derive(Clone, Default)]
pub struct Log {
    write: Option<Arc<Write>>,
}

type Write = dyn Fn(&'static str, &str) + Send + Sync;

impl Log {
    /// A log that calls `write` with the label and the text of every warning, from any thread. It must be
    /// quick.
    pub fn new(write: impl Fn(&'static str, &str) + Send + Sync + 'static) -> Log {
        Log { write: Some(Arc::new(write)) }
    }

    /// Tells something that works here and will surprise elsewhere.
    pub fn warn(&self, label: &'static str, text: &str) {
        if let Some(write) = &self.write {
            write(label, text);
        }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("is_silent", &self.write.is_none()).finish()
    }
}

//! What a service tells the developer while it runs.

use std::fmt;
use std::sync::Arc;

/// Where warnings go, and news where somebody wants them. Clones lead to the same place; by default there is none.
#[derive(Clone, Default)]
pub struct Log {
    write: Option<Arc<Write>>,
    tell: Option<Arc<Write>>,
}

type Write = dyn Fn(&'static str, &str) + Send + Sync;

impl Log {
    /// A log that calls `write` with the label and the text of every warning, from any thread. It must be
    /// quick.
    pub fn new(write: impl Fn(&'static str, &str) + Send + Sync + 'static) -> Log {
        Log { write: Some(Arc::new(write)), tell: None }
    }

    /// The same log, calling `tell` with news, such as how far something long is.
    #[must_use]
    pub fn telling(self, tell: impl Fn(&'static str, &str) + Send + Sync + 'static) -> Log {
        Log { tell: Some(Arc::new(tell)), ..self }
    }

    /// Tells what goes on.
    pub fn tell(&self, label: &'static str, text: &str) {
        if let Some(tell) = &self.tell {
            tell(label, text);
        }
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

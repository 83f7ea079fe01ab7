//! The way from a service that is asked for an export to the suite, which alone can make one.

use std::fmt;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

/// What an export is to hold, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExportRequest {
    /// The folder, absolute or relative to the suite's current directory.
    pub dir: PathBuf,
    /// The services to export; all that have data without.
    pub targets: Option<Vec<String>>,
    /// Who asked, for the log.
    pub initiated_by: String,
}

/// The end of an export; the text of an error is for developers.
pub type Exporting = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

type Export = dyn Fn(ExportRequest) -> Exporting + Send + Sync;

/// Asks the suite for an export. Clones ask the same suite, which is said once it runs.
#[derive(Clone, Default)]
pub struct Exporter {
    export: Arc<OnceLock<Box<Export>>>,
}

impl Exporter {
    /// Says who exports. The first one counts.
    pub fn set(&self, export: impl Fn(ExportRequest) -> Exporting + Send + Sync + 'static) {
        // A second suite over one context would be a mistake of ours, and the first one goes on.
        let _second = self.export.set(Box::new(export));
    }

    /// Exports.
    ///
    /// # Errors
    /// Why there is no export; the suite may not have started yet.
    pub async fn export(&self, request: ExportRequest) -> Result<(), String> {
        match self.export.get() {
            Some(export) => export(request).await,
            None => Err("the suite has not started yet: ask again when it has".to_owned()),
        }
    }
}

impl fmt::Debug for Exporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exporter").field("is_set", &self.export.get().is_some()).finish()
    }
}

//! The suite's data written as an official export: from a snapshot, while clients go on, and to its end.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use base_status::Status;
use serde_json::{Value, json};
use svc_kit::{ExportRequest, Exporter, Progress, Service};
use tokio::task::spawn_blocking;

use super::{Inner, Suite};
use crate::error::SuiteError;
use crate::exports::{self, ExportError, Metadata, Workplace};

/// What is to be exported, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The folder. A relative one starts at the suite's current directory.
    pub dir: PathBuf,
    /// The services; all that have data without.
    pub targets: Option<Vec<String>>,
    /// Whether it may go to a folder with other files in it, which stay there.
    pub force: bool,
}

/// Exports of one suite: one at a time, each of which ends before the suite does.
#[derive(Default)]
pub(super) struct Exports {
    /// Held by the export that is under way.
    turn: Arc<tokio::sync::Mutex<()>>,
    now: parking_lot::Mutex<Option<Now>>,
}

/// The export under way.
#[derive(Clone)]
struct Now {
    dir: PathBuf,
    progress: Arc<Progress>,
}

impl Exports {
    /// Waits until no export is under way; none begins while the answer lives.
    pub(super) async fn none(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.turn.lock().await
    }
}

impl Suite {
    /// Exports the data of the suite's own project: as it is now, all of it or nothing.
    ///
    /// It goes on to its end where the future is dropped, and a stop waits for it. One that is asked for while another
    /// is under way waits for that. Answers how many documents there are.
    ///
    /// # Errors
    /// The suite is stopped; the folder may not be used; or it could not be written. What was there is there still.
    pub async fn export(&self, options: ExportOptions) -> Result<Value, SuiteError> {
        self.check_running()?;
        let turn = Arc::clone(&self.inner.exports.turn).lock_owned().await;
        self.check_running()?;
        let inner = Arc::clone(&self.inner);
        let kept = self.inner.kept_dir.clone();
        let written = spawn_blocking(move || {
            let _turn = turn;
            let dir = exports::place(&inner.cwd.join(&options.dir));
            let progress = Arc::new(Progress::default());
            *inner.exports.now.lock() =
                Some(Now { dir: dir.clone(), progress: Arc::clone(&progress) });
            let began = inner.env.monotonic();
            let written = write(&inner, &dir, &options, kept.as_deref(), &progress);
            *inner.exports.now.lock() = None;
            written?;
            let took = inner.env.monotonic().saturating_sub(began).as_millis();
            let text = format!(
                "Exported {} documents to {} in {took} ms",
                progress.items(),
                dir.display()
            );
            inner.log.tell("emulators", &text);
            Ok(json!({ "documents": progress.items() }))
        });
        written.await.unwrap_or_else(|error| {
            Err(ExportError::Service(format!("the export failed: {error}")).into())
        })
    }

    /// What is being exported, for whoever waits: the folder, and how far it is.
    #[must_use]
    pub fn exporting(&self) -> Option<(PathBuf, u64)> {
        let now = self.inner.exports.now.lock().clone()?;
        Some((now.dir, now.progress.items()))
    }

    /// Exports when a service asks for it.
    pub(super) fn answer(&self, exporter: &Exporter) {
        let inner: Weak<Inner> = Arc::downgrade(&self.inner);
        exporter.set(move |request: ExportRequest| {
            let suite = inner.upgrade().map(|inner| Suite { inner });
            Box::pin(async move {
                let suite = suite.ok_or_else(|| SuiteError::Stopped.to_string())?;
                let ExportRequest { dir, targets, initiated_by } = request;
                let text = format!("Export to {} was asked for by {initiated_by}", dir.display());
                suite.inner.log.tell("emulators", &text);
                // Whoever asks has looked at the folder, as the official commands do.
                let exported = suite.export(ExportOptions { dir, targets, force: true }).await;
                if let Err(error) = &exported {
                    suite.inner.log.warn("emulators", &format!("the export failed: {error}"));
                }
                exported.map(drop).map_err(|error| error.to_string())
            })
        });
    }
}

fn write(
    inner: &Inner,
    dir: &Path,
    options: &ExportOptions,
    kept: Option<&Path>,
    progress: &Progress,
) -> Result<(), SuiteError> {
    let around = |what| ExportError::Around { dir: dir.to_owned(), what };
    let holds = |path: &Path| exports::place(path).starts_with(dir);
    if holds(&inner.cwd) {
        return Err(around("the current directory").into());
    }
    if kept.is_some_and(holds) {
        return Err(around("the folder of kept data").into());
    }
    let is_wanted = |service: &&Arc<dyn Service>| {
        let targets = options.targets.as_ref();
        targets.is_none_or(|names| names.iter().any(|name| name == service.name()))
    };
    let services = inner.services.iter().filter(is_wanted);
    let services: Vec<_> =
        services.filter_map(|service| Some((service.name(), service.data()?))).collect();
    if services.is_empty() {
        return Err(ExportError::Nothing.into());
    }
    exports::check(dir, options.force)?;
    let workplace = Workplace::open(dir)?;
    let new = workplace.begin()?;
    // What it says of services that are not exported now stays, and so do their files.
    let mut metadata = Metadata::read(dir).ok().flatten().unwrap_or_default();
    for (name, data) in services {
        let exported = data.export(&new, progress);
        let refused = |status: Status| SuiteError::from(ExportError::Service(status.message));
        metadata.set_part(name, exported.map_err(refused)?.metadata);
    }
    metadata.write(&new).map_err(|error| ExportError::Io {
        doing: "write the metadata in",
        path: new.clone(),
        message: error.to_string(),
    })?;
    Ok(workplace.swap()?)
}

//! The data a suite starts with: taken in while the ports are open and requests wait.

use std::sync::Arc;
use std::time::Duration;

use base_env::Env;
use base_status::Status;
use svc_firestore::BAD_EXPORT;
use svc_kit::{Import, Log, Progress, Service};
use tokio::task::spawn_blocking;
use tokio::time::MissedTickBehavior;

use crate::data::DataFolder;
use crate::error::StartError;
use crate::exports::{ImportError, PlannedImport};
use crate::limits::PROGRESS_INTERVAL;
use crate::services;

/// What is worked on, and on what.
pub(super) struct Work {
    pub(super) import: PlannedImport,
    pub(super) services: Vec<Arc<dyn Service>>,
    /// The folder of kept data, and the services that keep theirs there.
    pub(super) folder: Option<DataFolder>,
    pub(super) kept: Vec<&'static str>,
}

/// Imports, and gives the folder of kept data back.
///
/// # Errors
/// What stands in the way. All services have been closed then, and the folder is as it was. The same happens, a moment
/// later, where the future is dropped.
pub(super) async fn run(
    work: Work,
    env: &Env,
    log: &Log,
) -> Result<Option<DataFolder>, StartError> {
    let progress = Arc::new(Progress::default());
    let _cancel = CancelOnDrop(Arc::clone(&progress));
    let dir = work.import.dir.display().to_string();
    log.tell("emulators", &format!("Importing data from {dir}"));
    let began = env.monotonic();
    let working = Arc::clone(&progress);
    let mut task = spawn_blocking(move || take_in(work, &working));
    let mut ticks = tokio::time::interval(PROGRESS_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    let done = loop {
        tokio::select! {
            biased;
            done = &mut task => break done,
            _ = ticks.tick() => {
                let percent = progress.percent().unwrap_or_default();
                let text = format!("Importing: {} documents, {percent} % of the files", progress.items());
                log.tell("emulators", &text);
            }
        }
    };
    let folder = done.unwrap_or_else(|error| Err(failed(&dir, &error.to_string())))?;
    let took = env.monotonic().saturating_sub(began);
    log.tell("emulators", &imported(progress.items(), &dir, took));
    Ok(folder)
}

fn imported(items: u64, dir: &str, took: Duration) -> String {
    format!("Imported {items} documents from {dir} in {} ms", took.as_millis())
}

/// Ends the work when nobody waits for it any more.
struct CancelOnDrop(Arc<Progress>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

fn take_in(work: Work, progress: &Progress) -> Result<Option<DataFolder>, StartError> {
    let Work { import, services, folder, kept } = work;
    let dir = import.dir.display().to_string();
    let mut done = Ok(());
    for (name, part) in &import.parts {
        let folder = folder.as_ref().filter(|_| kept.contains(name));
        let service = services.iter().find(|service| service.name() == *name);
        done = done.and_then(|()| match service {
            Some(service) => take_in_part(&**service, part, folder, &dir, progress),
            None => Ok(()),
        });
    }
    if done.is_err() {
        for service in services.iter().filter_map(|service| service.data()) {
            // Why there is no suite has been found already.
            let _closed = service.close();
        }
        if let Some(folder) = &folder {
            folder.undo_import()?;
        }
    }
    done.map(|()| folder)
}

fn take_in_part(
    service: &dyn Service,
    part: &Import,
    folder: Option<&DataFolder>,
    dir: &str,
    progress: &Progress,
) -> Result<(), StartError> {
    let Some(data) = service.data() else { return Ok(()) };
    if let Some(folder) = folder {
        folder.begin_import(service.name())?;
    }
    data.import(part, progress).map_err(|status| refused(service, dir, status))?;
    folder.map_or(Ok(()), DataFolder::end_import)?;
    Ok(())
}

/// A service's refusal: what is wrong with the export, or anything else.
fn refused(service: &dyn Service, dir: &str, status: Status) -> StartError {
    if status.reason == BAD_EXPORT {
        return failed(dir, &status.message);
    }
    let description = services::find(service.name()).map_or("the suite", |row| row.description);
    StartError::Service { description, status }
}

fn failed(dir: &str, reason: &str) -> StartError {
    ImportError::Failed { dir: dir.into(), reason: reason.to_owned() }.into()
}

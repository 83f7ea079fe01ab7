//! `emulators:export`: has the running suite of a project write an export.

use serde_json::Value;
use svc_hub::{FoundHub, HubError, Locator};

use super::resolve::Export;
use super::run::{FAILED, Run, failed};
use crate::error::SuiteError;
use crate::exports;
use crate::plan;

/// Runs the command.
pub(super) async fn run(run: &mut Run, wanted: Export) -> i32 {
    let Export { options, dir, force } = wanted;
    let project = match plan::project(&options) {
        Ok(project) => project.id,
        Err(error) => return failed(&mut run.out, &error),
    };
    let folder = &options.machine.temp;
    let hub = match FoundHub::find(folder, &project).await {
        Ok(hub) => hub,
        Err(error) => {
            let text = match error {
                HubError::NoLocator => {
                    format!("Did not find any running emulators for project {project}.")
                }
                error => format!(
                    "the emulators of project {project} do not answer: {error}, {}",
                    folder.join(Locator::file_name(&project)).display()
                ),
            };
            run.out.failure(&text, None);
            return FAILED;
        }
    };
    // The suite takes the word of whoever asks it that the folder may be used.
    if let Err(error) = exports::check(&exports::place(&dir), force).map_err(SuiteError::from) {
        run.out.failure(&error.to_string(), Some(error.code()));
        return FAILED;
    }
    let Some(path) = dir.to_str() else {
        run.out.failure("the name of the folder is not UTF-8: choose another one", None);
        return FAILED;
    };
    run.out.bullet("emulators", &format!("Exporting data to: {path}"));
    match hub.export(path, options.only.as_deref()).await {
        Ok(()) => {
            run.out.success("emulators", "Export complete");
            run.out.result(Value::Null);
            0
        }
        Err(error) => {
            run.out.warning("emulators", &error.to_string());
            let text = "Export request failed, see emulator logs for more information.";
            run.out.failure(text, Some("FIRELET_EXPORT_FAILED"));
            FAILED
        }
    }
}

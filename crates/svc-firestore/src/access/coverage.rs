//! What rules come to while they decide: counted always, as in the official emulator, and told where somebody asks.

mod lcov;
mod recorder;
mod report;
mod summary;

pub(super) use recorder::{Recorder, Recording};
pub(crate) use report::report;

use base_status::Status;
use base_value::DatabaseName;
use serde_json::{Value as Json, json};

use super::rules::Loaded;
use crate::state::State;

/// A report of the rules of the suite in the form that `asked` names: of all that are or were in force, or of
/// those of one database there.
///
/// # Errors
/// INVALID_ARGUMENT for a form that there is not.
pub(crate) fn coverage(state: &State, asked: &Json) -> Result<Json, Status> {
    let text = |name: &str| asked.get(name).and_then(Json::as_str);
    let place = match (text("project"), text("database")) {
        (None, None) => None,
        (project, database) => {
            let project = project.unwrap_or(&state.project);
            Some(DatabaseName::new(project, database.unwrap_or("(default)")))
        }
    };
    let format = text("format").unwrap_or("summary");
    let form: fn(&[(&Loaded, &Recorder)]) -> Json = match format {
        "json" => |counted| {
            let reports = counted.iter().map(|(loaded, recorder)| report(loaded, recorder));
            Json::Array(reports.collect())
        },
        "lcov" => |counted| Json::String(lcov::lcov(counted)),
        "summary" => summary::summary,
        other => {
            let text =
                format!("`format` of `coverage` is `json`, `lcov` or `summary`, not `{other}`");
            return Err(Status::invalid_argument(text));
        }
    };
    match place {
        None => {
            let counted = state.rules.counted();
            let counted: Vec<_> =
                counted.iter().map(|(loaded, recorder)| (&**loaded, recorder)).collect();
            Ok(form(&counted))
        }
        Some(place) => {
            let rules = state.rules.of(&place);
            let counted: Vec<_> =
                rules.iter().map(|rules| (&*rules.loaded, &rules.recorder)).collect();
            Ok(form(&counted))
        }
    }
}

/// What a report has of a source.
pub(super) fn files(name: &str, content: &str) -> Json {
    json!({"files": [{"content": content, "name": name}]})
}

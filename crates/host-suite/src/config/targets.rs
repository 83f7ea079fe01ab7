//! Which services a suite runs.

use super::{ConfigError, Emulators, FirebaseConfig};
use crate::notice::Notice;
use crate::services::{ONLY_NAMES, SERVICES, ServiceRow, find};

/// The services to run, and what to say about those that do not.
#[derive(Debug, PartialEq, Eq)]
pub struct Targets {
    /// Names of services, in the table's order, the hub first.
    pub names: Vec<&'static str>,
    /// What was asked for and is not done.
    pub notices: Vec<Notice>,
}

/// Splits the value of `--only` as the official command line does: at commas and white space, and
/// without what follows a colon.
#[must_use]
pub fn split_only(text: &str) -> Vec<String> {
    text.split(|char: char| char == ',' || char.is_whitespace())
        .map(|word| word.split(':').next().unwrap_or_default())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Chooses the services: those the configuration or `also` names, narrowed by `only`.
///
/// # Errors
/// `only` holds a word that is no service, or nothing is left to run.
pub fn choose(
    config: &FirebaseConfig,
    emulators: &Emulators,
    only: Option<&[String]>,
    also: &[&str],
) -> Result<Targets, ConfigError> {
    let wanted = |name: &str| only.is_none_or(|only| only.iter().any(|word| word == name));
    let configured: Vec<&ServiceRow> = SERVICES
        .iter()
        .filter(|row| !row.internal)
        .filter(|row| config.names(row.name) || also.contains(&row.name))
        .collect();
    let candidates: Vec<&ServiceRow> =
        configured.iter().copied().filter(|row| wanted(row.name)).collect();

    let mut notices = Vec::new();
    for word in only.unwrap_or_default() {
        let known = ONLY_NAMES.contains(&word.as_str()) || word == "extensions";
        if !known {
            return Err(ConfigError::unknown_service(word));
        }
        if !configured.iter().any(|row| row.name == word) {
            let text =
                format!("Not starting the {word} emulator, make sure you have run firebase init.");
            notices.push(Notice::warning(word, text));
        }
    }
    if candidates.is_empty() {
        return Err(ConfigError::NothingToStart);
    }

    let (existing, missing): (Vec<&ServiceRow>, Vec<&ServiceRow>) =
        candidates.into_iter().partition(|row| row.exists());
    notices.extend(missing.iter().map(|row| not_yet(row)));
    notices.extend(suite_parts_missing(config, emulators));
    if existing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|row| row.name).collect();
        return Err(ConfigError::NothingImplemented(missing.join(", ")));
    }
    let hub = find("hub").into_iter();
    let names = hub.chain(existing).map(|row| row.name).collect();
    Ok(Targets { names, notices })
}

/// The parts of the suite itself that the file asks for and firelet does not have.
fn suite_parts_missing(config: &FirebaseConfig, emulators: &Emulators) -> Vec<Notice> {
    ["ui", "logging"]
        .into_iter()
        .filter(|name| config.emulator(name).is_some())
        .filter(|name| *name != "ui" || emulators.ui_enabled != Some(false))
        .filter_map(find)
        .filter(|row| !row.exists())
        .map(not_yet)
        .collect()
}

/// What is said about a service firelet does not have.
pub(crate) fn not_yet(row: &ServiceRow) -> Notice {
    let text = format!("firelet does not have the {} yet, skipping it", row.description);
    Notice::warning(row.name, text)
}

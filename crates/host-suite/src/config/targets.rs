//! Which services a suite runs.

use super::{ConfigError, Emulators, FirebaseConfig};
use crate::notice::Notice;
use crate::services::{ONLY_NAMES, SERVICES, ServiceRow, find};

/// The service that every suite runs.
const HUB: &str = "hub";

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

/// Chooses the services: those the configuration or `also` names, narrowed by `only`. The hub is always
/// one of them, so `only` may name it.
///
/// # Errors
/// `only` holds a word that is no service, or nothing is left to run.
pub fn choose(
    config: &FirebaseConfig,
    emulators: &Emulators,
    only: Option<&[String]>,
    also: &[&str],
) -> Result<Targets, ConfigError> {
    let only: Option<Vec<&str>> =
        only.map(|only| only.iter().map(String::as_str).filter(|word| *word != HUB).collect());
    let only = only.as_deref();
    let wanted = |name: &str| only.is_none_or(|only| only.contains(&name));
    let configured: Vec<&ServiceRow> = SERVICES
        .iter()
        .filter(|row| !row.internal)
        .filter(|row| config.names(row.name) || also.contains(&row.name))
        .collect();
    let candidates: Vec<&ServiceRow> =
        configured.iter().copied().filter(|row| wanted(row.name)).collect();

    let mut notices = Vec::new();
    for word in only.unwrap_or_default().iter().copied() {
        let known = ONLY_NAMES.contains(&word) || word == "extensions";
        if !known {
            return Err(ConfigError::unknown_service(word));
        }
        if !configured.iter().any(|row| row.name == word) {
            let missing = find(word).filter(|row| !row.exists()).map(not_yet);
            notices.push(missing.unwrap_or_else(|| {
                let text = format!(
                    "Not starting the {word} emulator, make sure you have run firebase init."
                );
                Notice::warning(word, text)
            }));
        }
    }
    if candidates.is_empty() {
        return Err(nothing(config, only));
    }

    let (existing, missing): (Vec<&ServiceRow>, Vec<&ServiceRow>) =
        candidates.into_iter().partition(|row| row.exists());
    notices.extend(missing.iter().map(|row| not_yet(row)));
    notices.extend(suite_parts_missing(config, emulators));
    if existing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|row| row.name).collect();
        return Err(ConfigError::NothingImplemented(missing.join(", ")));
    }
    let hub = find(HUB).into_iter();
    let names = hub.chain(existing).map(|row| row.name).collect();
    Ok(Targets { names, notices })
}

/// Why there is nothing to run, and what to do about it.
fn nothing(config: &FirebaseConfig, only: Option<&[&str]>) -> ConfigError {
    let file = match &config.file {
        Some(file) => format!("`{}`", file.display()),
        None => "the configuration".to_owned(),
    };
    match only {
        Some([]) => ConfigError::NothingToStart("`only` is given and names none".to_owned()),
        Some(words) => match words.iter().find(|word| find(word).is_some_and(ServiceRow::exists)) {
            Some(word) => ConfigError::NothingToStart(format!(
                "{file} does not name {word}; add `\"{word}\": {{}}` to it"
            )),
            None => ConfigError::NothingImplemented(words.join(", ")),
        },
        None => ConfigError::NothingToStart(format!(
            "{file} names none; add `\"emulators\": {{ \"firestore\": {{ \"port\": 8080 }} }}` to it"
        )),
    }
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

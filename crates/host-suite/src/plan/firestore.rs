//! What the user has set for Firestore and does not get yet.

use std::path::PathBuf;

use serde_json::Value;

use crate::config::{ConfigError, FirebaseConfig};
use crate::error::StartError;
use crate::notice::Notice;
use crate::options::{Caller, StartOptions};

/// The entries of the `firestore` section: one, or one for each database.
fn firestore_entries(config: &FirebaseConfig) -> &[Value] {
    match config.section("firestore") {
        Some(Value::Array(entries)) => entries,
        Some(entry) => std::slice::from_ref(entry),
        None => &[],
    }
}

/// Checks the edition of Firestore, and says if it is one that is not there yet.
pub(super) fn edition(
    config: &FirebaseConfig,
    notices: &mut Vec<Notice>,
) -> Result<(), StartError> {
    let of_emulator = config.emulator("firestore").into_iter();
    let entries = of_emulator.chain(firestore_entries(config));
    for edition in entries.filter_map(|entry| entry.get("edition")).filter(|one| !one.is_null()) {
        match edition.as_str().map(str::to_lowercase).as_deref() {
            Some("standard") => {}
            Some("enterprise") => {
                let text = "firelet does not have the enterprise edition yet: it runs as standard, with \
                            pipelines, and asks for no indexes";
                notices.push(Notice::warning("firestore", text));
            }
            Some(_) | None => return Err(ConfigError::Edition.into()),
        }
    }
    Ok(())
}

/// What is said about rules. A program hears of those it has named itself.
pub(super) fn rules(
    options: &StartOptions,
    config: &FirebaseConfig,
) -> Result<Vec<Notice>, StartError> {
    let named = options.services.get("firestore").and_then(|given| given.rules.as_deref());
    let mut files: Vec<(&str, PathBuf)> = Vec::new();
    for entry in firestore_entries(config) {
        if let Some(path) = entry.get("rules").and_then(Value::as_str) {
            files.push((path, config.path(path)?));
        }
    }
    if let Some(path) = named {
        files = vec![(path, options.machine.cwd.join(path))];
    }
    let allowed = "firelet does not evaluate rules yet: every read and write is allowed";
    let notices: Vec<Notice> = files
        .into_iter()
        .map(|(path, file)| {
            let text = match file.is_file() {
                true => format!("{allowed}, whatever `{path}` says"),
                false => format!("there is no rules file `{path}`; {allowed}"),
            };
            Notice::warning("firestore", text)
        })
        .collect();
    if options.caller == Caller::Program && named.is_some() {
        for notice in &notices {
            options.log.warn("firestore", &notice.text);
        }
    }
    Ok(notices)
}

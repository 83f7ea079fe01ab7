//! Rules that a suite starts with, and following their files while it runs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base_env::file::FileWatch;
use engine_rules::{Ruleset, Severity};
use svc_kit::Log;

use super::rules::{Loaded, Rules, Whose, line};
use crate::limits::{RULES_FILE_BYTES_MAX, RULES_FILE_INTERVAL};

/// Rules of the start, read without an error.
#[derive(Clone, Debug)]
pub struct StartRules {
    loaded: Arc<Loaded>,
    database: Option<String>,
    file: Option<PathBuf>,
}

impl StartRules {
    /// Reads a source. `name` is what its file is called in messages.
    ///
    /// # Errors
    /// Everything that is wrong with it, one line each with its place.
    pub fn parse(name: &str, source: &str) -> Result<StartRules, Vec<String>> {
        match Ruleset::parse(source) {
            Ok(ruleset) => {
                let loaded = Loaded::new(name, ruleset);
                Ok(StartRules { loaded, database: None, file: None })
            }
            Err(error) => Err(error.diagnostics.iter().map(|one| line(name, one)).collect()),
        }
    }

    /// Reads a file, which is followed while the suite runs.
    ///
    /// # Errors
    /// As [`StartRules::parse`]; also where the file cannot be read.
    pub fn read(name: &str, file: &Path) -> Result<StartRules, Vec<String>> {
        let source = source(file).map_err(|error| vec![format!("{name}: {error}")])?;
        let rules = StartRules::parse(name, &source)?;
        Ok(StartRules { file: Some(file.to_owned()), ..rules })
    }

    /// The same for one database alone.
    #[must_use]
    pub fn of_database(self, id: &str) -> StartRules {
        StartRules { database: Some(id.to_owned()), ..self }
    }

    /// What they are warned of, one line each.
    #[must_use]
    pub fn warnings(&self) -> Vec<String> {
        let found = self.loaded.ruleset.warnings().iter();
        found.map(|one| line(&self.loaded.name, one)).collect()
    }

    pub(crate) fn put_in(&self, rules: &Rules) {
        let whose = Whose::Start { database: self.database.clone() };
        // Those of the start always have a place.
        let _refused = rules.put(whose, Arc::clone(&self.loaded)).err();
    }
}

/// The source in a file, as far as it may be one.
fn source(file: &Path) -> std::io::Result<String> {
    let mut source = String::new();
    std::fs::File::open(file)?.take(RULES_FILE_BYTES_MAX).read_to_string(&mut source)?;
    Ok(source)
}

/// Follows the files of the start: what they hold is put in force, unless something is wrong with it.
pub(crate) fn watch_files(
    start: Vec<StartRules>,
    rules: Arc<Rules>,
    log: Log,
) -> Option<FileWatch> {
    let files: Vec<PathBuf> = start.iter().filter_map(|one| one.file.clone()).collect();
    if files.is_empty() {
        return None;
    }
    let failing = log.clone();
    let mut known: Vec<(StartRules, String)> = start
        .into_iter()
        .map(|one| {
            let source = one.loaded.ruleset.source().to_owned();
            (one, source)
        })
        .collect();
    let on_change = move |file: &Path| {
        for (one, seen) in &mut known {
            if one.file.as_deref() == Some(file) {
                reload(one, seen, file, &rules, &log);
            }
        }
    };
    match FileWatch::start(files, RULES_FILE_INTERVAL, on_change) {
        Ok(watch) => Some(watch),
        Err(error) => {
            let text =
                format!("no thread to follow rules files, so changes need a restart: {error}");
            failing.warn("firestore", &text);
            None
        }
    }
}

fn reload(one: &StartRules, seen: &mut String, file: &Path, rules: &Rules, log: &Log) {
    let name = &one.loaded.name;
    let source = match source(file) {
        Ok(source) => source,
        Err(error) => {
            let text = format!("{name} cannot be read, so the rules stay as they are: {error}");
            log.warn("firestore", &text);
            return;
        }
    };
    if source == *seen {
        return;
    }
    seen.clone_from(&source);
    let whose = Whose::Start { database: one.database.clone() };
    match rules.set(whose, name, &source) {
        Ok(loaded) => {
            for found in loaded.ruleset.warnings() {
                log.warn("firestore", &line(name, found));
            }
            tracing::info!("{name}: rules updated");
        }
        Err(error) => {
            if let super::SetError::Source(error) = &error {
                let found = error.diagnostics.iter();
                for found in found.filter(|found| found.severity == Severity::Error) {
                    log.warn("firestore", &line(name, found));
                }
            }
            let text = format!("{name} has errors, so the rules stay as they were");
            log.warn("firestore", &text);
        }
    }
}

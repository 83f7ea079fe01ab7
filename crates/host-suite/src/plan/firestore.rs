//! What the user has set for Firestore: its rules, and an edition that is not there yet.

use serde_json::Value;
use svc_firestore::StartRules;

use crate::config::{ConfigError, DEFAULT_DATABASE, FirebaseConfig};
use crate::error::StartError;
use crate::notice::Notice;
use crate::options::{Caller, Problem, StartOptions};

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

/// The security rules to start with. Those that the caller names are there or nothing starts; a file that
/// firebase.json names may be missing, and everything is open then.
///
/// # Errors
/// Rules that are wrong, all findings of all files at once; a named file that is missing.
pub(super) fn rules(
    options: &StartOptions,
    config: &FirebaseConfig,
    notices: &mut Vec<Notice>,
) -> Result<Vec<StartRules>, StartError> {
    let named = options.services.get("firestore").and_then(|given| given.rules.as_deref());
    let mut read = match named {
        Some(named) => Read { rules: vec![named_rules(options, named)?], ..Read::default() },
        None => rules_of_files(config)?,
    };
    for text in read.rules.iter().flat_map(StartRules::warnings).chain(read.missing) {
        if options.caller == Caller::Program {
            options.log.warn("firestore", &text);
        }
        notices.push(Notice::warning("firestore", text));
    }
    if read.rules.is_empty() && options.caller == Caller::CommandLine {
        if !read.is_named {
            let text = "Did not find a Cloud Firestore rules file specified in a firebase.json config file.";
            notices.push(Notice::warning("firestore", text));
        }
        notices.push(Notice::warning("firestore", OPEN));
    }
    match read.problems.is_empty() {
        true => Ok(std::mem::take(&mut read.rules)),
        false => Err(StartError::Rules(read.problems)),
    }
}

/// What the official command line says where nothing is refused.
const OPEN: &str = "The emulator will default to allowing all reads and writes. Learn more about this option: \
                    https://firebase.google.com/docs/emulator-suite/install_and_configure#security_rules_configuration.";

/// What the files of a project give.
#[derive(Default)]
struct Read {
    rules: Vec<StartRules>,
    /// Whether there is the name of a file.
    is_named: bool,
    missing: Vec<String>,
    problems: Vec<String>,
}

fn rules_of_files(config: &FirebaseConfig) -> Result<Read, StartError> {
    let mut read = Read::default();
    let is_list = matches!(config.section("firestore"), Some(Value::Array(_)));
    for entry in firestore_entries(config) {
        let Some(path) = entry.get("rules").and_then(Value::as_str) else { continue };
        read.is_named = true;
        let file = config.path(path)?;
        if !file.is_file() {
            let file = file.display();
            read.missing.push(format!(
                "Cloud Firestore rules file {file} specified in firebase.json does not exist."
            ));
            continue;
        }
        let database = entry.get("database").and_then(Value::as_str);
        match StartRules::read(path, &file) {
            // As in the official emulator, one file is for all databases, unless it is said for which.
            Ok(rules) => read.rules.push(match (database, is_list) {
                (None, false) => rules,
                (id, _) => rules.of_database(id.unwrap_or(DEFAULT_DATABASE)),
            }),
            Err(problems) => read.problems.extend(problems),
        }
    }
    Ok(read)
}

/// Rules that the caller names: the path of a file, or a source, which always has a brace.
fn named_rules(options: &StartOptions, named: &str) -> Result<StartRules, StartError> {
    if named.contains('{') {
        return StartRules::parse("firestore.rules", named).map_err(StartError::Rules);
    }
    let file = options.machine.cwd.join(named);
    if !file.is_file() {
        return Err(StartError::Options(vec![Problem::Invalid {
            path: "firestore.rules".to_owned(),
            expected: "the path of a file that exists, or the source of rules",
            found: format!("`{named}`"),
        }]));
    }
    StartRules::read(named, &file).map_err(StartError::Rules)
}

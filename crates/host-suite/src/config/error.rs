//! What can be wrong with a project's files.

use std::path::PathBuf;

use crate::nearest::nearest;
use crate::services::ONLY_NAMES;

/// Why the configuration cannot be used. Texts that users' scripts match are the official ones, and what
/// we have to add stands behind them.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The file named by the user is not there.
    #[error("Could not load config file {}.", .0.display())]
    NotFound(PathBuf),
    /// There is no firebase.json in the folder or above it.
    #[error("Not in a Firebase app directory (could not locate firebase.json)")]
    NoProjectDirectory,
    /// A file is there and cannot be read.
    #[error("could not read `{}`: {reason}", .file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// What the operating system says.
        reason: String,
    },
    /// A file is not JSON.
    #[error("`{}` is not valid JSON: {message} on line {line}, column {column}", .file.display())]
    Syntax {
        /// The file.
        file: PathBuf,
        /// What is wrong.
        message: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
    },
    /// A section names a file that is not there.
    #[error("Parse Error: Imported file {0} does not exist")]
    ImportMissing(String),
    /// A section names a file of another kind.
    #[error("Parse Error: {0} is not of a supported config file type")]
    ImportKind(String),
    /// A section is neither an object nor a path.
    #[error("Parse Error: \"{0}\" must be object or import path")]
    NotASection(String),
    /// A path leads out of the project.
    #[error("{0} is outside of project directory")]
    OutsideProject(String),
    /// Values of the wrong kind, all of them at once.
    #[error("`{}` has {}: {}", .file.display(), plural(.problems.len()), .problems.join("; "))]
    Invalid {
        /// The file.
        file: PathBuf,
        /// One line for each problem, naming the key.
        problems: Vec<String>,
    },
    /// An edition Firestore does not have.
    #[error("The Firestore emulator edition must be either 'standard' or 'enterprise'.")]
    Edition,
    /// A project id no project can have.
    #[error(
        "Invalid project id: {}.{}\nNote: It consists of small letters, digits and hyphens.",
        .0, uppercase_note(.0)
    )]
    ProjectId(String),
    /// `--only` or `--keep-data` names something that is no service.
    #[error("{name} is not a valid emulator name, valid options are: {valid}{}", meant(.nearest))]
    UnknownService {
        /// The word.
        name: String,
        /// The words that are, as a JSON array.
        valid: String,
        /// The one it is closest to.
        nearest: Option<&'static str>,
    },
    /// .firebaserc is broken. The official command line goes on as another project.
    #[error("JSON error trying to load {}: {reason}", .file.display())]
    Aliases {
        /// The file.
        file: PathBuf,
        /// What is wrong, with its place.
        reason: String,
    },
    /// Nothing is left to run, with the reason. The official text goes on with `firebase init`.
    #[error("No emulators to start: {0}")]
    NothingToStart(String),
    /// Everything that was asked for is something firelet does not have yet.
    #[error("nothing to start: firelet does not have {0} yet")]
    NothingImplemented(String),
}

fn plural(count: usize) -> String {
    if count == 1 { "a problem".to_owned() } else { format!("{count} problems") }
}

fn uppercase_note(id: &str) -> &'static str {
    if id.chars().any(char::is_uppercase) {
        "\nNote: Project id must be all lowercase."
    } else {
        ""
    }
}

impl ConfigError {
    /// The error for a word that is no service.
    pub(crate) fn unknown_service(word: &str) -> ConfigError {
        ConfigError::UnknownService {
            name: word.to_owned(),
            valid: format!("[{}]", ONLY_NAMES.map(|name| format!("\"{name}\"")).join(",")),
            nearest: nearest(word, ONLY_NAMES),
        }
    }
}

fn meant(nearest: &Option<&'static str>) -> String {
    nearest.map(|name| format!(", did you mean {name}?")).unwrap_or_default()
}

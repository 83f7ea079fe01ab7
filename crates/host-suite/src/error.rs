//! Why a suite does not start or does not do what it is asked, with codes that programs can match.

use base_status::Status;

use crate::config::ConfigError;
use crate::data::DataError;
use crate::exports::{ExportError, ImportError};
use crate::limits::{SNAPSHOT_NAME_LEN_MAX, SNAPSHOTS_NAMED_MAX};
use crate::options::Problem;

/// Why a suite did not start. Nothing of it is left running.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Options that are unknown or of the wrong kind, all of them at once.
    #[error("{}", join(.0))]
    Options(Vec<Problem>),
    /// Flags that do not go together.
    #[error("{0}")]
    Flags(String),
    /// The project's files cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Something firelet does not have yet was asked for by name.
    #[error("firelet does not have {what} yet, {instead}")]
    NotYet {
        /// The command or flag.
        what: &'static str,
        /// What that means, or what to do.
        instead: String,
    },
    /// A port that must be this one belongs to another program. The first sentence is the official one.
    #[error(
        "Port {port} is not open on {host}, could not start {description}. Another program has this \
         port: stop it, or choose another port (0 takes a free one)"
    )]
    PortInUse {
        /// The service's name.
        service: &'static str,
        /// The service's name in messages.
        description: &'static str,
        /// The host as configured.
        host: String,
        /// The port.
        port: u16,
    },
    /// Two services of this suite are to have one port. The first sentence is the official one.
    #[error(
        "Port {port} is not open on {host}, could not start {description}. The {other} of this suite \
         is to have this port too: give one of them another one"
    )]
    PortTwice {
        /// The service's name.
        service: &'static str,
        /// The service's name in messages.
        description: &'static str,
        /// The name in messages of the one that has it.
        other: &'static str,
        /// The host as configured.
        host: String,
        /// The port.
        port: u16,
    },
    /// A host cannot be listened on at all.
    #[error("could not start {description}: {reason}")]
    Listen {
        /// The service's name in messages.
        description: &'static str,
        /// What stands in the way, with the address.
        reason: String,
    },
    /// Security rules are wrong: every finding of every file, a line each.
    #[error("the security rules cannot be used:\n{}", .0.join("\n"))]
    Rules(Vec<String>),
    /// The folder of kept data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// What the suite was to start with cannot be imported.
    #[error(transparent)]
    Import(#[from] ImportError),
    /// A service could not be built.
    #[error("could not start {description}: {}", .status.message)]
    Service {
        /// The service's name in messages.
        description: &'static str,
        /// Its answer.
        status: Status,
    },
}

impl StartError {
    /// A name for this failure that does not change between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Options(problems) => match problems.first() {
                Some(Problem::NotYet { .. }) => "FIRELET_NOT_YET",
                Some(Problem::Invalid { .. } | Problem::Empty { .. }) => "FIRELET_INVALID_OPTION",
                Some(Problem::Unknown { .. } | Problem::Method { .. }) | None => {
                    "FIRELET_UNKNOWN_OPTION"
                }
            },
            Self::Flags(_) => "FIRELET_INVALID_OPTION",
            Self::Config(error) => match error {
                ConfigError::NotFound(_) | ConfigError::NoProjectDirectory => {
                    "FIRELET_CONFIG_NOT_FOUND"
                }
                ConfigError::ProjectId(_) => "FIRELET_INVALID_PROJECT",
                ConfigError::UnknownService { .. } => "FIRELET_UNKNOWN_SERVICE",
                ConfigError::NothingToStart(_) => "FIRELET_NOTHING_TO_START",
                ConfigError::NothingImplemented(_) => "FIRELET_NOT_YET",
                ConfigError::Unreadable { .. }
                | ConfigError::Syntax { .. }
                | ConfigError::Aliases { .. }
                | ConfigError::ImportMissing(_)
                | ConfigError::ImportKind(_)
                | ConfigError::NotASection(_)
                | ConfigError::OutsideProject(_)
                | ConfigError::Edition
                | ConfigError::Invalid { .. } => "FIRELET_BAD_CONFIG",
            },
            Self::NotYet { .. } => "FIRELET_NOT_YET",
            Self::PortInUse { .. } | Self::PortTwice { .. } => "FIRELET_PORT_IN_USE",
            Self::Listen { .. } => "FIRELET_LISTEN_FAILED",
            Self::Data(error) => error.code(),
            Self::Rules(_) => "FIRELET_BAD_RULES",
            Self::Import(_) => "FIRELET_IMPORT_FAILED",
            Self::Service { .. } => "FIRELET_SERVICE_FAILED",
        }
    }
}

/// Why a started suite did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SuiteError {
    /// The suite has been stopped.
    #[error("the suite is stopped")]
    Stopped,
    /// A snapshot of another suite.
    #[error("this snapshot was taken of another suite, and can be restored only there")]
    ForeignSnapshot,
    /// A project id that cannot be one.
    #[error("`{0}` cannot be a project id")]
    Project(String),
    /// A project cannot be a copy of itself.
    #[error("project `{0}` cannot be a fork of itself: name another project")]
    ForkOfItself(String),
    /// The clock would pass what protocols can say.
    #[error("the suite's clock cannot go past the year 9999")]
    ClockRange,
    /// A method was given what it cannot use.
    #[error("{0}")]
    Argument(String),
    /// Security rules are wrong, so that those in force stay.
    #[error("{0}")]
    Rules(String),
    /// There is no export.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// A name that a snapshot cannot have.
    #[error(
        "`{0}` cannot be the name of a snapshot: it has 1 to {SNAPSHOT_NAME_LEN_MAX} letters, digits, `-`, `_` \
         and `.`"
    )]
    SnapshotName(String),
    /// No snapshot has this name.
    #[error("there is no snapshot `{name}`: {}", known_names(.known))]
    NoSnapshot {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// There are as many named snapshots as there may be.
    #[error(
        "there are {SNAPSHOTS_NAMED_MAX} named snapshots already: take one by the name of another one"
    )]
    TooManySnapshots,
    /// The folder of kept data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// A service refused.
    #[error("{service}: {}", .status.message)]
    Service {
        /// The service's name.
        service: &'static str,
        /// Its answer.
        status: Status,
    },
}

impl SuiteError {
    /// A name for this failure that does not change between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Stopped => "FIRELET_STOPPED",
            Self::ForeignSnapshot => "FIRELET_FOREIGN_SNAPSHOT",
            Self::Project(_) => "FIRELET_INVALID_PROJECT",
            Self::ForkOfItself(_)
            | Self::ClockRange
            | Self::Argument(_)
            | Self::SnapshotName(_)
            | Self::TooManySnapshots => "FIRELET_INVALID_OPTION",
            Self::NoSnapshot { .. } => "FIRELET_NO_SNAPSHOT",
            Self::Data(error) => error.code(),
            Self::Rules(_) => "FIRELET_BAD_RULES",
            Self::Export(error) => match error {
                ExportError::Foreign(_)
                | ExportError::NotAFolder(_)
                | ExportError::Around { .. } => "FIRELET_EXPORT_REFUSED",
                ExportError::Busy(_)
                | ExportError::Nothing
                | ExportError::Io { .. }
                | ExportError::Service(_)
                | ExportError::Left { .. } => "FIRELET_EXPORT_FAILED",
            },
            Self::Service { .. } => "FIRELET_SERVICE_FAILED",
        }
    }
}

impl DataError {
    /// A name for this failure that does not change between versions.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Io { .. }
            | Self::NotOurs { .. }
            | Self::Missing { .. }
            | Self::CopyNotEmpty { .. }
            | Self::SnapshotUnreadable { .. } => "FIRELET_DATA_UNUSABLE",
            Self::InUse { .. } => "FIRELET_DATA_IN_USE",
            Self::Newer { .. } => "FIRELET_DATA_TOO_NEW",
            Self::NotEmpty { .. } => "FIRELET_DATA_NOT_EMPTY",
        }
    }
}

/// Which names there are, for who has named another one.
fn known_names(known: &[String]) -> String {
    match known {
        [] => "none was taken by a name".to_owned(),
        known => format!("there are `{}`", known.join("`, `")),
    }
}

fn join(problems: &[Problem]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

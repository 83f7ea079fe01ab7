//! What the suite hands to a service when it builds it.

use base_env::Env;

use crate::{Directory, Exporter, Log, Place};

/// Everything a service gets from the suite. Cheap to clone.
#[derive(Clone)]
pub struct Context {
    /// Clock, randomness and ids: the only source of them.
    pub env: Env,
    /// The suite's own project id; clients may use any other.
    pub project: String,
    /// Where each running service listens.
    pub directory: Directory,
    /// Where the service that is built with this keeps its data.
    pub place: Place,
    /// Where warnings go.
    pub log: Log,
    /// Who writes an export when a client asks for one.
    pub exporter: Exporter,
}

impl Context {
    /// A context with an empty directory and data in memory, for one suite or one test.
    #[must_use]
    pub fn new(env: Env, project: impl Into<String>) -> Self {
        Self {
            env,
            project: project.into(),
            directory: Directory::default(),
            place: Place::Memory,
            log: Log::default(),
            exporter: Exporter::default(),
        }
    }
}

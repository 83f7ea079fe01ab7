//! What a caller asks of a suite: from JavaScript as a JSON object, from the shell as flags.

mod json;
mod problem;

use std::collections::BTreeMap;
use std::path::PathBuf;

use base_env::Env;
use serde_json::{Map, Value};
use svc_firestore::{IndexPolicy, LimitPolicy};
use svc_kit::{Durability, Log};

use crate::machine::Machine;

pub(crate) use json::{INDEX_POLICIES, LIMIT_POLICIES, index_policy, limit_policy};
pub use problem::Problem;

/// Who starts the suite, which decides the defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caller {
    /// A program: free ports, whatever firebase.json says, so that test runs never collide; without
    /// a firebase.json every service there is; nothing is read from the user's home.
    Program,
    /// The shell: the ports of firebase.json or the official ones, and the rules of the official
    /// command line throughout.
    CommandLine,
}

/// Where the configuration comes from.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum ConfigChoice {
    /// The nearest firebase.json, if there is one.
    #[default]
    Search,
    /// This file.
    File(PathBuf),
    /// This object, with paths relative to the current directory.
    Inline(Map<String, Value>),
    /// None, even if there is a firebase.json.
    Nothing,
}

/// What a caller says about one service.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceOptions {
    /// The host to listen on.
    pub host: Option<String>,
    /// The port to listen on, and no other; 0 asks for any free one.
    pub port: Option<u16>,
    /// Rules, for the services that have them: the path of a file, or the source.
    pub rules: Option<String>,
}

/// Which services keep their data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keep {
    /// Every one that runs.
    All,
    /// These, of those that run.
    Only(Vec<String>),
}

/// What a caller says about data that outlives the suite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataOptions {
    /// The services.
    pub keep: Keep,
    /// The folder; `.firelet` in the project directory where none is named.
    pub dir: Option<PathBuf>,
    /// What an acknowledged write has survived.
    pub durability: Durability,
}

/// What a caller wants to start with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImportOptions {
    /// The folder of an export, absolute.
    pub dir: PathBuf,
    /// The collections to take, by their ids; all of them without.
    pub collections: Option<Vec<String>>,
    /// The databases to take, by their ids; all of them without.
    pub databases: Option<Vec<String>>,
}

/// Everything a caller can ask of a suite.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Who asks.
    pub caller: Caller,
    /// The process's surroundings.
    pub machine: Machine,
    /// Clock and randomness of the suite.
    pub env: Env,
    /// The project id, or an alias of .firebaserc.
    pub project: Option<String>,
    /// The services to run, out of those configured.
    pub only: Option<Vec<String>>,
    /// The configuration.
    pub config: ConfigChoice,
    /// The host for every service that has none of its own.
    pub host: Option<String>,
    /// What is said about single services, by name.
    pub services: BTreeMap<&'static str, ServiceOptions>,
    /// Which data is kept, and where; none by default.
    pub data: Option<DataOptions>,
    /// What the suite starts with; nothing but what is kept by default.
    pub import: Option<ImportOptions>,
    /// What happens to Firestore queries that lack an index in production.
    pub indexes: IndexPolicy,
    /// Whether production's limits of Firestore hold.
    pub limits: LimitPolicy,
    /// Memory for pages of each Firestore database that has outgrown memory, in MiB; the engine's default without.
    pub cache_mib: Option<u32>,
    /// Where warnings of the running suite go.
    pub log: Log,
    /// Whether the user interface is wanted; `None` leaves it to firebase.json.
    pub ui: Option<bool>,
}

impl StartOptions {
    /// The defaults for a caller.
    #[must_use]
    pub fn new(caller: Caller, machine: Machine) -> Self {
        Self {
            caller,
            machine,
            env: Env::real(),
            project: None,
            only: None,
            config: ConfigChoice::default(),
            host: None,
            services: BTreeMap::new(),
            data: None,
            import: None,
            indexes: IndexPolicy::default(),
            limits: LimitPolicy::default(),
            cache_mib: None,
            log: Log::default(),
            ui: None,
        }
    }

    /// The options of the JavaScript API, from their JSON. Null and an empty object mean the defaults.
    ///
    /// # Errors
    /// [`StartError::Options`](crate::StartError::Options) with every key that is unknown or holds a
    /// value of the wrong kind.
    pub fn from_json(options: &Value, machine: Machine) -> Result<Self, crate::StartError> {
        json::read(options, machine).map_err(crate::StartError::Options)
    }
}

//! From what a caller asks to what is done: configuration read, project found, services and their
//! addresses chosen. Nothing is opened yet.

mod addresses;
mod firestore;

use std::path::{Path, PathBuf};

use base_env::Env;
use serde_json::Map;
use svc_firestore::IndexPolicy;
use svc_kit::{Durability, Log};

use crate::config::{
    self, ConfigError, Emulators, FirebaseConfig, FirebaseRc, Project, ProjectSources,
};
use crate::data;
use crate::error::StartError;
use crate::exports::{self, PlannedImport};
use crate::notice::{Notice, NoticeLevel};
use crate::options::{Caller, ConfigChoice, DataOptions, Keep, StartOptions};
use crate::services::{self, ONLY_NAMES, ServiceConfigs, ServiceRow};

/// Which port a service gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PortWish {
    /// This one or none.
    Fixed(u16),
    /// This one or the next free one above it.
    Search(u16),
    /// Any free one.
    Any,
}

/// One service that will run.
pub struct PlannedService {
    /// Its row in the table.
    pub row: &'static ServiceRow,
    /// The host to listen on.
    pub host: String,
    /// The port to listen on.
    pub port: PortWish,
}

/// Where data is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedData {
    /// The folder.
    pub dir: PathBuf,
    /// The services that keep theirs.
    pub services: Vec<&'static str>,
    /// What an acknowledged write has survived.
    pub durability: Durability,
}

/// A suite that can be started.
pub struct Plan {
    /// The project.
    pub project: Project,
    /// The project directory.
    pub directory: PathBuf,
    /// The services, in the table's order.
    pub services: Vec<PlannedService>,
    /// What there is to tell the user so far.
    pub notices: Vec<Notice>,
    /// What the project's files say to the services.
    pub configs: ServiceConfigs,
    /// Which data is kept, and where.
    pub data: Option<PlannedData>,
    /// What the services start with.
    pub(crate) import: Option<PlannedImport>,
    /// The directory that relative paths of requests start at.
    pub cwd: PathBuf,
    /// Where the hub's locator file goes, if there is to be one.
    pub locator: Option<PathBuf>,
    /// Clock and randomness of the suite.
    pub env: Env,
    /// Where warnings of the running suite go.
    pub log: Log,
}

/// A configuration, and the services a caller has without naming them there.
struct Source {
    config: FirebaseConfig,
    also: Vec<&'static str>,
    notice: Option<Notice>,
}

impl Plan {
    /// Makes the plan.
    ///
    /// # Errors
    /// The options and the project's files do not give a suite; the error says why.
    pub fn new(options: StartOptions) -> Result<Self, StartError> {
        let source = read_source(&options)?;
        let config = &source.config;
        let mut notices: Vec<Notice> = source.notice.into_iter().collect();
        let (mut emulators, mistyped) = Emulators::read(config)?;
        if options.ui == Some(false) {
            emulators.ui_enabled = Some(false);
        }

        let (project, broken_aliases) = find_project(&options, config)?;
        notices.extend(broken_aliases);
        if options.caller == Caller::CommandLine && project.is_demo() {
            notices.push(demo_notice(&project));
        }

        let mut also = source.also;
        if options.caller == Caller::Program {
            also.extend(options.services.keys().copied());
        }
        let targets = config::choose(config, &emulators, options.only.as_deref(), &also)
            .map_err(|error| with_hints(error, &mistyped))?;
        notices.extend(mistyped);
        notices.extend(targets.notices);
        notices.extend(flags_without_effect(&options));
        let mut configs = ServiceConfigs::default();
        if targets.names.contains(&"firestore") {
            firestore::edition(config, &mut notices)?;
            configs.firestore.rules = firestore::rules(&options, config, &mut notices)?;
            let (indexes, missing) = config::firestore_indexes(config)?;
            configs.firestore.indexes = indexes;
            configs.firestore.databases = config::firestore_databases(config);
            configs.firestore.indexes.policy = options.indexes;
            configs.firestore.limits = options.limits;
            configs.firestore.cache_bytes = options.cache_mib.map(bytes_of_mib);
            if options.indexes == IndexPolicy::Record {
                configs.firestore.indexes.recorder = Some(config::index_recorder(config)?);
            }
            notices.extend(missing);
        }
        let rows = targets.names.into_iter().filter_map(services::find);
        let mut services: Vec<PlannedService> =
            rows.map(|row| addresses::address(row, &options, &emulators)).collect();
        addresses::one_port_each(&mut services)?;
        notices.extend(services.iter().filter_map(addresses::open_to_others));
        let data = kept(&options, &source.config.directory, &services);
        if let (Some(data), Caller::CommandLine) = (&data, options.caller)
            && !data.services.is_empty()
        {
            let size = data::Usage::of(&data.dir).map_or(0, |usage| usage.bytes);
            let size = if size == 0 { String::new() } else { format!(" ({})", data::human(size)) };
            let text = format!("Keeping data in {}{size}", data.dir.display());
            notices.push(Notice::info("emulators", text));
        }
        let import = import(&options, &services, &mut notices)?;
        Ok(Self {
            project,
            configs,
            data,
            import,
            cwd: options.machine.cwd,
            directory: source.config.directory,
            services,
            notices: once(notices),
            // The file is one per project and machine; suites of a test run would fight over it.
            locator: (options.caller == Caller::CommandLine).then_some(options.machine.temp),
            env: options.env,
            log: options.log,
        })
    }
}

fn read_source(options: &StartOptions) -> Result<Source, StartError> {
    let cwd = &options.machine.cwd;
    let found = match &options.config {
        ConfigChoice::File(file) => Some(FirebaseConfig::load(&cwd.join(file))?),
        ConfigChoice::Inline(root) => Some(FirebaseConfig::inline(cwd, root.clone())?),
        ConfigChoice::Search => match config::find_directory(cwd) {
            Some(directory) => Some(FirebaseConfig::load(&directory.join(config::FILE_NAME))?),
            None => None,
        },
        ConfigChoice::Nothing => None,
    };
    if let Some(config) = found {
        return Ok(Source { config, also: Vec::new(), notice: None });
    }
    match options.caller {
        Caller::Program => {
            let named = options.only.is_some();
            let also = ONLY_NAMES
                .into_iter()
                .filter(|name| named || services::find(name).is_some_and(ServiceRow::exists));
            let config = FirebaseConfig::inline(cwd, Map::new())?;
            Ok(Source { config, also: also.collect(), notice: None })
        }
        Caller::CommandLine => {
            let needs_file = |only: &Vec<String>| {
                only.iter().any(|name| name == "functions" || name == "hosting")
            };
            if options.only.as_ref().is_none_or(needs_file) {
                return Err(ConfigError::NoProjectDirectory.into());
            }
            let text = "Could not find config (firebase.json) so using defaults.";
            Ok(Source {
                config: FirebaseConfig::builtin(cwd),
                also: Vec::new(),
                notice: Some(Notice::warning("emulators", text)),
            })
        }
    }
}

fn find_project(
    options: &StartOptions,
    config: &FirebaseConfig,
) -> Result<(Project, Option<Notice>), StartError> {
    let (aliases, broken) = match FirebaseRc::load(&config.directory) {
        Ok(aliases) => (aliases, None),
        Err(error) => (FirebaseRc::default(), Some(error)),
    };
    // A test run must not depend on what its user last chose with `firebase use`.
    let active = match options.caller {
        Caller::CommandLine => options
            .machine
            .official_settings()
            .and_then(|file| config::active_project(&file, &config.directory)),
        Caller::Program => None,
    };
    let project = Project::resolve(ProjectSources {
        option: options.project.as_deref(),
        active: active.as_deref(),
        deprecated: config.deprecated_project(),
        aliases: Some(&aliases),
    })?;
    match broken {
        // Data would be looked for, and written, under an id that nobody has chosen.
        Some(error) if !project.named => Err(error.into()),
        Some(error) => {
            let notice = Notice::warning("emulators", error.to_string());
            Ok((project, Some(notice)))
        }
        None => Ok((project, None)),
    }
}

fn demo_notice(project: &Project) -> Notice {
    let text = format!(
        "Detected demo project ID \"{}\", emulated services will use a demo configuration and \
         attempts to access non-emulated services for this project will fail.",
        project.id
    );
    Notice::info("emulators", text)
}

/// Flags that are taken and change nothing, because firelet does not have what they are about.
fn flags_without_effect(options: &StartOptions) -> Vec<Notice> {
    let ui = (options.ui == Some(true)).then_some("ui");
    ui.into_iter()
        .chain(options.services.keys().copied())
        .filter_map(services::find)
        .filter(|row| !row.exists())
        .map(config::not_yet)
        .collect()
}

/// The file and a flag may name the same missing service: it is said once.
fn once(notices: Vec<Notice>) -> Vec<Notice> {
    let mut said = Vec::new();
    for notice in notices {
        if !said.contains(&notice) {
            said.push(notice);
        }
    }
    said
}

/// Adds to a refusal what may have been meant.
fn with_hints(error: ConfigError, mistyped: &[Notice]) -> ConfigError {
    match error {
        ConfigError::NothingToStart(mut why) => {
            for notice in mistyped {
                why.push_str("; ");
                why.push_str(&notice.text);
            }
            ConfigError::NothingToStart(why)
        }
        other => other,
    }
}

/// Which of the services that run keep their data, and where.
fn kept(
    options: &StartOptions,
    directory: &Path,
    services: &[PlannedService],
) -> Option<PlannedData> {
    let DataOptions { keep, dir, durability } = options.data.clone()?;
    let is_kept = |name: &str| match &keep {
        Keep::All => true,
        Keep::Only(names) => names.iter().any(|kept| kept == name),
    };
    let with_data = services.iter().filter(|planned| !planned.row.internal);
    Some(PlannedData {
        dir: dir.unwrap_or_else(|| directory.join(data::DEFAULT_DIR)),
        services: with_data.map(|planned| planned.row.name).filter(|name| is_kept(name)).collect(),
        durability,
    })
}

/// What there is to import, for the services that run.
fn import(
    options: &StartOptions,
    services: &[PlannedService],
    notices: &mut Vec<Notice>,
) -> Result<Option<PlannedImport>, StartError> {
    let Some(import) = &options.import else { return Ok(None) };
    let running: Vec<_> = services.iter().map(|planned| planned.row).collect();
    let said = notices.len();
    let found = exports::find(import, options.caller, &running, notices)?;
    if options.caller == Caller::Program {
        let new = notices.iter().skip(said);
        for notice in new.filter(|notice| notice.level == NoticeLevel::Warning) {
            options.log.warn("import", &notice.text);
        }
    }
    Ok(found)
}

/// The project that a caller's options and the project's files name, for commands that start nothing.
///
/// # Errors
/// As [`Plan::new`].
pub(crate) fn project(options: &StartOptions) -> Result<Project, StartError> {
    let source = read_source(options)?;
    find_project(options, &source.config).map(|(project, _)| project)
}

fn bytes_of_mib(mib: u32) -> usize {
    usize::try_from(u64::from(mib) * 1024 * 1024).unwrap_or(usize::MAX)
}

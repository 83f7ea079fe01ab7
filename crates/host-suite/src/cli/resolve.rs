//! From typed flags to what is done, and what of it firelet cannot do yet.

use std::path::PathBuf;

use super::args::{Optional, RawArgs, Verb};
use super::data::DataTask;
use super::output::{OutputOptions, Verbosity};
use svc_kit::Durability;

use crate::config::{ConfigError, split_only};
use crate::error::StartError;
use crate::machine::Machine;
use crate::notice::Notice;
use crate::options::{
    Caller, ConfigChoice, DataOptions, Keep, ServiceOptions, StartOptions, index_policy,
    limit_policy,
};
use crate::services::{self, ONLY_NAMES};

/// What to do.
#[derive(Debug)]
pub(super) enum Task {
    /// Start and wait for a signal.
    Start(StartOptions),
    /// Start, run a script, stop.
    Exec { script: String, options: StartOptions },
    /// Look at kept data, or tidy it up.
    Data(DataTask),
    /// Say that there is nothing to download.
    Setup,
}

/// The arguments, understood.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) task: Task,
    pub(super) output: OutputOptions,
    /// Whether to print the events of the code.
    pub(super) debug: bool,
    pub(super) notices: Vec<Notice>,
}

/// How to print, which must be known before anything can go wrong.
pub(super) fn output(raw: &RawArgs) -> OutputOptions {
    let verbosity = raw.log_verbosity.as_deref().and_then(Verbosity::parse).unwrap_or_default();
    OutputOptions { json: raw.json, verbosity }
}

/// Understands the arguments.
///
/// # Errors
/// They ask for something whose absence would lose data: nothing is started then.
pub(super) fn resolve(raw: RawArgs, machine: Machine) -> Result<Resolved, StartError> {
    let output = output(&raw);
    if let Verb::Export { directory } = &raw.verb {
        return Err(StartError::NotYet {
            what: "`emulators:export`",
            instead: format!("nothing was written to `{directory}`"),
        });
    }
    for (flag, given) in [("`--import`", &raw.import), ("`--export-on-exit`", &raw.export_on_exit)]
    {
        if *given != Optional::Absent {
            let instead = "start without it; `--keep-data` keeps data between starts".to_owned();
            return Err(StartError::NotYet { what: flag, instead });
        }
    }
    if let Verb::Data(verb) = raw.verb {
        let (output, debug) = (output, raw.debug);
        let dir = raw.data_dir.map(|dir| machine.cwd.join(dir));
        let config = raw.config.map(|file| machine.cwd.join(file));
        let task = Task::Data(DataTask { verb, dir, config, cwd: machine.cwd });
        return Ok(Resolved { task, output, debug, notices: Vec::new() });
    }
    let mut notices = Vec::new();
    if raw.inspect_functions != Optional::Absent {
        let text = "firelet does not have the Functions Emulator yet, `--inspect-functions` does \
                    nothing";
        notices.push(Notice::warning("functions", text));
    }
    let debug = raw.debug;
    let task = match raw.verb {
        Verb::Start => {
            let ui = raw.ui.then_some(true);
            Task::Start(StartOptions { ui, ..start_options(raw, machine)? })
        }
        Verb::Exec { ref script } => {
            // Nobody looks at a user interface while a script runs, unless by request.
            let (script, ui) = (script.clone(), Some(raw.ui));
            Task::Exec { script, options: StartOptions { ui, ..start_options(raw, machine)? } }
        }
        Verb::Setup | Verb::Export { .. } | Verb::Data(_) => Task::Setup,
    };
    Ok(Resolved { task, output, debug, notices })
}

fn start_options(raw: RawArgs, machine: Machine) -> Result<StartOptions, StartError> {
    let data = data_options(&raw, &machine)?;
    let mut options = StartOptions::new(Caller::CommandLine, machine);
    options.project = raw.project;
    options.only = raw.only.as_deref().map(split_only);
    if let Some(file) = raw.config {
        options.config = ConfigChoice::File(PathBuf::from(file));
    }
    options.host = raw.host;
    options.data = data;
    options.indexes = raw.indexes.as_deref().and_then(index_policy).unwrap_or_default();
    options.limits = raw.limits.as_deref().and_then(limit_policy).unwrap_or_default();
    options.cache_mib = raw.cache_mib;
    options.services = raw
        .ports
        .into_iter()
        .map(|(name, port)| (name, ServiceOptions { port: Some(port), ..Default::default() }))
        .collect();
    Ok(options)
}

fn data_options(raw: &RawArgs, machine: &Machine) -> Result<Option<DataOptions>, StartError> {
    let keep = match &raw.keep_data {
        Optional::Absent => return Ok(None),
        Optional::Bare => Keep::All,
        Optional::Value(names) => Keep::Only(split_only(names)),
    };
    if let Keep::Only(names) = &keep {
        for name in names {
            let row = services::find(name).filter(|_| ONLY_NAMES.contains(&name.as_str()));
            let row = row.ok_or_else(|| ConfigError::unknown_service(name))?;
            if !row.exists() {
                let instead = format!("so it cannot keep its data: leave {name} out");
                return Err(StartError::NotYet { what: row.name, instead });
            }
        }
    }
    let dir = raw.data_dir.as_ref().map(|dir| machine.cwd.join(dir));
    Ok(Some(DataOptions { keep, dir, durability: Durability::default() }))
}

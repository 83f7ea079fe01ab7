//! From typed flags to what is done, and what of it firelet cannot do yet.

use std::path::{Component, PathBuf};

use super::args::{Optional, RawArgs, Verb};
use super::data::DataTask;
use super::output::{OutputOptions, Verbosity};
use svc_kit::Durability;

use crate::config::{ConfigError, split_only};
use crate::error::StartError;
use crate::exports;
use crate::machine::Machine;
use crate::notice::Notice;
use crate::options::{
    Caller, ConfigChoice, DataOptions, ImportOptions, Keep, ServiceOptions, StartOptions,
    index_policy, limit_policy,
};
use crate::services::{self, ONLY_NAMES};

/// What to do.
#[derive(Debug)]
pub(super) enum Task {
    /// Start and wait for a signal.
    Start(Running),
    /// Start, run a script, stop.
    Exec { script: String, running: Running },
    /// Have a running suite write an export.
    Export(Export),
    /// Look at kept data, or tidy it up.
    Data(DataTask),
    /// Say that there is nothing to download.
    Setup,
}

/// A suite that is to run.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) options: StartOptions,
    /// Where it exports to when it stops.
    pub(super) export_on_exit: Option<PathBuf>,
}

/// An export of a suite that runs elsewhere.
#[derive(Debug)]
pub(super) struct Export {
    /// What names the project.
    pub(super) options: StartOptions,
    pub(super) dir: PathBuf,
    pub(super) force: bool,
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
    let (output, debug) = (output(&raw), raw.debug);
    if let Verb::Data(verb) = raw.verb {
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
    let task = match raw.verb {
        Verb::Start => {
            let ui = raw.ui.then_some(true);
            Task::Start(running(raw, ui, machine)?)
        }
        Verb::Exec { ref script } => {
            // Nobody looks at a user interface while a script runs, unless by request.
            let (script, ui) = (script.clone(), Some(raw.ui));
            Task::Exec { script, running: running(raw, ui, machine)? }
        }
        Verb::Export { ref directory, force } => {
            let dir = absolute(&machine, directory);
            Task::Export(Export { options: start_options(raw, machine)?, dir, force })
        }
        Verb::Setup | Verb::Data(_) => Task::Setup,
    };
    Ok(Resolved { task, output, debug, notices })
}

fn running(raw: RawArgs, ui: Option<bool>, machine: Machine) -> Result<Running, StartError> {
    let Folders { import, export_on_exit } = folders(&raw, &machine)?;
    Ok(Running {
        options: StartOptions { ui, import, ..start_options(raw, machine)? },
        export_on_exit,
    })
}

/// The folders that data comes from and goes to.
struct Folders {
    import: Option<ImportOptions>,
    export_on_exit: Option<PathBuf>,
}

/// The rules, and the sentences, are those of the official command line.
fn folders(raw: &RawArgs, machine: &Machine) -> Result<Folders, StartError> {
    let import = match &raw.import {
        Optional::Absent => None,
        Optional::Bare => return Err(flag("`--import` needs the folder of an export")),
        Optional::Value(dir) => Some(absolute(machine, dir)),
    };
    let export_on_exit = match (&raw.export_on_exit, &import) {
        (Optional::Absent, _) => None,
        (Optional::Value(dir), _) => Some(absolute(machine, dir)),
        (Optional::Bare, Some(import)) => Some(import.clone()),
        (Optional::Bare, None) => {
            return Err(flag(
                "\"--export-on-exit\" must be used with \"--import\" or provide a dir directly to \
                 \"--export-on-exit [dir]\"",
            ));
        }
    };
    if export_on_exit.as_ref().is_some_and(|dir| machine.cwd.starts_with(dir)) {
        return Err(flag(
            "\"--export-on-exit\" must not point to the current directory or parents. Please choose a \
             new/dedicated directory for exports.",
        ));
    }
    // The first run of many that go on from one another.
    let import = import.filter(|dir| exports::exists(dir) || export_on_exit.as_ref() != Some(dir));
    let ids = |text: &Option<String>| text.as_deref().map(split_only);
    let import = import.map(|dir| ImportOptions {
        dir,
        collections: ids(&raw.import_collections),
        databases: ids(&raw.import_databases),
    });
    Ok(Folders { import, export_on_exit })
}

/// A path as typed, without `.` and `..`, which a folder that is replaced must not have in its name.
fn absolute(machine: &Machine, dir: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in machine.cwd.join(dir).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                path.pop();
            }
            other => path.push(other),
        }
    }
    path
}

fn flag(text: &str) -> StartError {
    StartError::Flags(text.to_owned())
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

//! The flags as they are typed. What they mean is decided in `resolve.rs`.

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};

use super::data_args::{self, DataVerb};
use crate::VERSION;
use crate::limits::CACHE_MIB;
use crate::options::{INDEX_POLICIES, LIMIT_POLICIES};
use crate::services::SERVICES;

/// Commands of the official command line that download emulators.
const SETUP: [&str; 6] = [
    "setup:emulators:database",
    "setup:emulators:firestore",
    "setup:emulators:pubsub",
    "setup:emulators:storage",
    "setup:emulators:ui",
    "setup:emulators:dataconnect",
];

/// Which command, with its own arguments.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Start,
    Exec { script: String },
    Export { directory: String, force: bool },
    Data(DataVerb),
    Setup,
}

/// A flag that may come without its value.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Optional {
    #[default]
    Absent,
    Bare,
    Value(String),
}

/// What was typed.
#[derive(Debug)]
pub(super) struct RawArgs {
    pub(super) verb: Verb,
    pub(super) project: Option<String>,
    pub(super) config: Option<String>,
    pub(super) only: Option<String>,
    pub(super) host: Option<String>,
    pub(super) import: Optional,
    pub(super) import_collections: Option<String>,
    pub(super) import_databases: Option<String>,
    pub(super) export_on_exit: Optional,
    pub(super) keep_data: Optional,
    pub(super) data_dir: Option<String>,
    pub(super) indexes: Option<String>,
    pub(super) limits: Option<String>,
    pub(super) cache_mib: Option<u32>,
    pub(super) inspect_functions: Optional,
    pub(super) log_verbosity: Option<String>,
    pub(super) json: bool,
    pub(super) debug: bool,
    pub(super) ui: bool,
    pub(super) ports: Vec<(&'static str, u16)>,
}

/// Parses the arguments after the program's name.
pub(super) fn parse(argv: &[String]) -> Result<RawArgs, clap::Error> {
    let program = "firelet".to_owned();
    let matches = command().try_get_matches_from(std::iter::once(&program).chain(argv))?;
    let Some((name, matches)) = matches.subcommand() else {
        return Err(command().error(
            clap::error::ErrorKind::MissingSubcommand,
            "name a command, for example `firelet emulators:start`; `firelet --help` lists them",
        ));
    };
    Ok(read(name, matches))
}

/// The help of the whole command line.
pub(super) fn help() -> String {
    command().render_help().to_string()
}

fn read(name: &str, matches: &ArgMatches) -> RawArgs {
    let text = |id: &str| matches.try_get_one::<String>(id).ok().flatten().cloned();
    let flag = |id: &str| matches.try_get_one::<bool>(id).ok().flatten().copied().unwrap_or(false);
    let optional = |id: &str| match (text(id), matches.try_contains_id(id)) {
        (Some(value), _) => Optional::Value(value),
        (None, Ok(true)) => Optional::Bare,
        (None, Ok(false) | Err(_)) => Optional::Absent,
    };
    let port = |name: &str| matches.try_get_one::<u16>(&port_flag(name)).ok().flatten().copied();
    let verb = match name {
        "emulators:start" => Verb::Start,
        "emulators:exec" => Verb::Exec { script: text("script").unwrap_or_default() },
        "data" => Verb::Data(data_args::read(matches)),
        "emulators:export" => {
            Verb::Export { directory: text("path").unwrap_or_default(), force: flag("force") }
        }
        _ => Verb::Setup,
    };
    RawArgs {
        verb,
        project: text("project"),
        config: text("config"),
        only: text("only"),
        host: text("host"),
        import: optional("import"),
        import_collections: text("import-collections"),
        import_databases: text("import-databases"),
        export_on_exit: optional("export-on-exit"),
        keep_data: optional("keep-data"),
        data_dir: text("data-dir"),
        indexes: text("indexes"),
        limits: text("limits"),
        cache_mib: matches.try_get_one::<u32>("cache-mib").ok().flatten().copied(),
        inspect_functions: optional("inspect-functions"),
        log_verbosity: text("log-verbosity"),
        json: flag("json"),
        debug: flag("debug"),
        ui: flag("ui"),
        ports: SERVICES.iter().filter_map(|row| Some((row.name, port(row.name)?))).collect(),
    }
}

/// The grammar.
pub(super) fn command() -> Command {
    let start = Command::new("emulators:start")
        .about("Start the local Firebase emulators and run until Ctrl-C")
        .args(run_args());
    let exec = Command::new("emulators:exec")
        .about("Start the emulators, run a script against them, stop them, exit with its code")
        .arg(Arg::new("script").required(true).help("The script, run by the system's shell"))
        .args(run_args());
    let export = Command::new("emulators:export")
        .about("Write the data of running emulators to a folder")
        .arg(Arg::new("path").required(true).help("The folder"))
        .arg(only())
        .arg(
            switch("force").short('f').help("Also where the folder holds other files, which stay"),
        );
    let setup = SETUP.map(|name| Command::new(name).about("Nothing to download").hide(true));
    Command::new("firelet")
        .version(VERSION)
        .about("The local Firebase: emulators in one process")
        .after_help(
            "Reads firebase.json and .firebaserc of the current project. \
             `setup:emulators:<name>` is understood: there is nothing to download.",
        )
        .args(global_args())
        .subcommands([start, exec, export])
        .subcommand(data_args::command())
        .subcommands(setup)
}

fn global_args() -> Vec<Arg> {
    let args = vec![
        value("project", "alias_or_project_id")
            .short('P')
            .help("The project [default: that of .firebaserc, else demo-no-project]"),
        value("config", "path")
            .short('c')
            .help("The firebase.json to use [default: the nearest one, here or above]"),
        switch("json").short('j').help("Print one JSON object instead of text"),
        switch("debug").help("Print what goes wrong on connections too; requests are not logged"),
        switch("non-interactive").help("Never ask (firelet never does)"),
        switch("interactive").short('i').hide(true),
        value("token", "token").hide(true),
        value("account", "email").hide(true),
    ];
    args.into_iter().map(|arg| arg.global(true).help_heading("Options of all commands")).collect()
}

fn run_args() -> Vec<Arg> {
    let verbosity = PossibleValuesParser::new(["DEBUG", "INFO", "QUIET", "SILENT"]);
    let mut args = vec![
        only(),
        value("host", "host").help("Listen here [default: that of firebase.json, else localhost]"),
    ];
    args.extend(SERVICES.iter().filter(|row| row.name != "extensions").map(|row| {
        let (what, default) = (row.description, row.port.number());
        value(row.name, "port")
            .id(port_flag(row.name))
            .long(port_flag(row.name))
            .value_parser(value_parser!(u16))
            .hide(!row.exists())
            .help(format!("The port of the {what}, 0 for a free one [default: {default}]"))
    }));
    args.extend([
        // With `=` only: the script of `emulators:exec` may follow it.
        optional("keep-data", "emulators")
            .require_equals(true)
            .help("Keep the data for the next start, of all emulators or of these"),
        value("data-dir", "dir")
            .requires("keep-data")
            .help("Keep it in this folder [default: .firelet in the project]"),
        value("indexes", "policy")
            .value_parser(PossibleValuesParser::new(INDEX_POLICIES.map(|(name, _)| name)))
            .help(
                "What happens to queries that production refuses for want of an index \
                 [default: warn]",
            ),
        value("limits", "policy")
            .value_parser(PossibleValuesParser::new(LIMIT_POLICIES.map(|(name, _)| name)))
            .help("Whether Firestore's limits of production hold [default: production]"),
        value("cache-mib", "MiB")
            .value_parser(
                value_parser!(u32)
                    .range(i64::from(*CACHE_MIB.start())..=i64::from(*CACHE_MIB.end())),
            )
            .help(
                "Memory for pages of a Firestore database that has outgrown memory [default: 24]",
            ),
        value("log-verbosity", "verbosity")
            .value_parser(verbosity)
            .ignore_case(true)
            .help("How much to print [default: DEBUG]"),
        optional("import", "dir").help("Start with the data of an export"),
        value("import-collections", "ids")
            .requires("import")
            .help("Take only these collections of the export, comma separated"),
        value("import-databases", "ids")
            .requires("import")
            .help("Take only these databases of the export, comma separated"),
        optional("export-on-exit", "dir")
            .help("Write an export when stopping [default: to the folder of --import]"),
        switch("ui").help("Run the user interface too (not there yet)"),
        optional("inspect-functions", "port")
            .help("Let a debugger attach to functions (not there yet)"),
    ]);
    args
}

fn port_flag(service: &str) -> String {
    format!("{service}-port")
}

fn only() -> Arg {
    value("only", "emulators").help("Only these of the configured emulators, comma separated")
}

pub(super) fn value(name: &'static str, shown: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(shown).action(ArgAction::Set)
}

fn optional(name: &'static str, shown: &'static str) -> Arg {
    value(name, shown).num_args(0..=1)
}

pub(super) fn switch(name: &'static str) -> Arg {
    Arg::new(name).long(name).action(ArgAction::SetTrue)
}

//! The flags of `firelet data`, as they are typed.

use clap::{Arg, ArgMatches, Command};

use super::args::{switch, value};

/// What is to be done with kept data.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum DataVerb {
    /// Say what there is.
    List,
    /// Remove databases: these, or all.
    Drop { targets: Vec<String>, force: bool },
    /// Make the files small.
    Compact,
    /// Copy everything to another folder.
    Copy { to: String },
    /// Say which snapshots there are.
    Snapshots,
    /// Remove snapshots by their names.
    DropSnapshots { names: Vec<String>, force: bool },
}

/// The grammar.
pub(super) fn command() -> Command {
    let force = || switch("force").short('f').help("Do it: nothing is asked");
    let targets = Arg::new("targets")
        .value_name("project[/database]")
        .num_args(0..)
        .help("What to remove [default: every database]");
    let names = Arg::new("names").value_name("name").num_args(1..).required(true);
    let snapshots = Command::new("snapshots")
        .about("List the snapshots, or remove some")
        .subcommand(Command::new("list").about("List the snapshots"))
        .subcommand(
            Command::new("drop")
                .about("Remove snapshots")
                .arg(names.help("Their names"))
                .arg(force()),
        );
    Command::new("data")
        .about("Look at kept data, and tidy it up")
        .subcommand_required(true)
        .arg(
            value("data-dir", "dir")
                .global(true)
                .help("The folder it is kept in [default: .firelet in the project]"),
        )
        .subcommand(Command::new("list").about("List what is kept, with its size"))
        .subcommand(Command::new("drop").about("Remove databases").arg(targets).arg(force()))
        .subcommand(Command::new("compact").about("Make the files as small as they can be"))
        .subcommand(
            Command::new("copy")
                .about("Copy everything to another folder, which can be used like the first one")
                .arg(Arg::new("to").value_name("dir").required(true).help("A new or empty folder")),
        )
        .subcommand(snapshots)
}

/// Reads what was typed behind `data`.
pub(super) fn read(matches: &ArgMatches) -> DataVerb {
    let texts = |matches: &ArgMatches, id: &str| -> Vec<String> {
        matches.get_many::<String>(id).into_iter().flatten().cloned().collect()
    };
    match matches.subcommand() {
        Some(("drop", matches)) => {
            DataVerb::Drop { targets: texts(matches, "targets"), force: matches.get_flag("force") }
        }
        Some(("compact", _)) => DataVerb::Compact,
        Some(("copy", matches)) => {
            DataVerb::Copy { to: matches.get_one::<String>("to").cloned().unwrap_or_default() }
        }
        Some(("snapshots", matches)) => match matches.subcommand() {
            Some(("drop", matches)) => DataVerb::DropSnapshots {
                names: texts(matches, "names"),
                force: matches.get_flag("force"),
            },
            Some(_) | None => DataVerb::Snapshots,
        },
        Some(_) | None => DataVerb::List,
    }
}

//! What to say about a mistake in the arguments: clap's text, with hints that fit.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args::command;
use crate::config::split_only;
use crate::nearest::nearest;
use crate::services::ONLY_NAMES;

/// The text for an error, which may also be the help that was asked for.
pub(super) fn explain(mut error: clap::Error, argv: &[String]) -> String {
    match error.kind() {
        ErrorKind::InvalidSubcommand => {
            if let Some(word) = text(&error, ContextKind::InvalidSubcommand) {
                return unknown_command(&word);
            }
        }
        ErrorKind::UnknownArgument => suggest_flag(&mut error, argv),
        _ => {}
    }
    let mut shown = error.render().to_string();
    if let Some(tip) = misplaced_value(error.kind(), argv) {
        shown = format!("{}\n\n  tip: {tip}", shown.trim_end());
    }
    shown
}

fn unknown_command(word: &str) -> String {
    let commands = command();
    let known = commands.get_subcommands().map(Command::get_name);
    let hint = match nearest(word, known) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => "`firelet --help` lists the commands".to_owned(),
    };
    format!("error: unknown command `{word}`, {hint}")
}

/// Names the flag that was meant, by a stricter measure than clap's, or none.
fn suggest_flag(error: &mut clap::Error, argv: &[String]) {
    let Some(given) = text(error, ContextKind::InvalidArg) else { return };
    error.remove(ContextKind::SuggestedArg);
    let Some(word) = given.strip_prefix("--") else { return };
    // That it could be a value behind `--`.
    error.remove(ContextKind::Suggested);
    let word = word.split('=').next().unwrap_or_default();
    let whole = command();
    let chosen = argv.iter().find_map(|word| whole.find_subcommand(word));
    let arguments =
        whole.get_arguments().chain(chosen.into_iter().flat_map(Command::get_arguments));
    let flags: Vec<&str> =
        arguments.filter(|arg| !arg.is_hide_set()).filter_map(clap::Arg::get_long).collect();
    if let Some(meant) = nearest(word, flags) {
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{meant}")));
    }
}

/// What to write where a flag did not take the word behind it, or took one too many.
fn misplaced_value(kind: ErrorKind, argv: &[String]) -> Option<String> {
    let behind = |flag: &str| {
        let place = argv.iter().position(|word| word == flag)?;
        argv.get(place.checked_add(1)?)
    };
    let is_service = |name: &String| ONLY_NAMES.contains(&name.as_str());
    match kind {
        ErrorKind::UnknownArgument => {
            let value = behind("--keep-data")?;
            let names = split_only(value);
            let meant = !names.is_empty() && names.iter().all(is_service);
            meant.then(|| format!("write `--keep-data={}`", names.join(",")))
        }
        ErrorKind::MissingRequiredArgument => {
            let value = behind("--inspect-functions")?;
            let tip = "`--inspect-functions` took the script for its port: give the port with `=`";
            value.parse::<u16>().is_err().then(|| tip.to_owned())
        }
        _ => None,
    }
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.clone()),
        _ => None,
    }
}

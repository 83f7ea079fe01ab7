//! `emulators:exec`: start, run a script against the suite, stop, exit as the script did.

use std::ffi::OsString;
use std::io;
use std::process::{ExitStatus, Stdio};

use base_env::process::{self, Recipient};
use tokio::process::{Child, Command};

use super::export_on_exit::export_on_exit;
use super::io::ChildStdio;
use super::resolve::Running;
use super::run::{FAILED, Run};
use super::shutdown::{self, Ending};
use super::signals::Arrival;
use crate::limits::{DRAIN_MAX, DRAIN_POLL};
use crate::suite::Suite;

/// How the script ended.
enum Outcome {
    Code(i32),
    Signal(i32),
}

/// Runs the command.
pub(super) async fn run(run: &mut Run, script: &str, running: Running) -> i32 {
    let suite = match run.open(running.options).await {
        Ok(suite) => suite,
        Err(code) => return code,
    };
    let took = run.elapsed();
    run.out.success("emulators", &format!("ready in {} ms", took.as_millis()));
    run.out.bullet("emulators", &format!("Running script: {script}"));
    let ended = run_script(run, &suite, script).await;
    // A script that a signal has ended may have left half of what it was to write.
    let wanted = running.export_on_exit.filter(|_| matches!(ended, Ok(Outcome::Code(_))));
    let exported = export_on_exit(run, &suite, wanted).await;
    if shutdown::stop(run, &suite).await == Ending::Failed {
        return FAILED;
    }
    if let (Err(message), Ok(Outcome::Code(0))) = (&exported, &ended) {
        run.out.failure(message, None);
        return FAILED;
    }
    report(run, script, ended)
}

/// Says how the script ended, and gives the exit code.
fn report(run: &mut Run, script: &str, ended: io::Result<Outcome>) -> i32 {
    match ended {
        Ok(Outcome::Code(0)) => {
            run.out.result(serde_json::Value::Null);
            0
        }
        Ok(Outcome::Code(code)) => {
            run.out.failure(&format!("Script \"{script}\" exited with code {code}"), None);
            code
        }
        Ok(Outcome::Signal(number)) => {
            let name = signal_name(number);
            run.out.failure(&format!("Script \"{script}\" exited with signal: {name}"), None);
            FAILED
        }
        Err(error) => {
            run.out.failure(&format!("could not run the script: {error}"), None);
            FAILED
        }
    }
}

async fn run_script(run: &mut Run, suite: &Suite, script: &str) -> io::Result<Outcome> {
    let mut command = shell(script);
    command.current_dir(&run.machine.cwd).env_clear().envs(environment(run, suite));
    if run.child == ChildStdio::Null {
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    }
    let own_group = own_group(run, &mut command);
    let mut child = command.spawn()?;
    let group = child.id().filter(|_| own_group);
    let ended = wait(run, &mut child, own_group).await?;
    if let Some(group) = group
        && run.signals.any_came()
    {
        drain(run, group).await;
    }
    run.print_warnings();
    let outcome = outcome(ended);
    match &outcome {
        Outcome::Code(0) => {
            run.out.success("emulators", "Script exited successfully (code 0)");
        }
        Outcome::Code(code) => {
            run.out.warning("emulators", &format!("Script exited unsuccessfully (code {code})"));
        }
        Outcome::Signal(number) => {
            let text = format!("Script exited with signal: {}", signal_name(*number));
            run.out.warning("emulators", &text);
        }
    }
    Ok(outcome)
}

#[cfg(unix)]
fn shell(script: &str) -> Command {
    process::shell(&super::traps::with_traps(script))
}

#[cfg(not(unix))]
fn shell(script: &str) -> Command {
    process::shell(script)
}

/// The variables of the script: ours, those of the suite, and what the user has set beats a guess.
fn environment(run: &Run, suite: &Suite) -> Vec<(OsString, OsString)> {
    let guess = |name: &str| {
        let guessed =
            name == "FIREBASE_CONFIG" || (name == "GCLOUD_PROJECT" && !suite.project_is_named());
        guessed && run.machine.variable(name).is_some()
    };
    let own = run.machine.variables.clone().into_iter();
    own.chain(
        suite
            .env()
            .into_iter()
            .filter(|(name, _)| !guess(name))
            .map(|(name, value)| (name.into(), value.into())),
    )
    .chain([("IS_FIREBASE_CLI".into(), "true".into())])
    .collect()
}

/// Puts the script into a process group of its own, where that is right.
///
/// A terminal sends Ctrl-C to the whole foreground group, the script included, and only that group may
/// read from it: there the script stays in ours. Without a terminal the group lets a signal reach
/// whatever the script has started, exactly once.
fn own_group(run: &Run, command: &mut Command) -> bool {
    #[cfg(unix)]
    if !run.stdin_is_terminal {
        command.process_group(0);
        return true;
    }
    let _ = (run, command);
    false
}

/// Waits for the script, and hands signals on to it. A signal that comes again ends it the hard way.
async fn wait(run: &mut Run, child: &mut Child, own_group: bool) -> io::Result<ExitStatus> {
    let Some(pid) = child.id() else { return child.wait().await };
    let recipient = if own_group { Recipient::Group(pid) } else { Recipient::Process(pid) };
    loop {
        let arrival = tokio::select! {
            biased;
            ended = child.wait() => return ended,
            arrival = run.signals.next() => arrival,
            Some(notice) = run.warnings.recv() => {
                run.out.notice(&notice);
                continue;
            }
        };
        match arrival {
            Arrival::First(signal) => {
                shutdown::announce(run, signal);
                let by_terminal = !own_group && signal.is_from_keyboard();
                if !by_terminal {
                    // An error means that the script has just ended: the next turn sees it.
                    let _ = process::send(signal.for_child(), recipient);
                }
            }
            Arrival::Again(_) => {
                let _ = process::send(process::Signal::Kill, recipient);
                let _ = child.start_kill();
            }
        }
    }
}

/// Waits for what the script has left behind in its group, now that a signal has told it to end: it may
/// still be writing to the suite. A signal that comes again ends it the hard way, and so does time.
async fn drain(run: &mut Run, group: u32) {
    let group = Recipient::Group(group);
    let empty = async {
        while process::is_alive(group) {
            tokio::time::sleep(DRAIN_POLL).await;
        }
    };
    tokio::select! {
        biased;
        () = empty => return,
        () = shutdown::again(&mut run.signals) => {}
        () = tokio::time::sleep(DRAIN_MAX) => {}
    }
    // An error means that the last one has just ended.
    let _ = process::send(process::Signal::Kill, group);
}

#[cfg(unix)]
fn outcome(status: ExitStatus) -> Outcome {
    use std::os::unix::process::ExitStatusExt;

    match (status.code(), status.signal()) {
        (Some(code), _) => Outcome::Code(code),
        (None, signal) => Outcome::Signal(signal.unwrap_or_default()),
    }
}

#[cfg(not(unix))]
fn outcome(status: ExitStatus) -> Outcome {
    Outcome::Code(status.code().unwrap_or(FAILED))
}

/// The name of a signal that has one number on every platform; otherwise the number.
fn signal_name(number: i32) -> String {
    let known = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (14, "SIGALRM"),
        (15, "SIGTERM"),
    ];
    let name = known.into_iter().find(|(known, _)| *known == number).map(|(_, name)| name);
    name.map_or_else(|| number.to_string(), str::to_owned)
}

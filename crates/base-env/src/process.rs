//! Child processes: the one place that starts them.

use tokio::process::Command;

/// A command that runs `script` as the system's shell would: `sh -c` on Unix, `cmd /d /s /c` on Windows.
///
/// The child inherits standard input, output and error, and is ended when its handle is dropped.
pub fn shell(script: &str) -> Command {
    let mut command = plain_shell();
    command.arg(script).kill_on_drop(true);
    #[cfg(unix)]
    pass_on_streams(&mut command);
    command
}

/// Hands the standard streams on as duplicates. Node marks its own as close-on-exec, so a child that
/// merely inherits them would find them closed. A stream that is closed here stays closed.
#[cfg(unix)]
fn pass_on_streams(command: &mut Command) {
    use std::os::fd::AsFd;

    if let Ok(stream) = std::io::stdin().as_fd().try_clone_to_owned() {
        command.stdin(stream);
    }
    if let Ok(stream) = std::io::stdout().as_fd().try_clone_to_owned() {
        command.stdout(stream);
    }
    if let Ok(stream) = std::io::stderr().as_fd().try_clone_to_owned() {
        command.stderr(stream);
    }
}

#[cfg(unix)]
#[expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
fn plain_shell() -> Command {
    let mut command = Command::new("/bin/sh");
    command.arg("-c");
    command
}

#[cfg(windows)]
#[expect(clippy::disallowed_methods, reason = "this is the one place that starts processes")]
fn plain_shell() -> Command {
    let mut command = Command::new("cmd.exe");
    command.args(["/d", "/s", "/c"]);
    command
}

/// A signal that can be handed on to a child.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGHUP.
    Hangup,
    /// SIGINT.
    Interrupt,
    /// SIGQUIT.
    Quit,
    /// SIGTERM.
    Terminate,
    /// SIGKILL.
    Kill,
}

/// Who gets a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipient {
    /// The process with this id.
    Process(u32),
    /// Every process of the group with this id.
    Group(u32),
}

/// Sends a signal.
///
/// # Errors
/// The recipient is gone; or the platform has no signals.
#[cfg(unix)]
pub fn send(signal: Signal, recipient: Recipient) -> std::io::Result<()> {
    use rustix::process::{Signal as Raw, kill_process, kill_process_group};

    let signal = match signal {
        Signal::Hangup => Raw::HUP,
        Signal::Interrupt => Raw::INT,
        Signal::Quit => Raw::QUIT,
        Signal::Terminate => Raw::TERM,
        Signal::Kill => Raw::KILL,
    };
    let pid = pid(recipient).ok_or(std::io::ErrorKind::InvalidInput)?;
    match recipient {
        Recipient::Process(_) => kill_process(pid, signal)?,
        Recipient::Group(_) => kill_process_group(pid, signal)?,
    }
    Ok(())
}

/// Whether there is such a process, or a process in such a group. One that has ended and that nobody has
/// asked about yet counts as well.
#[cfg(unix)]
#[must_use]
pub fn is_alive(recipient: Recipient) -> bool {
    use rustix::process::{test_kill_process, test_kill_process_group};

    let Some(pid) = pid(recipient) else { return false };
    let answer = match recipient {
        Recipient::Process(_) => test_kill_process(pid),
        Recipient::Group(_) => test_kill_process_group(pid),
    };
    // What may not be signalled is there all the same.
    answer.is_ok() || answer == Err(rustix::io::Errno::PERM)
}

#[cfg(unix)]
fn pid(recipient: Recipient) -> Option<rustix::process::Pid> {
    let (Recipient::Process(id) | Recipient::Group(id)) = recipient;
    i32::try_from(id).ok().and_then(rustix::process::Pid::from_raw)
}

/// Whether there is such a process. It is not known where there are no signals.
#[cfg(not(unix))]
#[must_use]
pub fn is_alive(_recipient: Recipient) -> bool {
    false
}

/// Sends a signal.
///
/// # Errors
/// Always: the platform has no signals.
#[cfg(not(unix))]
pub fn send(_signal: Signal, _recipient: Recipient) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

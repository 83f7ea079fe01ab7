//! The command line's way in and out of its process, so that a test can stand in for each.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use super::signals::SignalSource;
use crate::machine::Machine;

/// Which of the standard streams are a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terminal {
    /// Standard input: if it is, the terminal sends Ctrl-C to a script by itself.
    pub stdin: bool,
    /// Standard output: if it is, there are colours on it.
    pub stdout: bool,
    /// Standard error: likewise.
    pub stderr: bool,
}

/// What the script of `emulators:exec` gets as its standard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChildStdio {
    /// Those of this process.
    Inherit,
    /// None.
    Null,
}

/// Everything the command line reads and writes.
pub struct CliIo {
    /// The process's surroundings.
    pub machine: Machine,
    /// Standard output.
    pub stdout: Box<dyn Write + Send>,
    /// Standard error.
    pub stderr: Box<dyn Write + Send>,
    /// Which streams are a terminal.
    pub terminal: Terminal,
    /// Where signals come from.
    pub signals: SignalSource,
    /// What a script gets.
    pub child: ChildStdio,
    /// How long the process had been running before: counted into the time to ready.
    pub uptime: Duration,
}

impl CliIo {
    /// The process's own.
    ///
    /// # Errors
    /// The current directory is gone or may not be read.
    pub fn of_process() -> io::Result<Self> {
        let terminal = Terminal {
            stdin: io::stdin().is_terminal(),
            stdout: io::stdout().is_terminal(),
            stderr: io::stderr().is_terminal(),
        };
        Ok(Self {
            machine: Machine::of_process()?,
            stdout: Box::new(io::stdout()),
            stderr: Box::new(io::stderr()),
            terminal,
            signals: SignalSource::Process,
            child: ChildStdio::Inherit,
            uptime: Duration::ZERO,
        })
    }
}

//! The command line: flags to options, options to a suite, and what the user reads meanwhile.

mod args;
mod data;
mod data_args;
mod exec;
mod explain;
mod export;
mod export_on_exit;
mod io;
mod output;
mod resolve;
mod run;
mod shutdown;
mod signals;
mod start;
mod table;
#[cfg(unix)]
mod traps;

pub use io::{ChildStdio, CliIo, Terminal};
pub use run::run;
pub use signals::{Signal, SignalSource};

//! One run of the command line, from arguments to exit code.

use std::time::Duration;

use base_env::Env;
use svc_kit::Log;
use tokio::sync::mpsc;

use super::args;
use super::io::{ChildStdio, CliIo};
use super::output::Output;
use super::resolve::{self, Resolved, Task};
use super::signals::{Arrival, Signals};
use super::{data, exec, explain, export, start};
use crate::error::StartError;
use crate::machine::Machine;
use crate::notice::Notice;
use crate::options::StartOptions;
use crate::plan::Plan;
use crate::suite::Suite;

/// The exit code of a command that failed.
pub(super) const FAILED: i32 = 1;

/// What a command needs while it runs.
pub(super) struct Run {
    pub(super) out: Output,
    pub(super) signals: Signals,
    pub(super) machine: Machine,
    pub(super) env: Env,
    pub(super) uptime: Duration,
    pub(super) child: ChildStdio,
    pub(super) stdin_is_terminal: bool,
    /// What the running suite has to tell.
    pub(super) warnings: mpsc::Receiver<Notice>,
    warn: mpsc::Sender<Notice>,
}

/// Warnings waiting to be printed. A suite that has more to say at once says it no more.
const WARNINGS_WAITING_MAX: usize = 256;

/// Runs the command line with the arguments after the program's name, and gives the exit code. Never
/// ends the process. Needs a tokio runtime.
pub async fn run(argv: &[String], mut io: CliIo) -> i32 {
    let env = Env::real();
    let mut out = Output::new(&mut io);
    if argv.is_empty() {
        out.text(args::help().trim_end());
        return 0;
    }
    let raw = match args::parse(argv) {
        Ok(raw) => raw,
        Err(error) => return usage(&mut out, error, argv),
    };
    out.set(resolve::output(&raw));
    let resolved = match resolve::resolve(raw, io.machine.clone()) {
        Ok(resolved) => resolved,
        Err(error) => return failed(&mut out, &error),
    };
    let (warn, warnings) = mpsc::channel(WARNINGS_WAITING_MAX);
    let mut run = Run {
        warnings,
        warn,
        out,
        signals: Signals::listen(io.signals, env.clone()),
        machine: io.machine,
        env,
        uptime: io.uptime,
        child: io.child,
        stdin_is_terminal: io.terminal.stdin,
    };
    run.dispatch(resolved).await
}

/// Help and version are what was asked for; everything else clap says is a mistake.
fn usage(out: &mut Output, error: clap::Error, argv: &[String]) -> i32 {
    let is_mistake = error.use_stderr();
    let text = explain::explain(error, argv);
    if is_mistake {
        out.error_text(text.trim_end());
        FAILED
    } else {
        out.text(text.trim_end());
        0
    }
}

/// Says why nothing was started.
pub(super) fn failed(out: &mut Output, error: &StartError) -> i32 {
    if let StartError::PortInUse { service, description, .. } = error {
        out.warning(service, &error.to_string());
        out.warning(
            service,
            &format!(
                "To use another port, set `emulators.{service}.port` in firebase.json or pass \
                 `--{service}-port`."
            ),
        );
        out.failure(&format!("Could not start {description}, port taken."), Some(error.code()));
    } else if let StartError::PortTwice { service, description, .. } = error {
        out.warning(service, &error.to_string());
        out.failure(&format!("Could not start {description}, port taken."), Some(error.code()));
    } else {
        out.failure(&error.to_string(), Some(error.code()));
    }
    FAILED
}

impl Run {
    async fn dispatch(&mut self, resolved: Resolved) -> i32 {
        self.out.set(resolved.output);
        if resolved.debug {
            trace();
        }
        for notice in &resolved.notices {
            self.out.notice(notice);
        }
        match resolved.task {
            Task::Start(running) => start::run(self, running).await,
            Task::Exec { script, running } => exec::run(self, &script, running).await,
            Task::Export(wanted) => export::run(self, wanted).await,
            Task::Data(task) => data::run(self, task).await,
            Task::Setup => {
                let text = "nothing to download: firelet holds its emulators itself";
                self.out.success("emulators", text);
                self.out.result(serde_json::Value::Null);
                0
            }
        }
    }

    /// Starts the suite. `Err` holds the exit code when there is none.
    pub(super) async fn open(&mut self, mut options: StartOptions) -> Result<Suite, i32> {
        let (warn, tell) = (self.warn.clone(), self.warn.clone());
        options.log = Log::new(move |label, text| {
            // What does not fit is left out: nobody reads so fast.
            let _ = warn.try_send(Notice::warning(label, text));
        })
        .telling(move |label, text| {
            let _ = tell.try_send(Notice::info(label, text));
        });
        let plan = Plan::new(options).map_err(|error| failed(&mut self.out, &error))?;
        let names: Vec<_> =
            plan.services.iter().filter(|one| !one.row.internal).map(|one| one.row.name).collect();
        self.out.bullet("emulators", &format!("Starting emulators: {}", names.join(", ")));
        let said = plan.notices.len();
        for notice in &plan.notices {
            self.out.notice(notice);
        }
        let opening = Suite::open(plan);
        tokio::pin!(opening);
        let opened = loop {
            tokio::select! {
                biased;
                opened = &mut opening => break opened,
                Arrival::First(signal) | Arrival::Again(signal) = self.signals.next() => {
                    self.out.failure(&format!("{} while starting", signal.name()), None);
                    return Err(FAILED);
                }
                Some(notice) = self.warnings.recv() => self.out.notice(&notice),
            }
        };
        self.print_warnings();
        let suite = opened.map_err(|error| failed(&mut self.out, &error))?;
        for notice in suite.notices().iter().skip(said) {
            self.out.notice(notice);
        }
        Ok(suite)
    }

    /// Prints what the suite has said and nobody has read yet.
    pub(super) fn print_warnings(&mut self) {
        while let Ok(notice) = self.warnings.try_recv() {
            self.out.notice(&notice);
        }
    }

    /// How long it took from the start of the process until now.
    pub(super) fn elapsed(&self) -> Duration {
        self.uptime + self.env.monotonic()
    }
}

/// Prints the events of the code on standard error. A second run in one process keeps the first's.
fn trace() {
    let _ = tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(tracing_subscriber::filter::LevelFilter::DEBUG)
        .try_init();
}

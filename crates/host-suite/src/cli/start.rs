//! `emulators:start`: start, print the table, run until a signal.

use super::export_on_exit::export_on_exit;
use super::resolve::Running;
use super::run::Run;
use super::shutdown::{self, Ending};
use super::signals::Arrival;
use super::table;

/// Runs the command.
pub(super) async fn run(run: &mut Run, running: Running) -> i32 {
    let suite = match run.open(running.options).await {
        Ok(suite) => suite,
        Err(code) => return code,
    };
    let took = run.elapsed();
    run.out.text(&table::ready(&suite, took));
    let signal = loop {
        tokio::select! {
            biased;
            Arrival::First(signal) | Arrival::Again(signal) = run.signals.next() => break signal,
            Some(notice) = run.warnings.recv() => run.out.notice(&notice),
        }
    };
    shutdown::announce(run, signal);
    let result = suite.describe();
    let exported = export_on_exit(run, &suite, running.export_on_exit).await;
    match shutdown::stop(run, &suite).await {
        Ending::Clean if exported.is_err() => {
            run.out.failure(&exported.err().unwrap_or_default(), None);
            super::run::FAILED
        }
        Ending::Clean => {
            run.out.result(result);
            0
        }
        Ending::Forced => {
            run.out.failure("stopped before requests in flight were finished", None);
            super::run::FAILED
        }
        Ending::Failed => super::run::FAILED,
    }
}

//! `emulators:start`: start, print the table, run until a signal.

use super::run::Run;
use super::shutdown::{self, Ending};
use super::signals::Arrival;
use super::table;
use crate::options::StartOptions;

/// Runs the command.
pub(super) async fn run(run: &mut Run, options: StartOptions) -> i32 {
    let suite = match run.open(options).await {
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
    match shutdown::stop(run, &suite).await {
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

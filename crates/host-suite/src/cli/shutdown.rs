//! Stopping: once gracefully, at once when the signal comes again.

use std::path::Path;
use std::time::Duration;

use super::run::Run;
use super::signals::{Arrival, Signal};
use crate::limits::STOP_GRACE;
use crate::suite::Suite;

/// How a stop went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// Requests in flight had their time.
    Clean,
    /// A signal came again, and connections were cut.
    Forced,
    /// Kept data could not be written to the end, and the user was told so.
    Failed,
}

/// Says that a signal was understood and what another one does.
pub(super) fn announce(run: &mut Run, signal: Signal) {
    let name = signal.name();
    run.out.text(" ");
    run.out.bullet(
        "emulators",
        &format!("Received {name} for the first time. Starting a clean shutdown."),
    );
    run.out.bullet(
        "emulators",
        &format!(
            "Please wait for a clean shutdown or send the {name} signal again to stop right now."
        ),
    );
}

/// Stops the suite.
pub(super) async fn stop(run: &mut Run, suite: &Suite) -> Ending {
    let Run { out, signals, .. } = run;
    let graceful = suite.stop_within(STOP_GRACE, |row| {
        out.bullet(row.name, &format!("Stopping {}", row.description));
    });
    let (stopped, ending) = tokio::select! {
        biased;
        stopped = graceful => (stopped, Ending::Clean),
        () = again(signals) => {
            if let Some((dir, documents)) = suite.exporting() {
                out.bullet("emulators", &waiting(&dir, documents));
            }
            (suite.stop_within(Duration::ZERO, |_| ()).await, Ending::Forced)
        }
    };
    let Err(error) = stopped else { return ending };
    run.out.failure(&format!("not all data was written: {error}"), Some(error.code()));
    Ending::Failed
}

/// What a signal that comes during an export is answered with.
pub(super) fn waiting(dir: &Path, documents: u64) -> String {
    format!(
        "Still exporting to {}, {documents} documents so far: that is done first, so that no half of it is left",
        dir.display()
    )
}

/// Resolves when a signal has come for the second time.
pub(super) async fn again(signals: &mut super::signals::Signals) {
    loop {
        match signals.next().await {
            Arrival::First(_) => {}
            Arrival::Again(_) => return,
        }
    }
}

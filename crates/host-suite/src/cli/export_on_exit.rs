//! `--export-on-exit`: what is written between the end of the work and the end of the suite.

use std::path::PathBuf;

use super::run::Run;
use super::shutdown;
use super::signals::Arrival;
use crate::suite::{ExportOptions, Suite};

/// Exports, if that is wanted, to its end: a signal that comes meanwhile is told what it waits for.
///
/// # Errors
/// There is no export; the text says why, and the user has been warned.
pub(super) async fn export_on_exit(
    run: &mut Run,
    suite: &Suite,
    dir: Option<PathBuf>,
) -> Result<(), String> {
    let Some(dir) = dir else { return Ok(()) };
    let shown = dir.display().to_string();
    run.out.bullet(
        "emulators",
        &format!(
            "Automatically exporting data using --export-on-exit \"{shown}\" please wait for the \
             export to finish..."
        ),
    );
    // As with the official command, nobody is asked; but here nothing of others goes away.
    let export = suite.export(ExportOptions { dir, targets: None, force: true });
    tokio::pin!(export);
    let exported = loop {
        tokio::select! {
            biased;
            exported = &mut export => break exported,
            Arrival::First(_) | Arrival::Again(_) = run.signals.next() => {
                let (dir, documents) = suite.exporting().unwrap_or_default();
                run.out.bullet("emulators", &shutdown::waiting(&dir, documents));
            }
            Some(notice) = run.warnings.recv() => run.out.notice(&notice),
        }
    };
    run.print_warnings();
    match exported {
        Ok(_) => {
            run.out.success("emulators", "Export complete");
            Ok(())
        }
        Err(error) => {
            let text = format!("Automatic export to \"{shown}\" failed, going to exit now...");
            run.out.warning("emulators", &text);
            Err(format!("nothing was exported to \"{shown}\": {error}"))
        }
    }
}

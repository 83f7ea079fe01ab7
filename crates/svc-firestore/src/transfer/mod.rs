//! Official exports: documents that come in before the suite serves, and a snapshot that goes out while it does.

mod export;
mod import;
mod intake;

use base_status::{Code, Status};

pub(crate) use export::export;
pub(crate) use import::import;

/// The reason of a status that says what is wrong with an export that was to be imported.
pub const BAD_EXPORT: &str = "bad-export";

/// What is wrong with an export.
fn bad_export(error: impl std::fmt::Display) -> Status {
    Status::new(Code::FailedPrecondition, BAD_EXPORT, error.to_string())
}

/// The end of work whose result nobody waits for.
fn cancelled() -> Status {
    Status::new(Code::Cancelled, "cancelled", "the suite is stopping")
}

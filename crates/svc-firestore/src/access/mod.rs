//! Who may do what. Owners may do everything; for everybody else the rules decide, where there are any.
//!
//! An operation asks [`check`] for what rules are never asked about, and takes a [`Guard`] for the rest: one
//! for a request, so that all of it is decided by the same rules at the same time.

mod coverage;
mod denial;
mod documents;
mod explain;
mod guard;
mod query;
mod rules;
mod shown;
mod start;
mod told;
mod write;

pub(crate) use coverage::{coverage, report};
pub(crate) use explain::{explain, set_rules};
pub(crate) use guard::{Guard, ReadKind, guard};
pub use rules::BAD_RULES;
pub(crate) use rules::{Loaded, Rules, SetError, Whose};
pub use start::StartRules;
pub(crate) use start::watch_files;

use base_token::Identity;

use crate::error::Error;

/// What kind of access an operation needs that rules do not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// What only an owner may do: batch writes, listing collections and missing documents.
    Admin,
    /// The admin API. Its clients do not know of emulators and send no credentials to them, so all may but an
    /// app's users.
    Manage,
}

/// Checks that `caller` may do what the operation needs.
///
/// # Errors
/// PERMISSION_DENIED, with the text production sends.
pub(crate) fn check(caller: &Identity, access: Access) -> Result<(), Error> {
    match (access, caller) {
        (_, Identity::Owner) | (Access::Manage, Identity::Anonymous) => Ok(()),
        (Access::Admin, Identity::Anonymous | Identity::User(_))
        | (Access::Manage, Identity::User(_)) => Err(Error::PermissionDenied),
    }
}

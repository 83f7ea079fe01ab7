//! Who may do what. Owners may do everything; for everybody else the rules decide.
//!
//! The rules engine is not there yet, so every request that rules would decide is allowed. What is
//! decided here already is what rules are never asked about: requests only an owner may make.

use base_token::Identity;

use crate::error::Error;

/// What kind of access an operation needs. One variant for each kind of rule that will be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Reading named documents, or what a query selects.
    Read,
    /// Writing documents.
    Write,
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
        (_, Identity::Owner)
        | (Access::Read | Access::Write, _)
        | (Access::Manage, Identity::Anonymous) => Ok(()),
        (Access::Admin, Identity::Anonymous | Identity::User(_))
        | (Access::Manage, Identity::User(_)) => Err(Error::PermissionDenied),
    }
}

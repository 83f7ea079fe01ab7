//! Databases: list, get, create, update, delete.

use std::sync::Arc;

use base_token::Identity;
use base_value::DatabaseName;
use engine_txn::CommitError;

use super::open;
use crate::access::{self, Access};
use crate::catalog::{Concurrency, DatabaseInfo, DatabaseSettings};
use crate::error::Error;
use crate::operations::{Operation, Outcome};
use crate::state::State;

/// What is to be changed of a database's settings.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SettingsChange {
    pub(crate) concurrency: Option<Concurrency>,
    pub(crate) has_point_in_time_recovery: Option<bool>,
    pub(crate) is_delete_protected: Option<bool>,
}

/// The databases of a project.
///
/// # Errors
/// The caller may not.
pub(crate) fn list_databases(
    state: &State,
    caller: &Identity,
    project: &str,
) -> Result<Vec<DatabaseInfo>, Error> {
    access::check(caller, Access::Manage)?;
    Ok(state.catalog.list(&state.databases, project))
}

/// One database.
///
/// # Errors
/// NOT_FOUND.
pub(crate) fn get_database(
    state: &State,
    caller: &Identity,
    name: &DatabaseName,
) -> Result<DatabaseInfo, Error> {
    open(state, caller, name)
}

/// Makes a database.
///
/// # Errors
/// Ids that no database can have; ALREADY_EXISTS.
pub(crate) fn create_database(
    state: &State,
    caller: &Identity,
    name: &DatabaseName,
    settings: DatabaseSettings,
) -> Result<Arc<Operation>, Error> {
    access::check(caller, Access::Manage)?;
    check_id(&name.database)?;
    // So that it counts among the databases of the suite, and has a folder where data is kept.
    state.database(name)?;
    let made = state.catalog.create(&state.databases, name, settings)?;
    Ok(state.operations.note(name, Outcome::DatabaseCreated(made)))
}

/// Changes the settings of a database.
///
/// # Errors
/// NOT_FOUND; FAILED_PRECONDITION where the etag is an old one.
pub(crate) fn update_database(
    state: &State,
    caller: &Identity,
    name: &DatabaseName,
    etag: &str,
    change: SettingsChange,
) -> Result<Arc<Operation>, Error> {
    access::check(caller, Access::Manage)?;
    let after = state.catalog.update(&state.databases, name, |before| {
        check_etag(before, etag)?;
        let settings = before.settings.clone();
        Ok(DatabaseSettings {
            concurrency: change.concurrency.unwrap_or(settings.concurrency),
            has_point_in_time_recovery: change
                .has_point_in_time_recovery
                .unwrap_or(settings.has_point_in_time_recovery),
            is_delete_protected: change.is_delete_protected.unwrap_or(settings.is_delete_protected),
            ..settings
        })
    })?;
    Ok(state.operations.note(name, Outcome::DatabaseUpdated(after)))
}

/// Empties a database and forgets its settings and indexes. Listeners hear of it as of any deletion.
///
/// # Errors
/// NOT_FOUND; FAILED_PRECONDITION where it is protected or the etag is an old one; the disk's.
pub(crate) async fn delete_database(
    state: &State,
    caller: &Identity,
    name: &DatabaseName,
    etag: &str,
) -> Result<Arc<Operation>, Error> {
    open(state, caller, name)?;
    let database = state.database(name)?;
    let (before, commit) = state.catalog.delete(&state.databases, name, |before| {
        check_etag(before, etag)?;
        if before.settings.is_delete_protected {
            return Err(Error::DeleteProtected(name.clone()));
        }
        state.preparer.forget(name);
        Ok(database.clear().map_err(CommitError::from)?)
    })?;
    database.durable(&commit).await.map_err(CommitError::from)?;
    state.redefined(name)?;
    Ok(state.operations.note(name, Outcome::DatabaseDeleted(before)))
}

fn check_etag(database: &DatabaseInfo, etag: &str) -> Result<(), Error> {
    if etag.is_empty() || etag == database.etag() {
        return Ok(());
    }
    Err(Error::StaleEtag)
}

/// The ids that production takes.
fn check_id(id: &str) -> Result<(), Error> {
    let is_letter = |byte: u8| byte.is_ascii_lowercase();
    let is_allowed = |byte: u8| is_letter(byte) || byte.is_ascii_digit() || byte == b'-';
    let is_good = id == "(default)"
        || ((4..=63).contains(&id.len())
            && id.bytes().all(is_allowed)
            && id.bytes().next().is_some_and(is_letter)
            && id.bytes().last().is_some_and(|byte| byte != b'-')
            && !is_like_uuid(id));
    if is_good {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "Invalid database ID '{id}': it must have 4 to 63 characters of a-z, 0-9 and -, begin with a letter, \
         end with a letter or a digit, and not look like a UUID; or be (default)."
    )))
}

fn is_like_uuid(id: &str) -> bool {
    let parts: Vec<&str> = id.split('-').collect();
    let lens: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    lens == [8, 4, 4, 4, 12]
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_production() {
        fn check(id: &str, good: bool) {
            assert_eq!(check_id(id).is_ok(), good, "{id}");
        }
        check("(default)", true);
        check("shop", true);
        check("a-2", false);
        check("shop-2", true);
        check("2shop", false);
        check("shop-", false);
        check("Shop", false);
        check("shop_2", false);
        check(&"a".repeat(63), true);
        check(&"a".repeat(64), false);
        check("abcdef01-2345-4678-9abc-def012345678", false);
        check("abcdef01-2345-4678-9abc-def01234567x", true);
        check("", false);
    }
}

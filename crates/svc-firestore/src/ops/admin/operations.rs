//! Operations: list, get, delete, cancel, wait. All of them are done.

use std::sync::Arc;

use base_token::Identity;
use base_value::DatabaseName;

use super::{Page, PageOf};
use crate::access::{self, Access};
use crate::error::Error;
use crate::operations::Operation;
use crate::state::State;

/// The name of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperationName {
    pub(crate) database: DatabaseName,
    pub(crate) id: String,
}

/// The operations of a database.
///
/// # Errors
/// A page token that cannot be read.
pub(crate) fn list_operations(
    state: &State,
    caller: &Identity,
    database: &DatabaseName,
    page: &PageOf,
) -> Result<Page<Arc<Operation>>, Error> {
    access::check(caller, Access::Manage)?;
    let name = |operation: &Arc<Operation>| format!("{:020} {}", operation.time.0, operation.id);
    page.of(state.operations.of(database), name)
}

/// One operation.
///
/// # Errors
/// NOT_FOUND.
pub(crate) fn get_operation(
    state: &State,
    caller: &Identity,
    name: &OperationName,
) -> Result<Arc<Operation>, Error> {
    access::check(caller, Access::Manage)?;
    let mut known = state.operations.of(&name.database).into_iter();
    let found = known.find(|operation| operation.id == name.id);
    found.ok_or_else(|| not_found(name))
}

/// Forgets an operation. What it has done stays.
///
/// # Errors
/// NOT_FOUND.
pub(crate) fn delete_operation(
    state: &State,
    caller: &Identity,
    name: &OperationName,
) -> Result<(), Error> {
    access::check(caller, Access::Manage)?;
    match state.operations.remove(&name.database, &name.id) {
        true => Ok(()),
        false => Err(not_found(name)),
    }
}

fn not_found(name: &OperationName) -> Error {
    Error::OperationNotFound(format!("{}/operations/{}", name.database, name.id))
}

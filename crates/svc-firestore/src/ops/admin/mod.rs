//! The admin API: databases, indexes, fields and operations, one file for each of these resources.

pub(crate) mod databases;
pub(crate) mod fields;
pub(crate) mod indexes;
pub(crate) mod operations;

use base_token::Identity;
use base_value::DatabaseName;

use super::page_token;
use crate::access::{self, Access};
use crate::catalog::DatabaseInfo;
use crate::error::Error;
use crate::limits::{ADMIN_PAGE_SIZE_DEFAULT, ADMIN_PAGE_SIZE_MAX};
use crate::state::State;

/// Stands for every collection group where lists are asked for.
const EVERY_GROUP: &str = "-";

/// What every token of these lists begins with.
const TOKEN: &[u8] = b"admin:";

/// The collection group that indexes and fields are of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) database: DatabaseName,
    pub(crate) collection_id: String,
}

impl Group {
    /// Checks that it is one group, of which something can be said.
    fn check_one(&self) -> Result<(), Error> {
        match self.collection_id.as_str() {
            EVERY_GROUP => Err(Error::invalid("`-` stands for every collection group; name one")),
            _ => Ok(()),
        }
    }

    fn includes(&self, collection_id: &str) -> bool {
        self.collection_id == EVERY_GROUP || self.collection_id == collection_id
    }
}

/// Which part of a list is asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct PageOf {
    /// Zero where the client names none.
    pub(crate) size: usize,
    pub(crate) token: String,
}

/// One page of a list.
#[derive(Debug)]
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// Empty after the last page.
    pub(crate) next_token: String,
}

impl PageOf {
    /// The page of `items`, whose order is that of `name`. A token holds the last name of the page before.
    fn of<T>(&self, items: Vec<T>, name: impl Fn(&T) -> String) -> Result<Page<T>, Error> {
        let after = page_token::name_after(TOKEN, &self.token)?;
        let mut items: Vec<(String, T)> =
            items.into_iter().map(|item| (name(&item), item)).collect();
        items.sort_by(|(one, _), (other, _)| one.cmp(other));
        items.retain(|(name, _)| after.as_ref().is_none_or(|after| name > after));
        let size = match self.size {
            0 => ADMIN_PAGE_SIZE_DEFAULT,
            size => size.min(ADMIN_PAGE_SIZE_MAX),
        };
        let more = items.len() > size;
        items.truncate(size);
        let last = items.last().filter(|_| more);
        let next_token = last.map(|(name, _)| page_token::of_name(TOKEN, name));
        Ok(Page {
            next_token: next_token.unwrap_or_default(),
            items: items.into_iter().map(|(_, item)| item).collect(),
        })
    }
}

/// Checks that the caller may use the admin API, and that there is such a database.
fn open(state: &State, caller: &Identity, name: &DatabaseName) -> Result<DatabaseInfo, Error> {
    access::check(caller, Access::Manage)?;
    let found = state.catalog.find(&state.databases, name);
    found.ok_or_else(|| Error::DatabaseNotFound(name.clone()))
}

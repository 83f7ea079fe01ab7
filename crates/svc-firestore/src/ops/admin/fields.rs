//! Fields: which indexes each has by itself, and which one says how long documents live.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_token::Identity;
use base_value::{DatabaseName, FieldPath};
use engine_query::{ALL_COLLECTIONS, IndexMode, IndexScope};

use super::{Group, Page, PageOf, open};
use crate::error::Error;
use crate::indexes::{Definitions, TtlPolicy};
use crate::limits::EXCEPTIONS_MAX;
use crate::operations::{Operation, Outcome};
use crate::state::State;

/// One way a field is indexed.
pub(crate) type SingleIndex = (IndexScope, IndexMode);

/// A field of a collection group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldName {
    pub(crate) group: Group,
    /// `None` for all fields.
    pub(crate) field: Option<FieldPath>,
}

/// What is set for a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FieldInfo {
    pub(crate) name: FieldName,
    pub(crate) indexes: Vec<SingleIndex>,
    /// The field whose indexes it has, where it has no exception of its own.
    pub(crate) ancestor: Option<FieldName>,
    pub(crate) has_ttl: bool,
}

/// What becomes of a field.
#[derive(Clone, Debug, Default)]
pub(crate) struct FieldUpdate {
    /// The indexes it has from now on; `Some(None)` for those of its ancestor; `None` to leave it.
    pub(crate) indexes: Option<Option<Vec<SingleIndex>>>,
    pub(crate) has_ttl: Option<bool>,
}

/// One thing that has become different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldChange {
    IndexAdded(SingleIndex),
    IndexRemoved(SingleIndex),
    TtlAdded,
    TtlRemoved,
}

/// Which fields are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FieldFilter {
    /// Those with an exception of their own.
    pub(crate) excepted: bool,
    /// Those by which documents end.
    pub(crate) with_ttl: bool,
}

/// What a field has where nobody has said anything.
const AUTOMATIC: [SingleIndex; 3] = [
    (IndexScope::Collection, IndexMode::Ascending),
    (IndexScope::Collection, IndexMode::Descending),
    (IndexScope::Collection, IndexMode::Contains),
];

/// One field.
///
/// # Errors
/// NOT_FOUND for the database.
pub(crate) fn get_field(
    state: &State,
    caller: &Identity,
    name: &FieldName,
) -> Result<FieldInfo, Error> {
    open(state, caller, &name.group.database)?;
    Ok(info(&state.preparer.definitions(&name.group.database), name))
}

/// The fields of a collection group, or of all, that differ from what is automatic.
///
/// # Errors
/// NOT_FOUND for the database; a page token that cannot be read.
pub(crate) fn list_fields(
    state: &State,
    caller: &Identity,
    group: &Group,
    filter: FieldFilter,
    page: &PageOf,
) -> Result<Page<FieldInfo>, Error> {
    open(state, caller, &group.database)?;
    let definitions = state.preparer.definitions(&group.database);
    let mut names: BTreeMap<String, FieldName> = BTreeMap::new();
    let mut add = |collection_id: &str, field: Option<&FieldPath>| {
        let name = name_of(&group.database, collection_id, field);
        if group.includes(collection_id) {
            names.insert(sort_key(&name), name);
        }
    };
    if filter.excepted {
        add(ALL_COLLECTIONS, None);
        for exception in &definitions.declared().overrides {
            add(&exception.collection_id, exception.field.as_ref());
        }
    }
    if filter.with_ttl {
        definitions.ttl().iter().for_each(|ttl| add(&ttl.collection_id, Some(&ttl.field)));
    }
    let found = names.values().map(|name| info(&definitions, name)).collect();
    page.of(found, |field: &FieldInfo| sort_key(&field.name))
}

/// Sets what a field is indexed by, and whether documents end by it.
///
/// # Errors
/// NOT_FOUND for the database; a second TTL field of a collection group, or one that is no field.
pub(crate) fn update_field(
    state: &State,
    caller: &Identity,
    name: &FieldName,
    update: FieldUpdate,
) -> Result<Arc<Operation>, Error> {
    let database = &name.group.database;
    open(state, caller, database)?;
    name.group.check_one()?;
    if name.field.is_some() && name.group.collection_id == ALL_COLLECTIONS {
        return Err(Error::invalid(format!("`{ALL_COLLECTIONS}` has no field but `*`")));
    }
    let (field, changes) = state.preparer.change(database, |before| {
        let after = updated(before, name, &update)?;
        if after.declared().overrides.len() > EXCEPTIONS_MAX {
            return Err(Error::TooManyIndexes);
        }
        let (was, is) = (info(before, name), info(&after, name));
        let changes = changes(&was, &is);
        Ok((after, (is, changes)))
    })?;
    state.sweeper.wake();
    Ok(state.operations.note(database, Outcome::FieldUpdated { field, changes }))
}

fn updated(
    before: &Definitions,
    name: &FieldName,
    update: &FieldUpdate,
) -> Result<Definitions, Error> {
    let collection_id = &name.group.collection_id;
    let mut after = before.clone();
    if let Some(indexes) = &update.indexes {
        after = after.with_exception(collection_id, name.field.as_ref(), indexes.clone());
    }
    let policy = |field: &FieldPath| TtlPolicy {
        collection_id: collection_id.clone(),
        field: field.clone(),
    };
    match (update.has_ttl, &name.field) {
        (Some(true), None) => Err(Error::invalid("a TTL policy needs a field of its own, not `*`")),
        (Some(true), Some(field)) => {
            let of_group = |ttl: &&TtlPolicy| ttl.collection_id == *collection_id;
            match after.ttl().iter().find(of_group) {
                Some(known) if known.field != *field => Err(Error::SecondTtl {
                    collection_id: collection_id.clone(),
                    field: known.field.to_string(),
                }),
                _ => Ok(after.with_ttl(policy(field))),
            }
        }
        (Some(false), Some(field)) => Ok(after.without_ttl(&policy(field))),
        (Some(false), None) | (None, _) => Ok(after),
    }
}

fn info(definitions: &Definitions, name: &FieldName) -> FieldInfo {
    let Group { database, collection_id } = &name.group;
    let exception = definitions.declared().exception(collection_id, name.field.as_ref());
    let source = match exception {
        Some(exception) => name_of(database, &exception.collection_id, exception.field.as_ref()),
        None => name_of(database, ALL_COLLECTIONS, None),
    };
    let has_ttl = definitions
        .ttl()
        .iter()
        .any(|ttl| ttl.collection_id == *collection_id && Some(&ttl.field) == name.field.as_ref());
    FieldInfo {
        name: name.clone(),
        indexes: exception.map_or_else(|| AUTOMATIC.to_vec(), |it| it.indexes.clone()),
        ancestor: (source != *name).then_some(source),
        has_ttl,
    }
}

fn changes(was: &FieldInfo, is: &FieldInfo) -> Vec<FieldChange> {
    let added = is.indexes.iter().filter(|index| !was.indexes.contains(index));
    let removed = was.indexes.iter().filter(|index| !is.indexes.contains(index));
    let indexes = added
        .map(|index| FieldChange::IndexAdded(*index))
        .chain(removed.map(|index| FieldChange::IndexRemoved(*index)));
    let ttl = match (was.has_ttl, is.has_ttl) {
        (false, true) => Some(FieldChange::TtlAdded),
        (true, false) => Some(FieldChange::TtlRemoved),
        (true, true) | (false, false) => None,
    };
    indexes.chain(ttl).collect()
}

fn name_of(database: &DatabaseName, collection_id: &str, field: Option<&FieldPath>) -> FieldName {
    let group = Group { database: database.clone(), collection_id: collection_id.to_owned() };
    FieldName { group, field: field.cloned() }
}

fn sort_key(name: &FieldName) -> String {
    let field = name.field.as_ref().map_or_else(|| "*".to_owned(), FieldPath::to_string);
    format!("{}/{field}", name.group.collection_id)
}

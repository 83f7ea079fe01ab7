//! Composite indexes: create, list, get, delete. They count for queries at once.

use std::sync::Arc;

use base_token::Identity;
use base_value::{DatabaseName, FieldPath};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use engine_query::{DeclaredIndex, Direction, IndexScope, RequiredField};

use super::{Group, Page, PageOf, open};
use crate::error::Error;
use crate::limits::{INDEX_FIELDS_MAX, INDEXES_MAX};
use crate::operations::{Operation, Outcome};
use crate::state::State;

/// One composite index, with the name as its last field or before a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct IndexInfo {
    pub(crate) database: DatabaseName,
    pub(crate) collection_id: String,
    pub(crate) id: String,
    pub(crate) scope: IndexScope,
    pub(crate) fields: Vec<RequiredField>,
}

impl IndexInfo {
    fn of(database: &DatabaseName, index: &DeclaredIndex) -> IndexInfo {
        let fields = named_fields(index);
        IndexInfo {
            database: database.clone(),
            collection_id: index.collection_id.clone(),
            id: id(&index.collection_id, index.scope, &fields),
            scope: index.scope,
            fields,
        }
    }
}

/// Declares an index.
///
/// # Errors
/// NOT_FOUND for the database; definitions that production refuses; ALREADY_EXISTS.
pub(crate) fn create_index(
    state: &State,
    caller: &Identity,
    group: &Group,
    scope: IndexScope,
    fields: Vec<RequiredField>,
) -> Result<Arc<Operation>, Error> {
    open(state, caller, &group.database)?;
    group.check_one()?;
    check_fields(&fields)?;
    let collection_id = group.collection_id.clone();
    let index = DeclaredIndex { collection_id, scope, fields };
    let made = IndexInfo::of(&group.database, &index);
    state.preparer.change(&group.database, |before| {
        let known = &before.declared().indexes;
        if known.iter().any(|known| IndexInfo::of(&group.database, known).id == made.id) {
            return Err(Error::IndexAlreadyExists);
        }
        if known.len() >= INDEXES_MAX {
            return Err(Error::TooManyIndexes);
        }
        Ok((before.with_index(index), ()))
    })?;
    state.redefined(&group.database)?;
    Ok(state.operations.note(&group.database, Outcome::IndexCreated(made)))
}

/// The indexes of a collection group, or of all.
///
/// # Errors
/// NOT_FOUND for the database; a page token that cannot be read.
pub(crate) fn list_indexes(
    state: &State,
    caller: &Identity,
    group: &Group,
    page: &PageOf,
) -> Result<Page<IndexInfo>, Error> {
    open(state, caller, &group.database)?;
    let definitions = state.preparer.definitions(&group.database);
    let listed = definitions.declared().indexes.iter();
    let listed = listed.filter(|index| group.includes(&index.collection_id));
    let mut found: Vec<IndexInfo> =
        listed.map(|index| IndexInfo::of(&group.database, index)).collect();
    let name = |index: &IndexInfo| format!("{}/{}", index.collection_id, index.id);
    found.sort_by_key(name);
    // A file may declare one twice.
    found.dedup();
    page.of(found, name)
}

/// One index.
///
/// # Errors
/// NOT_FOUND.
pub(crate) fn get_index(
    state: &State,
    caller: &Identity,
    group: &Group,
    id: &str,
) -> Result<IndexInfo, Error> {
    open(state, caller, &group.database)?;
    let definitions = state.preparer.definitions(&group.database);
    let mut known = definitions
        .declared()
        .indexes
        .iter()
        .filter(|index| index.collection_id == group.collection_id)
        .map(|index| IndexInfo::of(&group.database, index));
    known.find(|index| index.id == id).ok_or_else(|| not_found(group, id))
}

/// Takes an index away.
///
/// # Errors
/// NOT_FOUND.
pub(crate) fn delete_index(
    state: &State,
    caller: &Identity,
    group: &Group,
    id: &str,
) -> Result<(), Error> {
    open(state, caller, &group.database)?;
    state.preparer.change(&group.database, |before| {
        let is_it = |index: &DeclaredIndex| {
            index.collection_id == group.collection_id
                && IndexInfo::of(&group.database, index).id == id
        };
        match before.declared().indexes.iter().any(is_it) {
            true => Ok((before.without_index(is_it), ())),
            false => Err(not_found(group, id)),
        }
    })?;
    Ok(state.redefined(&group.database)?)
}

fn not_found(group: &Group, id: &str) -> Error {
    let Group { database, collection_id } = group;
    Error::IndexNotFound(format!("{database}/collectionGroups/{collection_id}/indexes/{id}"))
}

fn check_fields(fields: &[RequiredField]) -> Result<(), Error> {
    let own = fields.iter().filter(|field| !path(field).is_name());
    // First, so that what follows is little work.
    if own.clone().count() > INDEX_FIELDS_MAX {
        return Err(Error::invalid(format!("the index has more than {INDEX_FIELDS_MAX} fields")));
    }
    let paths: Vec<&FieldPath> = fields.iter().map(path).collect();
    let repeated =
        paths.iter().enumerate().find(|(at, path)| paths.iter().take(*at).any(|one| one == *path));
    if let Some((_, path)) = repeated {
        return Err(Error::invalid(format!("the index has the field `{path}` twice")));
    }
    let arrays = own.clone().filter(|field| matches!(field, RequiredField::Contains(_))).count();
    let vectors = own.clone().filter(|field| matches!(field, RequiredField::Vector(..))).count();
    match own.count() {
        0 => Err(Error::invalid("the index has no field beside `__name__`")),
        1 if vectors == 0 => Err(Error::invalid(
            "this index is not necessary, configure using single field index controls",
        )),
        _ if arrays > 1 => Err(Error::invalid("the index has more than one array field")),
        _ if vectors > 1 => Err(Error::invalid("the index has more than one vector field")),
        _ if arrays > 0 && vectors > 0 => {
            Err(Error::invalid("the index has both an array and a vector field"))
        }
        _ if vectors > 0 && !matches!(fields.last(), Some(RequiredField::Vector(..))) => {
            Err(Error::invalid("the vector field must be the last one of the index"))
        }
        _ => Ok(()),
    }
}

fn path(field: &RequiredField) -> &FieldPath {
    match field {
        RequiredField::Ordered(path, _)
        | RequiredField::Contains(path)
        | RequiredField::Vector(path, _) => path,
    }
}

/// The fields as production lists them: with the name, which comes last, but for a vector.
fn named_fields(index: &DeclaredIndex) -> Vec<RequiredField> {
    if index.fields.iter().any(|field| path(field).is_name()) {
        return index.fields.clone();
    }
    let (fields, direction) = index.split();
    let name = |way| RequiredField::Ordered(FieldPath::name(), way);
    let mut fields = fields.to_vec();
    match fields.pop() {
        Some(vector @ RequiredField::Vector(..)) => {
            let way = match fields.last() {
                Some(RequiredField::Ordered(_, way)) => *way,
                Some(RequiredField::Contains(_) | RequiredField::Vector(..)) | None => {
                    Direction::Ascending
                }
            };
            fields.extend([name(way), vector]);
        }
        last => fields.extend(last.into_iter().chain([name(direction)])),
    }
    fields
}

/// The id of an index: the same in every suite, and that of another index differs.
fn id(collection_id: &str, scope: IndexScope, fields: &[RequiredField]) -> String {
    let mut hash = Hash(0xCBF2_9CE4_8422_2325);
    hash.add(collection_id);
    hash.add(match scope {
        IndexScope::Collection => "collection",
        IndexScope::Group => "group",
    });
    for field in fields {
        hash.add(&path(field).to_string());
        match field {
            RequiredField::Ordered(_, Direction::Ascending) => hash.add("up"),
            RequiredField::Ordered(_, Direction::Descending) => hash.add("down"),
            RequiredField::Contains(_) => hash.add("contains"),
            RequiredField::Vector(_, dimension) => hash.add(&format!("vector {dimension}")),
        }
    }
    URL_SAFE_NO_PAD.encode(hash.0.to_be_bytes())
}

/// FNV-1a over texts that are told apart.
struct Hash(u64);

impl Hash {
    fn add(&mut self, text: &str) {
        for byte in text.bytes().chain([0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(path: &str, way: Direction) -> RequiredField {
        RequiredField::Ordered(FieldPath::parse(path).unwrap(), way)
    }

    #[test]
    fn the_name_is_listed() {
        fn check(fields: &[RequiredField], expected: &[RequiredField]) {
            let index = DeclaredIndex {
                collection_id: "c".to_owned(),
                scope: IndexScope::Collection,
                fields: fields.to_vec(),
            };
            assert_eq!(named_fields(&index), expected);
        }
        use Direction::{Ascending, Descending};
        let (up, down) = (field("a", Ascending), field("b", Descending));
        let (name_up, name_down) = (field("__name__", Ascending), field("__name__", Descending));
        let tags = RequiredField::Contains(FieldPath::single("t"));
        let vector = RequiredField::Vector(FieldPath::single("v"), 3);
        check(&[up.clone(), down.clone()], &[up.clone(), down.clone(), name_down.clone()]);
        check(&[down.clone(), name_up.clone()], &[down.clone(), name_up.clone()]);
        check(&[down.clone(), tags.clone()], &[down.clone(), tags, name_up.clone()]);
        check(&[down.clone(), vector.clone()], &[down, name_down, vector.clone()]);
        check(std::slice::from_ref(&vector), &[name_up, vector.clone()]);
    }
}

//! What a project declares for one database: composite indexes, and exceptions for single fields.

use base_value::FieldPath;

use super::need::{RequiredField, RequiredIndex};
use crate::index::{IndexMode, IndexScope};
use crate::model::Direction;

/// Stands for all collections in the exception of a whole database.
pub const ALL_COLLECTIONS: &str = "__default__";

/// The declarations of one database.
#[derive(Clone, Debug, Default)]
pub struct Declared {
    /// Composite indexes.
    pub indexes: Vec<DeclaredIndex>,
    /// Exceptions from the automatic indexes of single fields.
    pub overrides: Vec<FieldOverride>,
}

/// A composite index as it is declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclaredIndex {
    /// The id of the collections it indexes.
    pub collection_id: String,
    /// Which queries it serves.
    pub scope: IndexScope,
    /// Its fields; the name may be the last one.
    pub fields: Vec<RequiredField>,
}

/// Which indexes a field has instead of the automatic ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldOverride {
    /// The id of the collections, or [`ALL_COLLECTIONS`].
    pub collection_id: String,
    /// The field, and what is below it unless that has an exception of its own; `None` for all fields.
    pub field: Option<FieldPath>,
    /// The indexes there are.
    pub indexes: Vec<(IndexScope, IndexMode)>,
}

impl DeclaredIndex {
    /// The fields without the name, and which way the name runs.
    pub fn split(&self) -> (&[RequiredField], Direction) {
        if let [fields @ .., RequiredField::Ordered(path, direction)] = self.fields.as_slice()
            && path.is_name()
        {
            return (fields, *direction);
        }
        let direction = match self.fields.last() {
            Some(RequiredField::Ordered(_, direction)) => *direction,
            Some(RequiredField::Contains(_) | RequiredField::Vector(..)) | None => {
                Direction::Ascending
            }
        };
        (&self.fields, direction)
    }
}

impl Declared {
    /// Whether an index is declared, or there by itself, just as it is required.
    pub fn satisfies(&self, required: &RequiredIndex) -> bool {
        match required {
            RequiredIndex::Composite { collection_id, scope, fields } => {
                let wanted = DeclaredIndex {
                    collection_id: collection_id.clone(),
                    scope: *scope,
                    fields: fields.clone(),
                };
                self.of(collection_id, *scope).any(|index| index.split() == wanted.split())
            }
            RequiredIndex::Single { collection_id, scope, field, mode } => {
                self.has_single(collection_id, *scope, field, *mode)
            }
        }
    }

    /// The exception that a field goes by: its own, the nearest of those above it, that of all fields of the
    /// collection, that of the whole database. `None` for `field` is all fields of the collection.
    pub fn exception(
        &self,
        collection_id: &str,
        field: Option<&FieldPath>,
    ) -> Option<&FieldOverride> {
        self.exception_at(collection_id, field.map(FieldPath::segments).unwrap_or_default())
    }

    fn exception_at(&self, collection_id: &str, segments: &[String]) -> Option<&FieldOverride> {
        let of_collection =
            || self.overrides.iter().filter(|exception| exception.collection_id == collection_id);
        let above = (1..=segments.len()).rev().find_map(|len| {
            let path = segments.get(..len)?;
            of_collection().find(|exception| {
                exception.field.as_ref().is_some_and(|known| known.segments() == path)
            })
        });
        let of_all = |exception: &&FieldOverride| exception.field.is_none();
        above.or_else(|| of_collection().find(of_all)).or_else(|| {
            let of_database = |one: &&FieldOverride| one.collection_id == ALL_COLLECTIONS;
            self.overrides.iter().filter(of_database).find(of_all)
        })
    }

    /// The composite indexes of a collection or a group.
    pub(super) fn of<'d>(
        &'d self,
        collection_id: &'d str,
        scope: IndexScope,
    ) -> impl Iterator<Item = &'d DeclaredIndex> {
        let fits = move |index: &&DeclaredIndex| {
            index.collection_id == collection_id && index.scope == scope
        };
        self.indexes.iter().filter(fits)
    }

    /// Whether a single field has an index, by itself or by an exception.
    pub(super) fn has_single(
        &self,
        collection_id: &str,
        scope: IndexScope,
        field: &FieldPath,
        mode: IndexMode,
    ) -> bool {
        self.has_single_at(collection_id, scope, field.segments(), mode)
    }

    /// Same as [`Declared::has_single`], for a path that may be longer than one can be asked for.
    pub(super) fn has_single_at(
        &self,
        collection_id: &str,
        scope: IndexScope,
        field: &[String],
        mode: IndexMode,
    ) -> bool {
        match self.exception_at(collection_id, field) {
            Some(exception) => exception.indexes.contains(&(scope, mode)),
            None => scope == IndexScope::Collection,
        }
    }
}

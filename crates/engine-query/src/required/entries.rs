//! Whether production's indexes would take a document: how many entries it has there, and how large they are.

use std::collections::BTreeSet;

use base_value::codec::encode_value;
use base_value::validate::{name_size, value_size};
use base_value::{DocumentPath, Fields, Value};

use super::declared::{Declared, DeclaredIndex};
use super::need::RequiredField;
use crate::index::{IndexMode, IndexScope};
use crate::limits::{
    INDEX_ENTRIES_MAX, INDEX_ENTRY_MAX_BYTES, INDEXED_DOCUMENT_MAX_BYTES, INDEXED_NAME_MAX_BYTES,
    INDEXED_VALUE_MAX_BYTES, SINGLE_FIELD_ENTRY_MAX_BYTES, UNCOUNTED_DOCUMENT_MAX_BYTES,
    UNCOUNTED_NAMES_MAX_BYTES,
};

/// Why a document cannot be indexed. Displays the text clients see (INVALID_ARGUMENT).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IndexEntriesError {
    /// Too many entries; holds the document's path.
    #[error("too many index entries for entity /{0}")]
    TooMany(String),
    /// An entry, or the name that every entry holds, is too large.
    #[error("Index entry is too large.")]
    EntryTooLarge,
    /// The entries and the document together are too large.
    #[error("Transaction too big. Decrease transaction size.")]
    TooLarge,
}

impl Declared {
    /// Counts the entries of a document of that size in the automatic and the declared indexes.
    ///
    /// # Errors
    /// What production refuses.
    pub fn check_document(
        &self,
        path: &DocumentPath,
        fields: &Fields,
        size: usize,
    ) -> Result<(), IndexEntriesError> {
        // A name counts for 17 bytes more than it has, its parent's for less than that.
        let names = 2 * (path.as_str().len() + 17);
        let is_small = size <= UNCOUNTED_DOCUMENT_MAX_BYTES && names <= UNCOUNTED_NAMES_MAX_BYTES;
        let collection_id = path.collection_id();
        if is_small && !self.names(collection_id) {
            return Ok(());
        }
        let name = name_size(path);
        if name > INDEXED_NAME_MAX_BYTES {
            return Err(IndexEntriesError::EntryTooLarge);
        }
        // The parent of a collection at the root counts for nothing.
        let parent = path.parent().parent().to_document();
        let parent = parent.map_or(0, |parent| name_size(&parent));
        let mut count =
            Count { declared: self, path, collection_id, name, parent, entries: 0, bytes: 0 };
        let mut at = Vec::new();
        count.fields(fields, &mut at)?;
        for index in self.indexes.iter().filter(|index| index.collection_id == collection_id) {
            count.composite(index, fields)?;
        }
        if count.bytes.saturating_add(size) > INDEXED_DOCUMENT_MAX_BYTES {
            return Err(IndexEntriesError::TooLarge);
        }
        Ok(())
    }

    /// Whether anything is declared for a collection, which can make entries larger or more.
    fn names(&self, collection_id: &str) -> bool {
        self.indexes.iter().any(|index| index.collection_id == collection_id)
            || self.overrides.iter().any(|exception| exception.collection_id == collection_id)
    }
}

/// The entries of one document so far.
struct Count<'d> {
    declared: &'d Declared,
    path: &'d DocumentPath,
    collection_id: &'d str,
    name: usize,
    parent: usize,
    entries: usize,
    bytes: usize,
}

/// The automatic and declared indexes of a single field that are asked about.
const SINGLE: [(IndexScope, IndexMode); 6] = [
    (IndexScope::Collection, IndexMode::Ascending),
    (IndexScope::Collection, IndexMode::Descending),
    (IndexScope::Collection, IndexMode::Contains),
    (IndexScope::Group, IndexMode::Ascending),
    (IndexScope::Group, IndexMode::Descending),
    (IndexScope::Group, IndexMode::Contains),
];

impl Count<'_> {
    fn add(
        &mut self,
        entries: usize,
        bytes: usize,
        largest: usize,
    ) -> Result<(), IndexEntriesError> {
        self.entries = self.entries.saturating_add(entries);
        self.bytes = self.bytes.saturating_add(bytes.saturating_mul(entries));
        if self.entries > INDEX_ENTRIES_MAX {
            return Err(IndexEntriesError::TooMany(self.path.as_str().to_owned()));
        }
        if entries > 0 && bytes > largest {
            return Err(IndexEntriesError::EntryTooLarge);
        }
        Ok(())
    }

    /// The single-field indexes of every field, at any depth of maps. Depth is bounded by that of decoding.
    fn fields(&mut self, fields: &Fields, at: &mut Vec<String>) -> Result<(), IndexEntriesError> {
        for (name, value) in fields {
            at.push(name.clone());
            self.field(&at.join("."), at, value)?;
            if let Value::Map(fields) = value {
                self.fields(fields, at)?;
            }
            at.pop();
        }
        Ok(())
    }

    fn field(&mut self, path: &str, at: &[String], value: &Value) -> Result<(), IndexEntriesError> {
        for (scope, mode) in SINGLE {
            if !self.declared.has_single_at(self.collection_id, scope, at, mode) {
                continue;
            }
            let (beside, largest) = match scope {
                IndexScope::Collection => (self.parent + 32, SINGLE_FIELD_ENTRY_MAX_BYTES),
                IndexScope::Group => (48, INDEX_ENTRY_MAX_BYTES),
            };
            let beside = self.name + beside + path.len() + 1;
            match (mode, value) {
                (IndexMode::Contains, Value::Array(elements)) => {
                    for element in distinct(elements) {
                        // One for each direction of the name.
                        self.add(2, beside + indexed_size(element), largest)?;
                    }
                }
                (IndexMode::Contains, _) => {}
                (IndexMode::Ascending | IndexMode::Descending, value) => {
                    self.add(1, beside + indexed_size(value), largest)?;
                }
            }
        }
        Ok(())
    }

    fn composite(
        &mut self,
        index: &DeclaredIndex,
        fields: &Fields,
    ) -> Result<(), IndexEntriesError> {
        let mut bytes = self.name + 32;
        if index.scope == IndexScope::Collection {
            bytes += self.parent;
        }
        let mut elements = None;
        for field in &index.fields {
            match field {
                RequiredField::Ordered(path, _) if path.is_name() => {}
                RequiredField::Ordered(path, _) | RequiredField::Vector(path, _) => {
                    let Some(value) = path.get(fields) else { return Ok(()) };
                    bytes += indexed_size(value);
                }
                RequiredField::Contains(path) => {
                    let Some(Value::Array(values)) = path.get(fields) else { return Ok(()) };
                    elements = Some(distinct(values));
                }
            }
        }
        match elements {
            None => self.add(1, bytes, INDEX_ENTRY_MAX_BYTES),
            Some(elements) => elements.into_iter().try_for_each(|element| {
                self.add(1, bytes + indexed_size(element), INDEX_ENTRY_MAX_BYTES)
            }),
        }
    }
}

/// The elements of an array, equal ones once.
fn distinct(elements: &[Value]) -> Vec<&Value> {
    let mut known = BTreeSet::new();
    elements.iter().filter(|element| known.insert(encode_value(element))).collect()
}

fn indexed_size(value: &Value) -> usize {
    value_size(value).min(INDEXED_VALUE_MAX_BYTES)
}

#[cfg(test)]
mod tests;

//! What is declared for one database: composite indexes, exceptions for single fields, and TTL policies.

use base_value::FieldPath;
use engine_query::{
    Declared, DeclaredIndex, Direction, FieldOverride, IndexDefinition, IndexField, IndexMode,
    IndexScope, Indexer, RequiredField,
};

/// Documents of a collection group end when the time in a field has passed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TtlPolicy {
    /// The id of the collections.
    pub(crate) collection_id: String,
    pub(crate) field: FieldPath,
}

/// The declarations of one database. They change as a whole.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions {
    indexer: Indexer,
    // INVARIANT: the indexer is made of these indexes.
    declared: Declared,
    // INVARIANT: at most one for a collection group.
    ttl: Vec<TtlPolicy>,
}

impl Definitions {
    pub(crate) fn new(declared: Declared, ttl: Vec<TtlPolicy>) -> Definitions {
        let indexer = Indexer::new(declared.indexes.iter().filter_map(definition));
        Definitions { indexer, declared, ttl }
    }

    pub(crate) fn indexer(&self) -> &Indexer {
        &self.indexer
    }

    pub(crate) fn declared(&self) -> &Declared {
        &self.declared
    }

    pub(crate) fn ttl(&self) -> &[TtlPolicy] {
        &self.ttl
    }

    /// The same with one more composite index.
    pub(crate) fn with_index(&self, index: DeclaredIndex) -> Definitions {
        let mut declared = self.declared.clone();
        declared.indexes.push(index);
        Definitions::new(declared, self.ttl.clone())
    }

    /// The same without the composite indexes that `which` picks.
    pub(crate) fn without_index(&self, which: impl Fn(&DeclaredIndex) -> bool) -> Definitions {
        let mut declared = self.declared.clone();
        declared.indexes.retain(|index| !which(index));
        Definitions::new(declared, self.ttl.clone())
    }

    /// The same with these indexes of a field, or with those it has by itself.
    pub(crate) fn with_exception(
        &self,
        collection_id: &str,
        field: Option<&FieldPath>,
        indexes: Option<Vec<(IndexScope, IndexMode)>>,
    ) -> Definitions {
        let mut after = self.clone();
        let is_same = |known: &FieldOverride| {
            known.collection_id == collection_id && known.field.as_ref() == field
        };
        after.declared.overrides.retain(|known| !is_same(known));
        if let Some(indexes) = indexes {
            let (collection_id, field) = (collection_id.to_owned(), field.cloned());
            after.declared.overrides.push(FieldOverride { collection_id, field, indexes });
        }
        after
    }

    /// The same with a TTL policy, in place of the one that its collection group may have.
    pub(crate) fn with_ttl(&self, policy: TtlPolicy) -> Definitions {
        let mut after = self.clone();
        after.ttl.retain(|known| known.collection_id != policy.collection_id);
        after.ttl.push(policy);
        after
    }

    /// The same without a TTL policy.
    pub(crate) fn without_ttl(&self, policy: &TtlPolicy) -> Definitions {
        let mut after = self.clone();
        after.ttl.retain(|known| known != policy);
        after
    }
}

/// The index that is kept up for a declared one; `None` for one that serves nothing that a walk of index
/// entries does here.
pub(super) fn definition(declared: &DeclaredIndex) -> Option<IndexDefinition> {
    let mut fields: Vec<IndexField> = Vec::new();
    for field in &declared.fields {
        let (path, mode) = match field {
            RequiredField::Ordered(path, Direction::Ascending) => (path, IndexMode::Ascending),
            RequiredField::Ordered(path, Direction::Descending) => (path, IndexMode::Descending),
            RequiredField::Contains(path) => (path, IndexMode::Contains),
            // Nearest neighbours are found by looking at every vector.
            RequiredField::Vector(..) => return None,
        };
        if path.is_name() {
            // The name runs as the last field does; an index that says otherwise is not walked.
            if fields.last().is_some_and(|last| last.mode != mode) {
                return None;
            }
        } else {
            fields.push(IndexField { path: path.clone(), mode });
        }
    }
    let (collection_id, scope) = (declared.collection_id.clone(), declared.scope);
    // An index of one field is there anyway.
    (fields.len() > 1).then_some(IndexDefinition { collection_id, scope, fields })
}

//! Composite indexes as a project declares them.

use base_value::FieldPath;

/// A composite index: the entries of every document that has all of its fields.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexDefinition {
    /// The id of the collections it indexes.
    pub collection_id: String,
    /// Whether it serves single collections or the whole collection group.
    pub scope: IndexScope,
    /// Its fields, in order. The name follows them.
    pub fields: Vec<IndexField>,
}

/// What queries a composite index serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexScope {
    /// Queries of one collection.
    Collection,
    /// Queries of a collection group.
    Group,
}

/// One field of a composite index.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexField {
    /// The field; never the name.
    pub path: FieldPath,
    /// How it is indexed.
    pub mode: IndexMode,
}

/// How a field is indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexMode {
    /// By its value, small values first.
    Ascending,
    /// By its value, great values first.
    Descending,
    /// By every element of an array.
    Contains,
}

impl IndexDefinition {
    /// Identifies the definition: that of another one differs.
    pub(crate) fn id(&self) -> u64 {
        let mut hash = Hash::default();
        hash.add(self.collection_id.as_bytes());
        hash.add(&[match self.scope {
            IndexScope::Collection => 0,
            IndexScope::Group => 1,
        }]);
        for field in &self.fields {
            hash.add(&[match field.mode {
                IndexMode::Ascending => 0,
                IndexMode::Descending => 1,
                IndexMode::Contains => 2,
            }]);
            for segment in field.path.segments() {
                hash.add(segment.as_bytes());
            }
        }
        hash.0
    }
}

/// FNV-1a over parts that are told apart: the same in every version of the program, as what is in a file
/// must be.
pub(super) struct Hash(pub(super) u64);

impl Default for Hash {
    fn default() -> Self {
        Hash(0xCBF2_9CE4_8422_2325)
    }
}

impl Hash {
    pub(super) fn add(&mut self, part: &[u8]) {
        for byte in (part.len() as u64).to_be_bytes().iter().chain(part) {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }
}

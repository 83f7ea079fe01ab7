//! How index entries and counters are laid out.
//!
//! ```text
//! entry      scope, index, values, name
//! scope      0x01, segments of the collection's path, 0x00       one collection
//!            0x02, segment of the group                          a collection group
//! index      0x01, field path                                    a field, ascending
//!            0x02, field path                                    the elements of a field's array
//!            0x03, id (8)                                        a composite index
//! values     one or more of base_value::index_key; all bits flipped where descending
//! name       in a collection the segment of the document's id, in a group those of its whole path; where the last
//!            field of a composite index is descending, that and 0x00 with all bits flipped
//! field path text for each segment, ended by 0x00 0x02 where another one follows, else 0x00 0x01
//! mark       one bit for each of the first eight values behind the index: set where it is a double; none for elements
//! counter    scope                                               documents of a collection, of a group
//!            0x03, id (8)                                        documents a composite index has seen
//! ```
//!
//! Segments are those of storage keys ([`base_value::key`]). The group scope holds the automatic entries of
//! documents that are not in a collection at the root: there the root's own collection is the rest of the group.
//! Composite indexes of a group hold all of it.

use base_value::FieldPath;
use base_value::codec::Scalar;
use base_value::index_key::push_text;
use base_value::key::Parts;

const COLLECTION: u8 = 0x01;
const GROUP: u8 = 0x02;
const ASCENDING: u8 = 0x01;
const CONTAINS: u8 = 0x02;
const COMPOSITE: u8 = 0x03;
const CLOSE: u8 = 0x00;
const END: u8 = 0x01;
const MORE: u8 = 0x02;

/// How many values of an entry its mark tells of.
pub(crate) const MARKED_MAX: usize = 8;

/// What a value adds to the mark of its entry: keys are alike for 1 and 1.0. Not a number is of its own kind there.
pub(crate) fn mark(at: usize, value: Option<Scalar<'_>>) -> u8 {
    match value {
        Some(Scalar::Double(double)) if at < MARKED_MAX && !double.is_nan() => 1 << at,
        _ => 0,
    }
}

/// Whether a mark says that a value is a double.
pub(crate) fn is_double(mark: u8, at: usize) -> bool {
    at < MARKED_MAX && mark & 1 << at != 0
}

/// The scope of one collection, from the segments of its path.
pub(crate) fn collection_scope(collection: &[u8]) -> Vec<u8> {
    let mut scope = Vec::with_capacity(collection.len() + 2);
    scope.push(COLLECTION);
    scope.extend_from_slice(collection);
    scope.push(CLOSE);
    scope
}

/// The scope of a collection group, from its segment.
pub(crate) fn group_scope(group: &[u8]) -> Vec<u8> {
    [&[GROUP], group].concat()
}

/// The name of a document in the scope of its group.
pub(crate) fn group_name<'key>(key: &'key [u8], parts: &Parts<'key>) -> &'key [u8] {
    key.get(parts.group.len()..).unwrap_or_default()
}

/// The index of a field's values.
pub(crate) fn ascending(path: &FieldPath) -> Vec<u8> {
    field_index(ASCENDING, path)
}

/// The index of the elements of a field's arrays.
pub(crate) fn contains(path: &FieldPath) -> Vec<u8> {
    field_index(CONTAINS, path)
}

/// The composite index of that id; also the key of the counter of documents it has seen.
pub(crate) fn composite(id: u64) -> Vec<u8> {
    let mut index = vec![COMPOSITE];
    index.extend_from_slice(&id.to_be_bytes());
    index
}

fn field_index(kind: u8, path: &FieldPath) -> Vec<u8> {
    let mut index = Vec::with_capacity(32);
    let mut field = FieldPrefix::default();
    let (last, parents) = match path.segments().split_last() {
        Some((last, parents)) => (last.as_str(), parents),
        None => ("", [].as_slice()),
    };
    for parent in parents {
        field.enter(parent);
    }
    field.push_index(&mut index, kind == CONTAINS, last);
    index
}

/// The field whose index an entry of that beginning is in, and whether it is that of its elements; `None` where
/// the index is a composite one.
pub(crate) fn field_of(index: &[u8]) -> Option<(FieldPath, bool)> {
    let (kind, mut rest) = index.split_first()?;
    let elements = match *kind {
        ASCENDING => false,
        CONTAINS => true,
        _ => return None,
    };
    let mut segments = Vec::new();
    let mut segment = Vec::new();
    loop {
        let (byte, behind) = rest.split_first()?;
        rest = behind;
        if *byte != CLOSE {
            segment.push(*byte);
            continue;
        }
        let (escaped, behind) = rest.split_first()?;
        rest = behind;
        match *escaped {
            END | MORE => {
                segments.push(String::from_utf8(std::mem::take(&mut segment)).ok()?);
                if *escaped == END {
                    break;
                }
            }
            _ => segment.push(CLOSE),
        }
    }
    Some((FieldPath::new(segments).ok()?, elements))
}

/// The path to a map while its fields are walked.
#[derive(Default)]
pub(crate) struct FieldPrefix(Vec<u8>);

impl FieldPrefix {
    /// Goes into the map of that name; answers the way back for [`FieldPrefix::leave`].
    pub(crate) fn enter(&mut self, name: &str) -> usize {
        let length = self.0.len();
        push_text(&mut self.0, name.as_bytes());
        if let Some(last) = self.0.last_mut() {
            *last = MORE;
        }
        length
    }

    /// Goes back to where [`FieldPrefix::enter`] was called.
    pub(crate) fn leave(&mut self, length: usize) {
        self.0.truncate(length);
    }

    /// Appends the index of the field of that name in the map: of its elements, or else of its value.
    pub(crate) fn push_index(&self, out: &mut Vec<u8>, elements: bool, name: &str) {
        out.push(if elements { CONTAINS } else { ASCENDING });
        out.extend_from_slice(&self.0);
        push_text(out, name.as_bytes());
    }
}

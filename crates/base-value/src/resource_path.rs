//! Paths below a database's `documents`: documents, collections and the parents of collections.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use crate::name_error::{NameError, check_collection_id, check_document_id, is_reserved};

/// A path relative to `.../documents` of any kind: the root (no segment), a collection (odd number of
/// segments) or a document (even number). Ordered segment by segment: numeric ids first, as integers, all
/// others by their UTF-8 bytes; a path comes before those below it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ResourcePath(
    // INVARIANT: segments joined by `/`, none empty; the root is the empty text.
    Arc<str>,
);

impl ResourcePath {
    /// The path of the database's root.
    pub fn root() -> Self {
        ResourcePath(Arc::from(""))
    }

    /// Parses and checks a relative path such as `rooms/eros/messages`; empty text is the root.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        if !text.is_empty() {
            for (index, segment) in text.split('/').enumerate() {
                if index % 2 == 0 {
                    check_collection_id(segment)?;
                } else {
                    check_document_id(segment)?;
                }
            }
        }
        Ok(ResourcePath(Arc::from(text)))
    }

    /// The caller has checked every segment.
    pub(crate) fn trusted(text: &str) -> Self {
        ResourcePath(Arc::from(text))
    }

    /// The path as text, without leading or trailing slash.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Number of segments.
    pub fn len(&self) -> usize {
        if self.0.is_empty() { 0 } else { 1 + self.0.bytes().filter(|byte| *byte == b'/').count() }
    }

    /// Whether this is the root.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The segments, from the root down.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
        segments(&self.0)
    }

    fn split_last(&self) -> (&str, &str) {
        self.0.rsplit_once('/').unwrap_or(("", &self.0))
    }

    fn join(&self, id: &str) -> Self {
        if self.0.is_empty() {
            ResourcePath(Arc::from(id))
        } else {
            let mut text = String::with_capacity(self.0.len() + 1 + id.len());
            text.push_str(&self.0);
            text.push('/');
            text.push_str(id);
            ResourcePath(Arc::from(text))
        }
    }

    fn starts_with(&self, prefix: &ResourcePath) -> bool {
        prefix.is_empty()
            || self
                .0
                .strip_prefix(prefix.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl Ord for ResourcePath {
    fn cmp(&self, other: &Self) -> Ordering {
        let mut left = self.segments();
        let mut right = other.segments();
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Ordering::Equal,
                (None, Some(_)) => return Ordering::Less,
                (Some(_), None) => return Ordering::Greater,
                (Some(left), Some(right)) => match compare_segments(left, right) {
                    Ordering::Equal => {}
                    unequal => return unequal,
                },
            }
        }
    }
}

impl PartialOrd for ResourcePath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for ResourcePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for ResourcePath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, formatter)
    }
}

/// Gives a newtype over `ResourcePath` what all kinds of path share.
macro_rules! path_kind {
    ($name:ident) => {
        impl $name {
            /// The path as text, without leading or trailing slash.
            pub fn as_str(&self) -> &str {
                self.0.as_str()
            }

            /// The segments, from the root down.
            pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> + Clone {
                self.0.segments()
            }

            /// The same path without its kind.
            pub fn as_resource(&self) -> &ResourcePath {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, formatter)
            }
        }

        impl From<$name> for ResourcePath {
            fn from(path: $name) -> Self {
                path.0
            }
        }
    };
}

/// Path of a document: an even number of segments, at least two.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DocumentPath(ResourcePath);

path_kind!(DocumentPath);

impl DocumentPath {
    /// Parses and checks a relative document path such as `rooms/eros`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        DocumentPath::try_from(ResourcePath::parse(text)?)
    }

    /// The caller has checked every segment and their number.
    pub(crate) fn trusted(text: &str) -> Self {
        DocumentPath(ResourcePath::trusted(text))
    }

    /// The document's own id.
    pub fn id(&self) -> &str {
        self.0.split_last().1
    }

    /// Id of the collection the document is in.
    pub fn collection_id(&self) -> &str {
        let (collection, _) = self.0.split_last();
        collection.rsplit_once('/').map_or(collection, |(_, id)| id)
    }

    /// The collection the document is in.
    pub fn parent(&self) -> CollectionPath {
        CollectionPath(ResourcePath::trusted(self.0.split_last().0))
    }

    /// The subcollection of that id.
    pub fn collection(&self, id: &str) -> Result<CollectionPath, NameError> {
        check_collection_id(id)?;
        Ok(CollectionPath(self.0.join(id)))
    }
}

impl TryFrom<ResourcePath> for DocumentPath {
    type Error = NameError;

    fn try_from(path: ResourcePath) -> Result<Self, NameError> {
        if path.is_empty() || path.len() % 2 == 1 {
            return Err(NameError::lacks_slash(path.as_str()));
        }
        Ok(DocumentPath(path))
    }
}

/// Path of a collection: an odd number of segments.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CollectionPath(ResourcePath);

path_kind!(CollectionPath);

impl CollectionPath {
    /// Parses and checks a relative collection path such as `rooms/eros/messages`.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        CollectionPath::try_from(ResourcePath::parse(text)?)
    }

    /// The collection's own id.
    pub fn id(&self) -> &str {
        self.0.split_last().1
    }

    /// The root or the document the collection is in.
    pub fn parent(&self) -> ParentPath {
        ParentPath(ResourcePath::trusted(self.0.split_last().0))
    }

    /// The document of that id.
    pub fn document(&self, id: &str) -> Result<DocumentPath, NameError> {
        check_document_id(id)?;
        Ok(DocumentPath(self.0.join(id)))
    }

    /// Whether the document is directly in this collection.
    pub fn contains(&self, document: &DocumentPath) -> bool {
        document.0.split_last().0 == self.as_str()
    }
}

impl TryFrom<ResourcePath> for CollectionPath {
    type Error = NameError;

    fn try_from(path: ResourcePath) -> Result<Self, NameError> {
        if path.len().is_multiple_of(2) {
            return Err(NameError::lacks_slash(path.as_str()));
        }
        Ok(CollectionPath(path))
    }
}

/// What a collection can be in: the root or a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParentPath(ResourcePath);

path_kind!(ParentPath);

impl ParentPath {
    /// The root of the database.
    pub fn root() -> Self {
        ParentPath(ResourcePath::root())
    }

    /// Parses and checks a relative path of the root (empty text) or a document.
    pub fn parse(text: &str) -> Result<Self, NameError> {
        ParentPath::try_from(ResourcePath::parse(text)?)
    }

    /// Whether this is the root.
    pub fn is_root(&self) -> bool {
        self.0.is_empty()
    }

    /// The document, or `None` for the root.
    pub fn to_document(&self) -> Option<DocumentPath> {
        if self.is_root() { None } else { Some(DocumentPath(self.0.clone())) }
    }

    /// The collection of that id directly below.
    pub fn collection(&self, id: &str) -> Result<CollectionPath, NameError> {
        check_collection_id(id)?;
        Ok(CollectionPath(self.0.join(id)))
    }

    /// Whether the document is below this parent, at any depth. No document is below itself.
    pub fn contains(&self, document: &DocumentPath) -> bool {
        document.0 != self.0 && document.0.starts_with(&self.0)
    }
}

impl From<DocumentPath> for ParentPath {
    fn from(path: DocumentPath) -> Self {
        ParentPath(path.0)
    }
}

impl TryFrom<ResourcePath> for ParentPath {
    type Error = NameError;

    fn try_from(path: ResourcePath) -> Result<Self, NameError> {
        if path.len() % 2 == 1 {
            return Err(NameError::lacks_slash(path.as_str()));
        }
        Ok(ParentPath(path))
    }
}

/// Segments of a joined path; none for the empty path.
pub(crate) fn segments(path: &str) -> impl DoubleEndedIterator<Item = &str> + Clone {
    path.split('/').filter(|segment| !segment.is_empty())
}

/// Order of two segments: numeric ids first, as integers; all others by their UTF-8 bytes.
pub(crate) fn compare_segments(left: &str, right: &str) -> Ordering {
    match (numeric_id(left), numeric_id(right)) {
        (None, None) => left.cmp(right),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (Some(left), Some(right)) => left.cmp(&right),
    }
}

/// The number in an id of the form `__id7__`; only its shortest spelling counts, so that equal numbers are
/// equal texts, and zero is not a numeric id.
pub fn numeric_id(segment: &str) -> Option<i64> {
    let digits = numeric_digits(segment)?;
    digits.parse().ok()
}

/// The digits of an id that is spelled as a numeric one, of whatever size.
pub(crate) fn numeric_digits(segment: &str) -> Option<&str> {
    if !is_reserved(segment) {
        return None;
    }
    let digits = segment.strip_prefix("__id")?.strip_suffix("__")?;
    let magnitude = digits.strip_prefix('-').unwrap_or(digits);
    let shortest = !magnitude.starts_with('0') && !magnitude.is_empty();
    (shortest && magnitude.bytes().all(|byte| byte.is_ascii_digit())).then_some(digits)
}

#[cfg(test)]
mod tests;

//! Storage keys of documents: bytes whose order is the order of paths.
//!
//! A document's key is its collection's id as one segment, then every segment of its whole path:
//! `group ++ segment 1 ++ ... ++ segment n`. So every document of a collection group is one contiguous range
//! in path order, one collection is a range inside of it, and the groups that exist are found by skipping
//! from one to the next.
//!
//! A segment is `0x01` and the number as eight big-endian bytes with the sign flipped for numeric ids
//! (`__id7__`), else `0x02` and the UTF-8 bytes with `0x00` written as `0x00 0xFF`, ended by `0x00 0x01`.

use bytes::Bytes;

use crate::resource_path::{
    CollectionPath, DocumentPath, ParentPath, ResourcePath, numeric_id, segments,
};

/// Bounds of a range of keys: from the first, inclusive, to the second, exclusive.
pub type Bounds = (Bytes, Bytes);

const NUMERIC: u8 = 0x01;
const TEXT: u8 = 0x02;
const ESCAPE: u8 = 0x00;
const ESCAPED_ZERO: u8 = 0xFF;
const END: u8 = 0x01;

/// The key of a document.
pub fn document(path: &DocumentPath) -> Bytes {
    prefix(path.collection_id(), path.as_str()).into()
}

/// The document a key belongs to; `None` for bytes that are no document's key.
pub fn parse(key: &[u8]) -> Option<DocumentPath> {
    let mut rest = key;
    let group = take_text(&mut rest)?;
    let mut path = String::with_capacity(rest.len());
    let mut count = 0;
    let mut collection_is_group = false;
    while !rest.is_empty() {
        if count > 0 {
            path.push('/');
        }
        let start = path.len();
        take_into(&mut rest, &mut path)?;
        let segment = path.get(start..)?;
        if segment.is_empty() || segment.contains('/') {
            return None;
        }
        if count % 2 == 0 {
            collection_is_group = segment == group;
        }
        count += 1;
    }
    (count > 0 && count % 2 == 0 && collection_is_group).then(|| DocumentPath::trusted(&path))
}

/// The keys of a collection's documents, and of deeper documents in subcollections of the same id;
/// [`is_direct_child`] tells them apart.
pub fn collection(path: &CollectionPath) -> Bounds {
    bounds(prefix(path.id(), path.as_str()))
}

/// Tells whether a key is of a document directly in a collection.
pub fn is_direct_child(key: &[u8], path: &CollectionPath) -> bool {
    CollectionKeys::new(path).contains(key)
}

/// The keys of one collection, prepared once for many tests.
#[derive(Clone, Debug)]
pub struct CollectionKeys {
    prefix: Vec<u8>,
}

impl CollectionKeys {
    /// The keys of that collection.
    pub fn new(path: &CollectionPath) -> Self {
        CollectionKeys { prefix: prefix(path.id(), path.as_str()) }
    }

    /// The range they lie in, see [`collection`].
    pub fn bounds(&self) -> Bounds {
        bounds(self.prefix.clone())
    }

    /// Whether the key is of a document directly in the collection.
    pub fn contains(&self, key: &[u8]) -> bool {
        let Some(rest) = key.strip_prefix(self.prefix.as_slice()) else { return false };
        segment_length(rest).is_some_and(|length| length == rest.len())
    }
}

/// The keys of all documents of a collection group below a parent, at any depth; never the parent's own.
pub fn group(id: &str, under: &ParentPath) -> Bounds {
    let prefix = prefix(id, under.as_str());
    let (mut start, end) = bounds(prefix.clone());
    if !under.is_root() {
        // The parent may be of the same group, and its key is the prefix itself.
        let mut first = prefix;
        first.push(0);
        start = first.into();
    }
    (start, end)
}

/// The keys of a collection group's documents at and below a path.
pub fn below(group: &str, path: &ResourcePath) -> Bounds {
    bounds(prefix(group, path.as_str()))
}

/// The collection id a key is grouped by.
pub fn group_id(key: &[u8]) -> Option<String> {
    let mut rest = key;
    take_text(&mut rest)
}

/// The first key that can belong to a collection group after that of `id`: where to seek for the next one.
pub fn next_group(id: &str) -> Bytes {
    let mut prefix = Vec::with_capacity(id.len() + 4);
    push_segment(&mut prefix, id);
    bounds(prefix).1
}

/// For a key below `parent`: the id of the parent's own collection that the key is in or below.
pub fn child_collection(key: &[u8], parent: &ParentPath) -> Option<String> {
    let mut rest = path_bytes(key)?;
    for segment in parent.segments() {
        let mut text = String::new();
        take_into(&mut rest, &mut text)?;
        if text != segment {
            return None;
        }
    }
    let mut id = String::new();
    take_into(&mut rest, &mut id)?;
    Some(id)
}

/// The first key of a group behind everything in or below `child`, a collection directly below a parent.
pub fn after_child(group: &str, child: &CollectionPath) -> Bytes {
    bounds(prefix(group, child.as_str())).1
}

/// The part of a key whose byte order is the path order across all groups.
pub fn path_bytes(key: &[u8]) -> Option<&[u8]> {
    key.get(segment_length(key)?..)
}

/// The parts of a document's key, as bytes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts<'key> {
    /// The segment of the group.
    pub group: &'key [u8],
    /// The segments of the collection's path.
    pub collection: &'key [u8],
    /// The segment of the document's id.
    pub id: &'key [u8],
    /// Whether the collection is directly below the database's root.
    pub is_root: bool,
}

/// The parts of a document's key; `None` for bytes that cannot be one.
pub fn parts(key: &[u8]) -> Option<Parts<'_>> {
    let (group, path) = key.split_at_checked(segment_length(key)?)?;
    let (mut rest, mut last, mut count) = (path, 0, 0);
    while !rest.is_empty() {
        last = path.len() - rest.len();
        rest = rest.get(segment_length(rest)?..)?;
        count += 1;
    }
    let (collection, id) = path.split_at_checked(last)?;
    (count > 0 && count % 2 == 0).then_some(Parts { group, collection, id, is_root: count == 2 })
}

/// The group's segment, then those of the path.
fn prefix(group: &str, path: &str) -> Vec<u8> {
    let mut key = Vec::with_capacity(group.len() + path.len() + 16);
    push_segment(&mut key, group);
    for segment in segments(path) {
        push_segment(&mut key, segment);
    }
    key
}

fn push_segment(key: &mut Vec<u8>, segment: &str) {
    if let Some(number) = numeric_id(segment) {
        key.push(NUMERIC);
        key.extend_from_slice(&(number as u64 ^ 1 << 63).to_be_bytes());
        return;
    }
    key.push(TEXT);
    for (index, run) in segment.as_bytes().split(|byte| *byte == ESCAPE).enumerate() {
        if index > 0 {
            key.extend_from_slice(&[ESCAPE, ESCAPED_ZERO]);
        }
        key.extend_from_slice(run);
    }
    key.extend_from_slice(&[ESCAPE, END]);
}

/// The range of everything that starts with a prefix.
fn bounds(prefix: Vec<u8>) -> Bounds {
    let mut end = prefix.clone();
    while let Some(last) = end.pop() {
        if let Some(next) = last.checked_add(1) {
            end.push(next);
            break;
        }
    }
    (prefix.into(), end.into())
}

/// Length of the segment that bytes start with.
fn segment_length(bytes: &[u8]) -> Option<usize> {
    match *bytes.first()? {
        NUMERIC => (bytes.len() >= 9).then_some(9),
        TEXT => {
            let mut at = 1;
            loop {
                let rest = bytes.get(at..)?;
                at += rest.iter().position(|byte| *byte == ESCAPE)? + 2;
                match *bytes.get(at - 1)? {
                    END => return Some(at),
                    ESCAPED_ZERO => {}
                    _ => return None,
                }
            }
        }
        _ => None,
    }
}

/// Takes a segment that is text, not a number.
fn take_text(rest: &mut &[u8]) -> Option<String> {
    let mut text = String::new();
    take_into(rest, &mut text)?;
    Some(text)
}

/// Takes one segment and appends its text. Only the spelling that `push_segment` writes is taken, so that a
/// path has one key.
fn take_into(rest: &mut &[u8], text: &mut String) -> Option<()> {
    let length = segment_length(rest)?;
    let (segment, after) = rest.split_at_checked(length)?;
    *rest = after;
    let (kind, body) = segment.split_first()?;
    if *kind == NUMERIC {
        let number = (u64::from_be_bytes(body.try_into().ok()?) ^ 1 << 63) as i64;
        text.push_str("__id");
        text.push_str(&number.to_string());
        text.push_str("__");
        return (number != 0).then_some(());
    }
    let start = text.len();
    let mut body = body.get(..body.len().checked_sub(2)?)?;
    while let Some(at) = body.iter().position(|byte| *byte == ESCAPE) {
        text.push_str(str::from_utf8(body.get(..at)?).ok()?);
        text.push('\0');
        body = body.get(at + 2..)?;
    }
    text.push_str(str::from_utf8(body).ok()?);
    numeric_id(text.get(start..)?).is_none().then_some(())
}

#[cfg(test)]
mod tests;

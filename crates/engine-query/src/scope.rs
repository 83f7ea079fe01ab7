//! Where a query looks: which keys its documents have, and walking them.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use base_value::key::{self, CollectionKeys};
use base_value::{CollectionPath, ParentPath};
use bytes::Bytes;
use engine_store::{Entry, Head, KeyRange, Snapshot};

use crate::error::QueryError;
use crate::index::layout;
use crate::index::stream::Place;
use crate::model::{Direction, From, Query};
use crate::name_key;
use crate::validate;

/// What a snapshot holds, one after the other: entries, or keys alone.
pub(crate) type Walk<'s, W> = Box<dyn Iterator<Item = W> + Send + 's>;

/// Entries of a snapshot, one after the other.
pub(crate) type Entries<'s> = Walk<'s, Entry<'s>>;

/// A key of a snapshot with its times, its value unread.
pub(crate) type Keyed = (Bytes, Head);

/// What a snapshot can be walked for.
pub(crate) trait Walked<'s>: Sized + Send + 's {
    /// A range of it.
    fn range(snapshot: &'s Snapshot, range: &KeyRange, direction: Direction) -> Walk<'s, Self>;

    /// That of one key.
    fn find(snapshot: &'s Snapshot, key: &Bytes) -> Option<Self>;

    fn key(&self) -> &Bytes;
}

impl<'s> Walked<'s> for Entry<'s> {
    fn range(snapshot: &'s Snapshot, range: &KeyRange, direction: Direction) -> Walk<'s, Self> {
        match direction {
            Direction::Ascending => Box::new(snapshot.range(range)),
            Direction::Descending => Box::new(snapshot.range_rev(range)),
        }
    }

    fn find(snapshot: &'s Snapshot, key: &Bytes) -> Option<Self> {
        let end = Bytes::from([&key[..], &[0]].concat());
        snapshot.range(&KeyRange::new(key.clone(), end)).next()
    }

    fn key(&self) -> &Bytes {
        self.key()
    }
}

impl<'s> Walked<'s> for Keyed {
    fn range(snapshot: &'s Snapshot, range: &KeyRange, direction: Direction) -> Walk<'s, Self> {
        match direction {
            Direction::Ascending => Box::new(snapshot.heads(range)),
            Direction::Descending => Box::new(snapshot.heads_rev(range)),
        }
    }

    fn find(snapshot: &'s Snapshot, key: &Bytes) -> Option<Self> {
        Some((key.clone(), snapshot.head(key)?))
    }

    fn key(&self) -> &Bytes {
        &self.0
    }
}

/// The documents a query ranges over.
#[derive(Clone, Debug)]
pub(crate) enum Scope {
    /// The documents of one collection.
    Collection { keys: CollectionKeys, group: Bytes, range: KeyRange },
    /// The documents of one collection group below a parent.
    Group { group: Bytes, range: KeyRange },
    /// The documents of all collections directly below a parent.
    Children(ParentPath),
    /// All documents below a parent.
    Descendants(ParentPath),
}

/// Names from `start` up to, and without, `end`, as bytes of [`crate::name_key`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct NameBounds {
    pub(crate) start: Option<Bytes>,
    pub(crate) end: Option<Bytes>,
}

impl Scope {
    /// The scope of a validated query.
    pub(crate) fn of(query: &Query) -> Result<Self, QueryError> {
        Ok(match &query.from {
            From::Collection(id) => {
                let keys = CollectionKeys::new(&validate::collection(query, id)?);
                let (start, end) = keys.bounds();
                Scope::Collection { keys, group: group_bytes(id), range: KeyRange::new(start, end) }
            }
            From::Group(id) => {
                let (start, end) = key::group(id, &query.parent);
                Scope::Group { group: group_bytes(id), range: KeyRange::new(start, end) }
            }
            From::Children => Scope::Children(query.parent.clone()),
            From::Descendants => Scope::Descendants(query.parent.clone()),
        })
    }

    /// Where index entries of the scope are; nowhere for scopes that no index serves. The scope of a whole group
    /// is the last one.
    pub(crate) fn places(&self, query: &Query) -> Vec<Place> {
        let place = |scope, key: &Bytes, group: &Bytes| Place {
            scope,
            key: key.clone(),
            group_length: group.len(),
        };
        match self {
            Scope::Collection { group, range, .. } => {
                let path = name_key::of_key(&range.start);
                vec![place(layout::collection_scope(path), &range.start, group)]
            }
            Scope::Group { group, .. } if query.parent.is_root() => {
                let root: Bytes = [&group[..], group].concat().into();
                vec![
                    place(layout::collection_scope(group), &root, group),
                    place(layout::group_scope(group), group, group),
                ]
            }
            Scope::Group { .. } | Scope::Children(_) | Scope::Descendants(_) => Vec::new(),
        }
    }

    /// Whether the key is of a document in scope.
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        match self {
            Scope::Collection { keys, .. } => keys.contains(key),
            Scope::Group { range, .. } => range.contains(key),
            Scope::Children(parent) => {
                key::parse(key).is_some_and(|path| path.parent().parent() == *parent)
            }
            Scope::Descendants(parent) => {
                key::parse(key).is_some_and(|path| parent.contains(&path))
            }
        }
    }

    /// The least range that is sure to hold every key in scope, whatever collections come to be.
    pub(crate) fn range(&self) -> KeyRange {
        match self {
            Scope::Collection { range, .. } | Scope::Group { range, .. } => range.clone(),
            Scope::Children(_) | Scope::Descendants(_) => KeyRange::all(),
        }
    }

    /// Whether [`Scope::entries`] can run that way.
    pub(crate) fn runs(&self, direction: Direction) -> bool {
        direction == Direction::Ascending
            || matches!(self, Scope::Collection { .. } | Scope::Group { .. })
    }

    /// What is in scope and within bounds in order of names; that order descends only where
    /// [`Scope::runs`] says so.
    pub(crate) fn walk<'s, W: Walked<'s>>(
        &'s self,
        snapshot: &'s Snapshot,
        bounds: &NameBounds,
        direction: Direction,
    ) -> Walk<'s, W> {
        match self {
            Scope::Collection { keys, group, range } => {
                let entries = W::range(snapshot, &bounds.within(group, range), direction);
                Box::new(entries.filter(|entry| keys.contains(entry.key())))
            }
            Scope::Group { group, range } => {
                W::range(snapshot, &bounds.within(group, range), direction)
            }
            Scope::Children(parent) => {
                let bounds = bounds.clone();
                // Ids of collections are never numeric, so the order of groups is that of paths here.
                let collections = group_ids(snapshot).filter_map(|id| parent.collection(&id).ok());
                Box::new(collections.flat_map(move |path| {
                    let keys = CollectionKeys::new(&path);
                    let (start, end) = keys.bounds();
                    let range = KeyRange::new(start, end);
                    let range = bounds.within(&group_bytes(path.id()), &range);
                    let entries = W::range(snapshot, &range, Direction::Ascending);
                    entries.filter(move |entry| keys.contains(entry.key()))
                }))
            }
            Scope::Descendants(parent) => {
                let ranges = group_ids(snapshot).map(|id| {
                    let (start, end) = key::group(&id, parent);
                    let range = bounds.within(&group_bytes(&id), &KeyRange::new(start, end));
                    W::range(snapshot, &range, Direction::Ascending)
                });
                Box::new(Merge::new(ranges))
            }
        }
    }
}

impl NameBounds {
    /// The part of a group's range that the bounds leave.
    fn within(&self, group: &[u8], range: &KeyRange) -> KeyRange {
        let mut range = range.clone();
        if let Some(start) = &self.start {
            range.start = range.start.max(name_key::in_group(group, start));
        }
        if let Some(end) = &self.end {
            let end = name_key::in_group(group, end);
            range.end = Some(range.end.map_or(end.clone(), |known| known.min(end)));
        }
        range
    }
}

/// The segment every key of a group starts with.
pub(crate) fn group_bytes(id: &str) -> Bytes {
    key::group(id, &ParentPath::root()).0
}

/// The range of all keys of a group that are in or below a collection.
pub(crate) fn below_collection(group: &str, collection: &CollectionPath) -> KeyRange {
    let (start, _) = key::collection(collection);
    let start = name_key::in_group(&group_bytes(group), name_key::of_key(&start));
    KeyRange::new(start, key::after_child(group, collection))
}

/// The ids of the collection groups that have documents, found by skipping from one to the next.
pub(crate) fn group_ids(snapshot: &Snapshot) -> impl Iterator<Item = String> {
    let mut from = Bytes::new();
    std::iter::from_fn(move || {
        let id = key::group_id(&snapshot.seek_key(&from)?)?;
        from = key::next_group(&id);
        Some(id)
    })
}

/// Several ranges walked as one in order of names.
struct Merge<'s, W> {
    heads: BinaryHeap<Reverse<Next<'s, W>>>,
}

/// The next of one range, and what follows it.
struct Next<'s, W> {
    entry: W,
    rest: Walk<'s, W>,
}

impl<'s, W: Walked<'s>> Merge<'s, W> {
    fn new(ranges: impl Iterator<Item = Walk<'s, W>>) -> Self {
        let heads = ranges.filter_map(|mut rest| {
            let entry = rest.next()?;
            Some(Reverse(Next { entry, rest }))
        });
        Merge { heads: heads.collect() }
    }
}

impl<'s, W: Walked<'s>> Iterator for Merge<'s, W> {
    type Item = W;

    fn next(&mut self) -> Option<W> {
        let mut head = self.heads.peek_mut()?;
        match head.0.rest.next() {
            Some(next) => Some(std::mem::replace(&mut head.0.entry, next)),
            None => Some(PeekMut::pop(head).0.entry),
        }
    }
}

impl<'s, W: Walked<'s>> Ord for Next<'s, W> {
    fn cmp(&self, other: &Self) -> Ordering {
        name_key::of_key(self.entry.key()).cmp(name_key::of_key(other.entry.key()))
    }
}

impl<'s, W: Walked<'s>> PartialOrd for Next<'s, W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<'s, W: Walked<'s>> PartialEq for Next<'s, W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<'s, W: Walked<'s>> Eq for Next<'s, W> {}

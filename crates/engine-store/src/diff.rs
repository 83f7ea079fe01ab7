//! What differs between two states.

use std::sync::Arc;

use bytes::Bytes;
use imbl::ordmap::DiffItem;

use crate::iter::Entry;
use crate::merge::{Direction, Turn, turn};
use crate::range::KeyRange;
use crate::record::Record;
use crate::snapshot::Snapshot;

/// A key whose value differs, and its record in either state.
pub(crate) struct Difference {
    pub(crate) key: Bytes,
    pub(crate) from: Option<Record>,
    pub(crate) to: Option<Record>,
}

/// The keys whose values differ between two states, in order; `None` where there may be more than
/// `max`. Costs as much as the parts that the two do not share, and little where it gives up.
pub(crate) fn differing(from: &Snapshot, to: &Snapshot, max: usize) -> Option<Vec<Difference>> {
    if Arc::ptr_eq(&from.lower, &to.lower) {
        return differing_tables(from, to, max);
    }
    if from.len.saturating_add(to.len) > max && max < usize::MAX {
        return None;
    }
    let everything = KeyRange::all();
    let mut from = from.range(&everything).peekable();
    let mut to = to.range(&everything).peekable();
    let mut differing = Vec::new();
    loop {
        let from_key = from.peek().map(|entry| entry.key().as_ref());
        let to_key = to.peek().map(|entry| entry.key().as_ref());
        let (old, new) = match turn(from_key, to_key, Direction::Ascending) {
            Turn::Upper => (from.next(), None),
            Turn::Lower => (None, to.next()),
            Turn::Both => (from.next(), to.next()),
            Turn::Neither => return Some(differing),
        };
        let (old, new) = (old.map(Entry::into_owned), new.map(Entry::into_owned));
        let Some(key) = old.as_ref().or(new.as_ref()).map(|(key, _)| key.clone()) else {
            return Some(differing);
        };
        let (from, to) = (old.map(|(_, record)| record), new.map(|(_, record)| record));
        add(&mut differing, key, from, to);
    }
}

fn differing_tables(from: &Snapshot, to: &Snapshot, max: usize) -> Option<Vec<Difference>> {
    if from.len.abs_diff(to.len) > max {
        return None;
    }
    let mut differing = Vec::new();
    for item in from.table.diff(&to.table) {
        let (DiffItem::Add(key, _)
        | DiffItem::Remove(key, _)
        | DiffItem::Update { old: (key, _), .. }) = item;
        add(&mut differing, key.clone(), from.get(key), to.get(key));
        if differing.len() > max {
            return None;
        }
    }
    Some(differing)
}

fn add(differing: &mut Vec<Difference>, key: Bytes, from: Option<Record>, to: Option<Record>) {
    let value = |record: &Option<Record>| record.as_ref().map(|record| record.value.clone());
    if value(&from) != value(&to) {
        differing.push(Difference { key, from, to });
    }
}

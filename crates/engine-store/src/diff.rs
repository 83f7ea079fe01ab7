//! What differs between two states.

use std::sync::Arc;

use bytes::Bytes;
use imbl::ordmap::DiffItem;

use crate::iter::Entry;
use crate::limits::LISTED_BYTES_MAX;
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
/// `max`, unless that is no bound, or where they are large together. Costs as much as the parts that the two do not share, and little where it gives up.
pub(crate) fn differing(from: &Snapshot, to: &Snapshot, max: usize) -> Option<Vec<Difference>> {
    if Arc::ptr_eq(&from.lower, &to.lower) {
        return differing_tables(from, to, max);
    }
    if from.len.saturating_add(to.len) > max && max < usize::MAX {
        return None;
    }
    let mut bound = Bound::new(max);
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
        if !add(&mut differing, &mut bound, key, from, to) {
            return None;
        }
    }
}

fn differing_tables(from: &Snapshot, to: &Snapshot, max: usize) -> Option<Vec<Difference>> {
    if from.len.abs_diff(to.len) > max {
        return None;
    }
    let mut bound = Bound::new(max);
    let mut differing = Vec::new();
    for item in from.table.diff(&to.table) {
        let (DiffItem::Add(key, _)
        | DiffItem::Remove(key, _)
        | DiffItem::Update { old: (key, _), .. }) = item;
        if !add(&mut differing, &mut bound, key.clone(), from.get(key), to.get(key)) {
            return None;
        }
    }
    Some(differing)
}

/// How much may differ.
struct Bound {
    keys: usize,
    bytes: usize,
}

impl Bound {
    fn new(max: usize) -> Bound {
        // What has to be written is listed however much it is.
        let bytes = if max == usize::MAX { usize::MAX } else { LISTED_BYTES_MAX };
        Bound { keys: max, bytes }
    }
}

/// Adds what differs, if it does, and answers whether it is within the bound.
fn add(
    differing: &mut Vec<Difference>,
    bound: &mut Bound,
    key: Bytes,
    from: Option<Record>,
    to: Option<Record>,
) -> bool {
    let value = |record: &Option<Record>| record.as_ref().map(|record| record.value.clone());
    let (old, new) = (value(&from), value(&to));
    // What turns out to be the same was read all the same.
    let len = [&old, &new].into_iter().flatten().map(Bytes::len).sum();
    let Some(bytes) = bound.bytes.checked_sub(len) else { return false };
    bound.bytes = bytes;
    if old != new {
        differing.push(Difference { key, from, to });
    }
    differing.len() <= bound.keys
}

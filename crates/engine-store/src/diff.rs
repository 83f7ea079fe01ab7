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

/// A key that was put, or made, another time, and its record in either state.
pub(crate) struct Difference {
    pub(crate) key: Bytes,
    pub(crate) from: Option<Record>,
    pub(crate) to: Option<Record>,
}

/// How much of what differs is listed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Listing {
    /// Everything, however much it is.
    All,
    /// Nothing, if it may be more keys than that, or if it is large together.
    UpTo(usize),
}

impl Listing {
    fn allows(self, keys: usize) -> bool {
        match self {
            Listing::All => true,
            Listing::UpTo(max) => keys <= max,
        }
    }
}

/// The keys whose values differ between two states, or when they were created, in order; `None` where they are more than `listing` allows. Costs
/// as much as the parts that the two do not share, and little where it gives up.
pub(crate) fn differing(
    from: &Snapshot,
    to: &Snapshot,
    listing: Listing,
) -> Option<Vec<Difference>> {
    if Arc::ptr_eq(&from.lower, &to.lower) {
        return differing_tables(from, to, listing);
    }
    if !listing.allows(from.len.saturating_add(to.len)) {
        return None;
    }
    let mut bound = Bound::new(listing);
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

fn differing_tables(from: &Snapshot, to: &Snapshot, listing: Listing) -> Option<Vec<Difference>> {
    if !listing.allows(from.len.abs_diff(to.len)) {
        return None;
    }
    let mut bound = Bound::new(listing);
    let mut differing = Vec::new();
    for item in from.table.diff(&to.table) {
        let (DiffItem::Add(key, _)
        | DiffItem::Remove(key, _)
        | DiffItem::Update { old: (key, _), .. }) = item;
        // Restored again and again, a state differs in more and more update times from the one it is restored to.
        if let DiffItem::Update { old: (_, Some(old)), new: (_, Some(new)) } = item
            && old.shares_value(new)
        {
            continue;
        }
        if !add(&mut differing, &mut bound, key.clone(), from.get(key), to.get(key)) {
            return None;
        }
    }
    Some(differing)
}

/// How much may differ still.
struct Bound {
    listing: Listing,
    bytes: usize,
}

impl Bound {
    fn new(listing: Listing) -> Bound {
        Bound { listing, bytes: LISTED_BYTES_MAX }
    }

    /// Takes a difference in; answers whether it is within the bound.
    fn take(&mut self, bytes: usize) -> bool {
        match (self.listing, self.bytes.checked_sub(bytes)) {
            (Listing::All, _) => true,
            (Listing::UpTo(_), None) => false,
            (Listing::UpTo(_), Some(left)) => {
                self.bytes = left;
                true
            }
        }
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
    let seen = |record: &Record| (record.created, record.value.clone());
    let (old, new) = (from.as_ref().map(seen), to.as_ref().map(seen));
    // What turns out to be the same was read all the same.
    let len = [&old, &new].into_iter().flatten().map(|(_, value)| value.len()).sum();
    if !bound.take(len) {
        return false;
    }
    if old != new {
        differing.push(Difference { key, from, to });
    }
    bound.listing.allows(differing.len())
}

//! Walking index entries: documents one after the other, in the order of the entries.

use base_value::index_key::{self, Encoded};
use bytes::Bytes;
use engine_store::KeyRange;

use super::access::after_prefix;
use super::postings::{PostingCursor, Zigzag, names_within};
use super::spec::{OrderPart, Walk, WalkKind, WalkRange};
use crate::model::Direction;
use crate::scope::NameBounds;
use crate::view::{BaseView, DerivedEntries};

/// A scope that entries are in, and the documents they are of.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// What entries begin with.
    pub(crate) scope: Vec<u8>,
    /// What stands before an entry's name in the storage key.
    pub(crate) key: Bytes,
    /// How much of that is no part of the name but the group.
    pub(crate) group_length: usize,
}

/// A document that was met.
#[derive(Debug)]
pub(crate) struct Item {
    /// Bytes whose order is that of the result as far as the plan runs in it, see [`OrderKey`].
    pub(crate) order: OrderKey,
    /// The storage key.
    pub(crate) key: Bytes,
    /// Which walk has met it.
    pub(crate) walk: usize,
    /// Which place it is in.
    pub(crate) place: usize,
}

/// What the order of the result says of a document, as bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct OrderKey {
    bytes: Vec<u8>,
    /// Whether a value was cut, so that nothing is said of what follows it.
    is_cut: bool,
}

impl OrderKey {
    /// Adds the encoded value of the next field of the order.
    pub(crate) fn push(&mut self, value: &[u8], encoded: Encoded, direction: Direction) {
        if !self.is_cut {
            self.extend(value, direction);
            self.is_cut = encoded == Encoded::Cut;
        }
    }

    /// Adds the name, behind which nothing follows; answers whether it is known that this is the place of no
    /// other document.
    pub(crate) fn push_name(&mut self, name: &[u8], direction: Direction) {
        if !self.is_cut {
            self.extend(name, direction);
            self.extend(&[0], direction);
        }
    }

    /// Whether a value was cut.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    fn extend(&mut self, bytes: &[u8], direction: Direction) {
        match direction {
            Direction::Ascending => self.bytes.extend_from_slice(bytes),
            Direction::Descending => self.bytes.extend(bytes.iter().map(|byte| !byte)),
        }
    }
}

/// How much work may still be done before a pause, in about a third of a microsecond.
#[derive(Debug)]
pub(crate) struct Meter {
    left: u64,
    pub(crate) entries: u64,
    pub(crate) documents: u64,
    /// How often somebody looked for an entry of a document that was met.
    pub(crate) probes: u64,
}

impl Meter {
    pub(crate) fn new() -> Self {
        Meter { left: u64::MAX, entries: 0, documents: 0, probes: 0 }
    }

    pub(crate) fn allow(&mut self, work: u64) {
        self.left = work;
    }

    pub(crate) fn spend(&mut self, work: u64) {
        self.left = self.left.saturating_sub(work);
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.left == 0
    }

    /// One entry was read.
    pub(super) fn step(&mut self) {
        self.steps(1);
    }

    /// So many entries were read.
    pub(super) fn steps(&mut self, entries: u64) {
        self.entries += entries;
        self.spend(entries);
    }

    /// How many entries may still be read before a pause.
    fn steps_left(&self) -> u64 {
        self.left
    }
}

/// What a stream answers.
#[derive(Debug)]
pub(crate) enum Step<T> {
    Item(T),
    /// The meter is spent; ask again when there is more.
    Pause,
    End,
}

/// The orders that keys are made for: of the fields that are covered, and of the name where it is.
#[derive(Clone, Debug)]
pub(crate) struct Directions {
    pub(crate) fields: Vec<Direction>,
    pub(crate) name: Option<Direction>,
}

/// The entries of one walk in one place.
pub(crate) struct Stream<'v> {
    source: Source<'v>,
    walk: &'v Walk,
    place: &'v Place,
    directions: &'v Directions,
    at: (usize, usize),
}

enum Source<'v> {
    Postings(Zigzag<'v>),
    Range { entries: Box<DerivedEntries<'v>>, range: &'v WalkRange, skip: usize },
}

impl<'v> Stream<'v> {
    /// `at` tells the places of the walk and the place in their lists.
    pub(crate) fn new(
        view: &'v dyn BaseView,
        walk: &'v Walk,
        place: &'v Place,
        directions: &'v Directions,
        at: (usize, usize),
    ) -> Self {
        let source = match &walk.kind {
            WalkKind::Postings(postings) => {
                let name = place.key.get(place.group_length..).unwrap_or_default();
                let cursors = postings.iter().map(|posting| {
                    let prefix = [place.scope.as_slice(), posting].concat();
                    let range = names_within(&prefix, name, &walk.names);
                    PostingCursor::new(view, prefix, range, walk.direction)
                });
                Source::Postings(Zigzag::new(cursors.collect()))
            }
            WalkKind::Range(range) => {
                let prefix = [place.scope.as_slice(), &range.prefix].concat();
                let skip = prefix.len();
                let entries = Box::new(view.derived(&range.bounds(prefix), walk.direction));
                Source::Range { entries, range, skip }
            }
        };
        Stream { source, walk, place, directions, at }
    }

    /// Whether every entry is one document that is met, so that [`Stream::pass`] serves.
    pub(crate) fn is_plain(&self) -> bool {
        match &self.source {
            Source::Postings(zigzag) => zigzag.is_single(),
            Source::Range { range, .. } => {
                range.holes.is_empty() && self.walk.names == NameBounds::default()
            }
        }
    }

    /// Same as [`Stream::next`], up to `max` times, for who only counts.
    pub(crate) fn pass(&mut self, max: u64, meter: &mut Meter) -> Step<u64> {
        if meter.is_spent() {
            return Step::Pause;
        }
        let max = max.min(meter.steps_left());
        let passed = match &mut self.source {
            Source::Postings(zigzag) => zigzag.pass(max, meter),
            Source::Range { entries, .. } => {
                let passed = entries.pass(max);
                meter.steps(passed);
                passed
            }
        };
        if passed == 0 { Step::End } else { Step::Item(passed) }
    }

    pub(crate) fn next(&mut self, meter: &mut Meter) -> Step<Item> {
        loop {
            let (values, name) = match &mut self.source {
                Source::Postings(zigzag) => match zigzag.next(meter) {
                    Step::Item(name) => (Vec::new(), name),
                    Step::Pause => return Step::Pause,
                    Step::End => return Step::End,
                },
                Source::Range { entries, range, skip } => {
                    if meter.is_spent() {
                        return Step::Pause;
                    }
                    let Some(entry) = entries.next() else { return Step::End };
                    meter.step();
                    match range.read(entry, *skip) {
                        Some(read) => read,
                        None => continue,
                    }
                }
            };
            let key: Bytes = [&self.place.key[..], &name].concat().into();
            let path = key.get(self.place.group_length..).unwrap_or_default();
            if !self.walk.names.contain(path) {
                continue;
            }
            let mut order = OrderKey::default();
            for (part, direction) in self.walk.order.iter().zip(&self.directions.fields) {
                match part {
                    OrderPart::Constant(value, encoded) => order.push(value, *encoded, *direction),
                    OrderPart::Component(at) => {
                        if let Some((value, encoded)) = values.get(*at) {
                            order.push(value, *encoded, *direction);
                        }
                    }
                }
            }
            if let Some(direction) = self.directions.name {
                order.push_name(path, direction);
            }
            let (walk, place) = self.at;
            return Step::Item(Item { order, key, walk, place });
        }
    }
}

/// The values of an entry, and its name.
type Read = (Vec<(Vec<u8>, Encoded)>, Bytes);

impl Walk {
    /// The places of a query that are walked.
    pub(crate) fn places<'p>(
        &self,
        places: &'p [Place],
    ) -> impl Iterator<Item = (usize, &'p Place)> + use<'p> {
        // The scope of the whole group, where there is one, is the last place.
        let skip = if self.is_group_only { places.len().saturating_sub(1) } else { 0 };
        places.iter().enumerate().skip(skip)
    }
}

impl WalkRange {
    /// The entries of the range, behind the prefix of a scope and the index.
    pub(super) fn bounds(&self, prefix: Vec<u8>) -> KeyRange {
        let flip = |bytes: &[u8]| -> Vec<u8> { bytes.iter().map(|byte| !byte).collect() };
        let within = |edge: &[u8]| [prefix.as_slice(), edge].concat();
        if self.flipped.is_empty() {
            return KeyRange::prefix(prefix.into());
        }
        if self.flipped.first() == Some(&true) {
            let start = after_prefix(within(&flip(&self.end)));
            let end = after_prefix(within(&flip(&self.start)));
            return KeyRange::new(start.into(), end.into());
        }
        KeyRange::new(within(&self.start).into(), within(&self.end).into())
    }

    /// Takes an entry apart; `None` for one that is passed over.
    fn read(&self, entry: Bytes, skip: usize) -> Option<Read> {
        let mut at = skip;
        let mut values = Vec::with_capacity(self.flipped.len());
        for flipped in &self.flipped {
            let rest = entry.get(at..)?;
            let rest = rest.get(..index_key::INDEX_VALUE_MAX_BYTES).unwrap_or(rest);
            let mut value: Vec<u8> =
                if *flipped { rest.iter().map(|byte| !byte).collect() } else { rest.to_vec() };
            let (length, encoded) = index_key::split(&value)?;
            value.truncate(length);
            at += length;
            values.push((value, encoded));
        }
        let is_hole = values.first().is_some_and(|(value, _)| self.holes.contains(value));
        if is_hole {
            return None;
        }
        Some((values, self.name(&entry, at)?))
    }

    /// The name in an entry whose values end there.
    pub(super) fn name(&self, entry: &Bytes, at: usize) -> Option<Bytes> {
        if self.flips_name {
            let (_end, name) = entry.get(at..)?.split_last()?;
            return Some(name.iter().map(|byte| !byte).collect());
        }
        (at <= entry.len()).then(|| entry.slice(at..))
    }
}

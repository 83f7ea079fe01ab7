//! Postings: the documents that have one value, in order of names, and the intersection of several.

use bytes::Bytes;
use engine_store::KeyRange;

use super::stream::{Meter, Step};
use crate::model::Direction;
use crate::scope::NameBounds;
use crate::view::{BaseView, DerivedEntries};

/// The work of beginning a range anew.
const SEEK: u64 = 8;

/// Entries passed one by one before it is cheaper to seek.
const STEPS_BEFORE_SEEK: usize = 4;

/// The part of a posting that bounds of the whole name leave; `place` is the beginning of every name in it.
pub(super) fn names_within(prefix: &[u8], place: &[u8], names: &NameBounds) -> KeyRange {
    let mut range = KeyRange::prefix(Bytes::copy_from_slice(prefix));
    let nothing = || KeyRange::new(Bytes::new(), Bytes::new());
    if let Some(start) = &names.start {
        match start.strip_prefix(place) {
            Some(name) => range.start = [prefix, name].concat().into(),
            None if start.as_ref() > place => return nothing(),
            None => {}
        }
    }
    if let Some(end) = &names.end {
        match end.strip_prefix(place) {
            Some(name) => range.end = Some([prefix, name].concat().into()),
            None if end.as_ref() < place => return nothing(),
            None => {}
        }
    }
    range
}

/// The intersection of postings.
pub(super) struct Zigzag<'v> {
    cursors: Vec<PostingCursor<'v>>,
    /// The name that is looked for, and how many postings have it.
    target: Option<Bytes>,
    agreeing: usize,
    /// The posting that is asked next.
    at: usize,
}

impl<'v> Zigzag<'v> {
    pub(super) fn new(cursors: Vec<PostingCursor<'v>>) -> Self {
        Zigzag { cursors, target: None, agreeing: 0, at: 0 }
    }

    /// Whether it is of one posting, so that [`Zigzag::pass`] serves.
    pub(super) fn is_single(&self) -> bool {
        self.cursors.len() == 1
    }

    /// Goes past up to `max` names of the first posting; answers how many there were.
    pub(super) fn pass(&mut self, max: u64, meter: &mut Meter) -> u64 {
        self.cursors.first_mut().map_or(0, |cursor| cursor.pass(max, meter))
    }

    pub(super) fn next(&mut self, meter: &mut Meter) -> Step<Bytes> {
        let count = self.cursors.len();
        loop {
            if meter.is_spent() {
                return Step::Pause;
            }
            if self.agreeing == count
                && let Some(name) = self.target.take()
            {
                return Step::Item(name);
            }
            let Some(cursor) = self.cursors.get_mut(self.at) else { return Step::End };
            let name = match &self.target {
                Some(target) => cursor.seek(target, meter),
                None => cursor.step(meter),
            };
            let Some(name) = name else { return Step::End };
            if self.target.as_ref() == Some(&name) {
                self.agreeing += 1;
            } else {
                self.target = Some(name);
                self.agreeing = 1;
            }
            self.at = (self.at + 1) % count;
        }
    }
}

/// A place in one posting.
pub(super) struct PostingCursor<'v> {
    view: &'v dyn BaseView,
    prefix: Vec<u8>,
    range: KeyRange,
    direction: Direction,
    entries: Option<DerivedEntries<'v>>,
    name: Option<Bytes>,
}

impl<'v> PostingCursor<'v> {
    pub(super) fn new(
        view: &'v dyn BaseView,
        prefix: Vec<u8>,
        range: KeyRange,
        direction: Direction,
    ) -> Self {
        PostingCursor { view, prefix, range, direction, entries: None, name: None }
    }

    /// Goes past up to `max` names; answers how many there were.
    fn pass(&mut self, max: u64, meter: &mut Meter) -> u64 {
        let passed = self.entries().pass(max);
        meter.steps(passed);
        passed
    }

    fn entries(&mut self) -> &mut DerivedEntries<'v> {
        let (view, range, direction) = (self.view, &self.range, self.direction);
        self.entries.get_or_insert_with(|| view.derived(range, direction))
    }

    /// The next name.
    fn step(&mut self, meter: &mut Meter) -> Option<Bytes> {
        let entry = self.entries().next();
        if entry.is_some() {
            meter.step();
        }
        self.name = entry.map(|entry| entry.slice(self.prefix.len().min(entry.len())..));
        self.name.clone()
    }

    /// The first name from here on that is `target` or behind it.
    fn seek(&mut self, target: &Bytes, meter: &mut Meter) -> Option<Bytes> {
        let direction = self.direction;
        let is_reached = |name: &Bytes| direction.apply(name.cmp(target)).is_ge();
        if let Some(name) = self.name.as_ref().filter(|name| is_reached(name)) {
            return Some(name.clone());
        }
        if self.entries.is_some() {
            for _ in 0..STEPS_BEFORE_SEEK {
                let name = self.step(meter)?;
                if is_reached(&name) {
                    return Some(name);
                }
            }
        }
        meter.spend(SEEK);
        match direction {
            Direction::Ascending => {
                let start = [self.prefix.as_slice(), target].concat();
                self.range.start = self.range.start.clone().max(start.into());
            }
            Direction::Descending => {
                let end = Bytes::from([self.prefix.as_slice(), target, &[0]].concat());
                let known = self.range.end.take();
                self.range.end = Some(known.map_or(end.clone(), |known| known.min(end)));
            }
        }
        self.entries = None;
        self.step(meter)
    }
}

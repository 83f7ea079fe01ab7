//! The documents of a result, one after the other.

use base_value::{DocumentPath, key};
use bytes::Bytes;
use engine_store::{Entry, Head, Record, Snapshot};

use crate::document::{Cells, Document};
use crate::execute::Prepared;
use crate::explain::{Scanned, UsedIndex, Way, Work};
use crate::name_key;
use crate::run::Run;
use crate::scope::{Entries, Keyed, Walk};

/// One document of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Its storage key.
    pub key: Bytes,
    /// Its path.
    pub path: DocumentPath,
    /// What is stored, or with a distance to be shown, what is stored and that. Without fields where the query
    /// selects names alone, in order of names: they are not read then.
    pub record: Record,
}

impl Row {
    /// The row of a key and its record; `None` where the key is no document's.
    pub fn new(key: Bytes, record: Record) -> Option<Self> {
        Some(Row { path: key::parse(&key)?, key, record })
    }

    /// The row of a key whose fields nobody has asked for.
    pub(crate) fn bare(key: Bytes, head: Head) -> Option<Self> {
        let Head { created, updated, .. } = head;
        Row::new(key, Record { created, updated, value: Bytes::new() })
    }
}

/// The documents a query matches.
pub(crate) struct Matches<'s> {
    prepared: &'s Prepared,
    entries: Entries<'s>,
    cells: Cells,
    looked_at: usize,
}

impl<'s> Matches<'s> {
    pub(crate) fn new(prepared: &'s Prepared, entries: Entries<'s>) -> Self {
        Matches { prepared, entries, cells: Cells::default(), looked_at: 0 }
    }

    /// The next document's entry.
    fn next_entry(&mut self) -> Option<Entry<'s>> {
        let Matches { prepared, entries, cells, looked_at } = self;
        entries.find(|entry| {
            *looked_at += 1;
            prepared.accepts(&mut prepared.document(entry.key(), entry.record(), cells))
        })
    }

    /// What was read so far.
    fn scanned(&self) -> Scanned {
        Scanned::by_name(self.looked_at)
    }

    /// Calls `visit` for every document until it answers that it has enough; answers how many were looked at.
    pub(crate) fn try_for_each(
        mut self,
        mut visit: impl FnMut(&Entry<'s>, &mut Document<'_>) -> std::ops::ControlFlow<()>,
    ) -> usize {
        for entry in self.entries {
            self.looked_at += 1;
            let mut document = self.prepared.document(entry.key(), entry.record(), &mut self.cells);
            if self.prepared.accepts(&mut document) && visit(&entry, &mut document).is_break() {
                break;
            }
        }
        self.looked_at
    }

    /// Calls `visit` for every document; answers how many were looked at.
    pub(crate) fn for_each(self, mut visit: impl FnMut(&Entry<'s>, &mut Document<'_>)) -> usize {
        self.try_for_each(|entry, document| {
            visit(entry, document);
            std::ops::ControlFlow::Continue(())
        })
    }
}

/// The keys of everything a query matches that reads no fields.
pub(crate) struct KeyMatches<'s> {
    prepared: &'s Prepared,
    keys: Walk<'s, Keyed>,
    cells: Cells,
    looked_at: usize,
}

impl<'s> KeyMatches<'s> {
    pub(crate) fn new(prepared: &'s Prepared, keys: Walk<'s, Keyed>) -> Self {
        KeyMatches { prepared, keys, cells: Cells::default(), looked_at: 0 }
    }

    /// What was read so far.
    pub(crate) fn scanned(&self) -> Scanned {
        Scanned::names(self.looked_at)
    }
}

impl Iterator for KeyMatches<'_> {
    type Item = Keyed;

    fn next(&mut self) -> Option<Keyed> {
        let KeyMatches { prepared, keys, cells, looked_at } = self;
        keys.find(|(key, _)| {
            *looked_at += 1;
            prepared.accepts_name(name_key::of_key(key), cells)
        })
    }
}

/// The rows of a result, in order.
pub struct Rows<'s> {
    source: Source<'s>,
    prepared: &'s Prepared,
    skipped: usize,
    /// What was done before the source was asked.
    before: Work,
}

enum Source<'s> {
    Stream(Stream<'s>),
    Keys(Keys<'s>),
    Indexed(Box<Run<'s>>),
    Ready(std::vec::IntoIter<Row>),
}

/// Keys of which nobody has asked for fields.
struct Keys<'s> {
    keys: KeyMatches<'s>,
    offset: u32,
    limit: Option<u32>,
}

struct Stream<'s> {
    matches: Matches<'s>,
    offset: u32,
    limit: Option<u32>,
    /// Whether a fold would let an index serve the query.
    is_unfolded: bool,
}

impl<'s> Rows<'s> {
    fn of(source: Source<'s>, prepared: &'s Prepared) -> Self {
        Rows { source, prepared, skipped: 0, before: Work::default() }
    }

    pub(crate) fn ready(
        rows: Vec<Row>,
        skipped: usize,
        work: Work,
        prepared: &'s Prepared,
    ) -> Self {
        let source = Source::Ready(rows.into_iter());
        Rows { source, prepared, skipped, before: work }
    }

    pub(crate) fn keys(keys: KeyMatches<'s>, prepared: &'s Prepared) -> Self {
        let (offset, limit) = (prepared.query().offset, prepared.query().limit);
        Rows::of(Source::Keys(Keys { keys, offset, limit }), prepared)
    }

    /// These rows, of which the offset has passed over so many before, for which that was read.
    pub(crate) fn behind(mut self, skipped: usize, scanned: Scanned) -> Self {
        self.skipped = skipped;
        self.before.scanned = scanned;
        self
    }

    pub(crate) fn stream(
        matches: Matches<'s>,
        offset: u32,
        prepared: &'s Prepared,
        is_unfolded: bool,
    ) -> Self {
        let limit = prepared.query().limit;
        let stream = Stream { matches, offset, limit, is_unfolded };
        Rows::of(Source::Stream(stream), prepared)
    }

    pub(crate) fn indexed(run: Run<'s>, prepared: &'s Prepared) -> Self {
        Rows::of(Source::Indexed(Box::new(run)), prepared)
    }

    /// What was read so far.
    pub fn scanned(&self) -> Scanned {
        let mut scanned = self.before.scanned;
        scanned += match &self.source {
            Source::Stream(stream) => stream.matches.scanned(),
            Source::Keys(rows) => rows.keys.scanned(),
            Source::Indexed(run) => run.scanned(),
            Source::Ready(_) => Scanned::default(),
        };
        scanned
    }

    /// The indexes of `snapshot`, which was asked, that were read so far, those of the plan that answers first.
    pub fn used_indexes(&self, snapshot: &Snapshot) -> Vec<UsedIndex> {
        self.prepared.used(self.way(), snapshot)
    }

    /// What was done so far.
    pub(crate) fn work(&self) -> Work {
        Work { unfolded: self.unfolded(), scanned: self.scanned(), way: self.way() }
    }

    fn way(&self) -> Way {
        match &self.source {
            Source::Indexed(run) => run.way(),
            Source::Stream(_) | Source::Keys(_) | Source::Ready(_) => self.before.way,
        }
    }

    /// How many matches the offset has passed over. Final once the first row, or the end, was met.
    pub fn skipped(&self) -> usize {
        match &self.source {
            Source::Indexed(run) => run.skipped,
            Source::Stream(_) | Source::Keys(_) | Source::Ready(_) => self.skipped,
        }
    }

    /// How many documents were matched one by one so far that a fold would let an index find: where that is
    /// more than some thousand, the store had better fold.
    pub fn unfolded(&self) -> usize {
        match &self.source {
            Source::Stream(stream) if stream.is_unfolded => stream.matches.looked_at,
            // A fold would not make these any quicker.
            Source::Stream(_) | Source::Keys(_) => 0,
            Source::Indexed(run) => run.unfolded(),
            Source::Ready(_) => self.before.unfolded,
        }
    }
}

impl Iterator for Rows<'_> {
    type Item = Row;

    fn next(&mut self) -> Option<Row> {
        let stream = match &mut self.source {
            Source::Ready(rows) => return rows.next(),
            Source::Indexed(run) => {
                run.advance(true);
                return run.ready.pop_front();
            }
            Source::Keys(rows) => {
                while rows.offset > 0 {
                    rows.keys.next()?;
                    rows.offset -= 1;
                    self.skipped += 1;
                }
                if let Some(limit) = &mut rows.limit {
                    *limit = limit.checked_sub(1)?;
                }
                let (key, head) = rows.keys.next()?;
                return Row::bare(key, head);
            }
            Source::Stream(stream) => stream,
        };
        while stream.offset > 0 {
            stream.matches.next_entry()?;
            stream.offset -= 1;
            self.skipped += 1;
        }
        if let Some(limit) = &mut stream.limit {
            *limit = limit.checked_sub(1)?;
        }
        let (key, record) = stream.matches.next_entry()?.into_owned();
        Row::new(key, record).map(|row| stream.matches.prepared.stripped(row))
    }
}

impl std::fmt::Debug for Rows<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rows").field("skipped", &self.skipped()).finish_non_exhaustive()
    }
}

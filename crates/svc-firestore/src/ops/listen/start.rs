//! A target's first state: all of it, or what has changed since its client was last told.

use std::collections::BTreeMap;
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::DatabaseName;
use bytes::Bytes;
use engine_store::{Record, Snapshot, StoreError};
use engine_watch::{Bounds, Row, Select};

use super::filter::Bloom;
use super::stream::Halt;
use super::target::TargetShape;
use crate::error::Error;
use crate::limits::{HELD_BYTES_MAX, IN_PLACE_MAX};
use crate::ops::{Reader, blocking};

/// What there is of a document.
pub(super) enum Content {
    Here(Record),
    /// It is in the state that was looked at, to be read from there when it is told.
    Stored,
    /// It does not exist.
    Missing,
}

/// A document as a target sees it.
pub(super) struct First {
    pub(super) key: Bytes,
    pub(super) content: Content,
    /// Whether the target has it now. When not, it had it before (or asked for it by name).
    pub(super) inside: bool,
}

/// What a client is to be told at the start.
pub(super) struct Start {
    pub(super) documents: Vec<First>,
    /// What the view of a target with bounds needs to know.
    pub(super) rows: Option<Vec<Row>>,
    /// What it has in all, where the client may know otherwise.
    pub(super) filter: Option<Filter>,
}

/// How many documents a target has, and which.
pub(super) struct Filter {
    pub(super) count: usize,
    pub(super) names: Option<Bloom>,
}

/// What a start depends on.
pub(super) struct Question {
    pub(super) shape: Arc<TargetShape>,
    pub(super) database: DatabaseName,
    /// The state that the client was last told; `None` when it knows nothing.
    pub(super) past: Option<Snapshot>,
    pub(super) now: Snapshot,
    /// How many documents it says it knows from then.
    pub(super) expected: Option<usize>,
}

/// Documents by key, with their update time, and themselves unless they are many.
type Selected = BTreeMap<Bytes, (UnixMicros, Option<Record>)>;

impl Question {
    /// Works it out: queries and many documents on a thread that may take its time, a few documents in place.
    pub(super) async fn answer(mut self) -> Result<Start, Halt> {
        let documents = self.shape.documents();
        let in_place = documents.is_some_and(|keys| keys.len() <= IN_PLACE_MAX);
        let reader = Reader::new();
        self.now = reader.reads(self.now);
        self.past = self.past.map(|past| reader.reads(past));
        let work = move || {
            let start = self.start();
            // What the disk does not give must not look deleted.
            self.past.iter().chain([&self.now]).try_for_each(Snapshot::check)?;
            Ok::<_, StoreError>(start)
        };
        let done = match in_place {
            true => work(),
            false => blocking(work).await.map_err(|error| Halt::Ended(error.into()))?,
        };
        done.map_err(|error| Halt::Ended(Error::Commit(error.into()).into()))
    }

    fn start(&self) -> Start {
        let (selected, rows) = self.select(&self.now);
        let shown = self.past.as_ref().map(|past| self.select(past).0);
        let filter = shown.as_ref().and_then(|shown| self.filter(shown, &selected));
        let mut documents = Vec::new();
        for (key, _) in shown.iter().flatten().filter(|(key, _)| !selected.contains_key(*key)) {
            documents.push(self.gone(key));
        }
        if let (None, Some(keys)) = (&shown, self.shape.documents()) {
            let missing = keys.iter().filter(|key| !selected.contains_key(*key));
            documents.extend(missing.map(|key| self.gone(key)));
        }
        let news = selected.into_iter().filter(|(key, (updated, _))| {
            let known = shown.as_ref().and_then(|shown| shown.get(key));
            known.is_none_or(|(known, _)| known != updated)
        });
        documents.extend(news.map(|(key, (_, record))| {
            let content = record.map_or(Content::Stored, Content::Here);
            First { key, content, inside: true }
        }));
        Start { documents, rows, filter }
    }

    fn gone(&self, key: &Bytes) -> First {
        let content = self.now.get(key).map_or(Content::Missing, Content::Here);
        First { key: key.clone(), content, inside: false }
    }

    /// A client that counts otherwise than we do, then or now, is told what there is: production does so, too.
    fn filter(&self, shown: &Selected, selected: &Selected) -> Option<Filter> {
        let expected = self.expected?;
        let count = selected.len();
        if expected == count && expected == shown.len() {
            return None;
        }
        let names = || Bloom::of_documents(&self.database, selected.keys());
        Some(Filter { count, names: (expected > 0).then(names) })
    }

    fn select(&self, snapshot: &Snapshot) -> (Selected, Option<Vec<Row>>) {
        let mut held = 0;
        // A client may take its time to read them all, so what is much is left where it is.
        let mut sparing = |key: Bytes, record: Record| {
            held += record.value.len();
            (key, (record.updated, (held <= HELD_BYTES_MAX).then_some(record)))
        };
        if let Some(bounds) = self.shape.bounds() {
            let rows = self.shape.run(snapshot);
            let shown = within(bounds, &rows);
            let selected = shown.iter().map(|row| sparing(row.key.clone(), row.record.clone()));
            return (selected.collect(), Some(rows));
        }
        let selected = match (self.shape.prepared(), self.shape.documents()) {
            (Some(query), _) => {
                query.run(snapshot).map(|row| sparing(row.key, row.record)).collect()
            }
            (None, Some(keys)) => {
                let found = keys.iter().filter_map(|key| Some((key.clone(), snapshot.get(key)?)));
                found.map(|(key, record)| sparing(key, record)).collect()
            }
            (None, None) => Selected::new(),
        };
        (selected, None)
    }
}

/// What bounds leave of the first matches.
fn within(bounds: Bounds, rows: &[Row]) -> &[Row] {
    let end = bounds.offset.saturating_add(bounds.limit).min(rows.len());
    rows.get(bounds.offset..end).unwrap_or_default()
}

//! One target: what it selects, and which documents its client was last shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::{DatabaseName, DocumentName, key};
use bytes::Bytes;
use engine_query::{Prepared, Query, Row};
use engine_store::{Commit, Record, Snapshot, StoreError};

use super::permission::Asked;
use super::stream::Halt;
use super::token::Resume;
use super::window::{Window, WindowQuery};
use crate::error::Error;
use crate::indexes::Preparer;
use crate::limits::HELD_BYTES_MAX;
use crate::ops::blocking;

/// A target as a client asks for it.
pub(crate) struct TargetRequest {
    pub(crate) id: i32,
    pub(crate) database: DatabaseName,
    pub(crate) scope: Scope,
    pub(crate) resume: Resume,
    /// Ends when its first state is complete.
    pub(crate) once: bool,
}

/// What a target selects.
pub(crate) enum Scope {
    /// A query whose every document is selected for itself.
    Query(Arc<Prepared>),
    /// A query that selects a window of what it matches.
    Window(WindowQuery),
    Documents(Vec<DocumentName>),
}

impl Scope {
    /// # Errors
    /// Queries that production refuses.
    pub(crate) fn query(
        preparer: &Preparer,
        database: &DatabaseName,
        query: Query,
    ) -> Result<Scope, Error> {
        Ok(if WindowQuery::is_one(&query) {
            Scope::Window(WindowQuery::new(preparer, database, query)?)
        } else {
            Scope::Query(Arc::new(preparer.prepare(database, query)?))
        })
    }
}

/// An active target.
pub(super) struct Target {
    selection: Selection,
    /// The documents shown, by key, with the update time they were shown at.
    shown: BTreeMap<Bytes, UnixMicros>,
}

/// How to tell what a target selects.
enum Selection {
    Query(Arc<Prepared>),
    Window(Window),
    Keys(BTreeSet<Bytes>),
}

/// What there is of a document.
pub(super) enum Content {
    Here(Record),
    /// It is in the state that was looked at, to be read from there when it is told.
    Stored,
    /// It does not exist.
    Missing,
}

impl Content {
    fn of(record: Option<Record>) -> Content {
        record.map_or(Content::Missing, Content::Here)
    }
}

/// A document that is selected.
struct Selected {
    key: Bytes,
    updated: UnixMicros,
    /// The document itself, unless many were selected.
    record: Option<Record>,
}

/// A document as a target sees it.
pub(super) struct Seen {
    pub(super) key: Bytes,
    pub(super) content: Content,
    /// Whether the target has it now. When not, it had it before (or asked for it by name).
    pub(super) inside: bool,
}

impl Target {
    /// A target that has been shown nothing.
    pub(super) fn new(scope: Scope) -> Target {
        let selection = match scope {
            Scope::Query(query) => Selection::Query(query),
            Scope::Window(query) => Selection::Window(Window::new(query)),
            Scope::Documents(names) => {
                Selection::Keys(names.iter().map(|name| key::document(&name.path)).collect())
            }
        };
        Target { selection, shown: BTreeMap::new() }
    }

    /// The same target with nothing shown.
    pub(super) fn reset(self) -> Target {
        Target { shown: BTreeMap::new(), ..self }
    }

    /// What has to be sent so that a client that was shown `past` is shown `now`. Without a past, the
    /// whole state, and for documents asked for by name also that they do not exist.
    fn start(&mut self, past: Option<&Snapshot>, now: &Snapshot) -> Vec<Seen> {
        if let Some(past) = past {
            let shown = self.select(past);
            self.shown = shown.into_iter().map(|one| (one.key, one.updated)).collect();
        }
        let mut seen = self.show(now);
        if let (None, Selection::Keys(keys)) = (past, &self.selection) {
            let missing = keys.iter().filter(|key| !self.shown.contains_key(*key));
            let missing = missing.map(|key| Seen {
                key: key.clone(),
                content: Content::Missing,
                inside: false,
            });
            seen.extend(missing);
        }
        seen
    }

    /// Brings what is shown up to `now` and answers the differences.
    fn show(&mut self, now: &Snapshot) -> Vec<Seen> {
        let selected = self.select(now);
        self.differences(selected, |key| now.get(key))
    }

    /// What `commit` changes for this target. `None` when the state after it has to be looked at, see
    /// [`show`].
    pub(super) fn follow(&mut self, commit: &Commit) -> Option<Vec<Seen>> {
        let mut seen = Vec::new();
        for change in &commit.changes {
            let matches = |record: &&Record| match &self.selection {
                Selection::Query(query) => query.matches(&change.key, record),
                Selection::Keys(keys) => keys.contains(&change.key),
                Selection::Window(window) => window.query().prepared().matches(&change.key, record),
            };
            if let Selection::Window(_) = &self.selection {
                // What was or is before or after the window counts as much as what is in it.
                if change.before.iter().chain(&change.after).any(|record| matches(&record)) {
                    return self.follow_window(commit);
                }
                continue;
            }
            let inside = change.after.as_ref().filter(matches);
            let concerned = match inside {
                Some(record) => {
                    self.shown.insert(change.key.clone(), record.updated);
                    true
                }
                None => self.shown.remove(&change.key).is_some(),
            };
            if concerned {
                let (key, content) = (change.key.clone(), Content::of(change.after.clone()));
                seen.push(Seen { key, content, inside: inside.is_some() });
            }
        }
        Some(seen)
    }

    fn follow_window(&mut self, commit: &Commit) -> Option<Vec<Seen>> {
        let Selection::Window(window) = &mut self.selection else { return Some(Vec::new()) };
        let before: BTreeMap<_, _> =
            window.rows().iter().map(|row| (row.key.clone(), row.record.clone())).collect();
        if !window.follow(commit) {
            return None;
        }
        let selected = window.rows().iter().cloned().map(Selected::of).collect();
        let seen = self.differences(selected, |key| {
            match commit.changes.binary_search_by(|change| change.key.cmp(key)) {
                Ok(place) => commit.changes.get(place)?.after.clone(),
                Err(_) => before.get(key).cloned(),
            }
        });
        Some(seen)
    }

    /// Shows what is selected now. `record_of` knows the documents that are not any more.
    fn differences(
        &mut self,
        selected: Vec<Selected>,
        record_of: impl Fn(&Bytes) -> Option<Record>,
    ) -> Vec<Seen> {
        let selected: BTreeMap<_, _> =
            selected.into_iter().map(|one| (one.key, (one.updated, one.record))).collect();
        let mut seen = Vec::new();
        for key in self.shown.keys().filter(|key| !selected.contains_key(*key)) {
            let content = Content::of(record_of(key));
            seen.push(Seen { key: key.clone(), content, inside: false });
        }
        let mut shown = BTreeMap::new();
        for (key, (updated, record)) in selected {
            if self.shown.get(&key) != Some(&updated) {
                let content = record.map_or(Content::Stored, Content::Here);
                seen.push(Seen { key: key.clone(), content, inside: true });
            }
            shown.insert(key, updated);
        }
        self.shown = shown;
        seen
    }

    fn select(&mut self, snapshot: &Snapshot) -> Vec<Selected> {
        let mut held = 0;
        // A client may take its time to read them all, so what is much is left where it is.
        let sparing = |mut one: Selected| {
            held += one.record.as_ref().map_or(0, |record| record.value.len());
            one.record.take_if(|_| held > HELD_BYTES_MAX);
            one
        };
        match &mut self.selection {
            Selection::Query(query) => query.run(snapshot).map(Selected::of).map(sparing).collect(),
            Selection::Window(window) => {
                window.load(snapshot);
                window.rows().iter().cloned().map(Selected::of).collect()
            }
            Selection::Keys(keys) => {
                let found = |key: &Bytes| {
                    let record = snapshot.get(key)?;
                    Some(Selected {
                        key: key.clone(),
                        updated: record.updated,
                        record: Some(record),
                    })
                };
                keys.iter().filter_map(found).map(sparing).collect()
            }
        }
    }

    /// What it asks for, as rules decide it.
    pub(super) fn asked(&self) -> Asked {
        match &self.selection {
            Selection::Query(query) => Asked::Query(Box::new(query.query().clone())),
            Selection::Window(window) => Asked::Query(Box::new(window.query().stated())),
            Selection::Keys(keys) => Asked::Documents(keys.iter().cloned().collect()),
        }
    }

    /// Whether a commit changes a document that the target selects, or did before.
    pub(super) fn concerns(&self, commit: &Commit) -> bool {
        commit.changes.iter().any(|change| match (&self.selection, self.prepared()) {
            (Selection::Keys(keys), _) => keys.contains(&change.key),
            (_, Some(query)) => {
                let mut states = change.before.iter().chain(&change.after);
                states.any(|record| query.matches(&change.key, record))
            }
            (_, None) => false,
        })
    }

    fn prepared(&self) -> Option<&Prepared> {
        match &self.selection {
            Selection::Query(query) => Some(query),
            Selection::Window(window) => Some(window.query().prepared()),
            Selection::Keys(_) => None,
        }
    }

    /// Whether the target wants only some fields of its documents.
    pub(super) fn projects(&self) -> bool {
        self.prepared().is_some_and(|query| query.query().select.is_some())
    }

    /// The fields it wants, encoded, if they are not all.
    pub(super) fn project(&self, fields: &Bytes) -> Option<Bytes> {
        let query = self.prepared().filter(|query| query.query().select.is_some())?;
        Some(query.project(fields))
    }
}

impl Selected {
    fn of(row: Row) -> Selected {
        Selected { key: row.key, updated: row.record.updated, record: Some(row.record) }
    }
}

/// What has to be sent so that a client that was shown `past` is shown `now`.
pub(super) async fn start(
    target: Target,
    past: Option<Snapshot>,
    now: Snapshot,
) -> Result<(Target, Vec<Seen>), Halt> {
    run(target, past, now, Target::start).await
}

/// What has to be sent so that the client is shown `now`.
pub(super) async fn show(target: Target, now: Snapshot) -> Result<(Target, Vec<Seen>), Halt> {
    run(target, None, now, |target, _, now| target.show(now)).await
}

/// Runs queries on a thread that may take its time; documents are looked up in place.
async fn run(
    mut target: Target,
    past: Option<Snapshot>,
    now: Snapshot,
    work: fn(&mut Target, Option<&Snapshot>, &Snapshot) -> Vec<Seen>,
) -> Result<(Target, Vec<Seen>), Halt> {
    let in_place = matches!(target.selection, Selection::Keys(_));
    let work = move || {
        let seen = work(&mut target, past.as_ref(), &now);
        // What the disk does not give must not look deleted.
        past.iter().chain([&now]).try_for_each(Snapshot::check)?;
        Ok::<_, StoreError>((target, seen))
    };
    let done = match in_place {
        true => work(),
        false => blocking(work).await.map_err(|error| Halt::Ended(error.into()))?,
    };
    done.map_err(|error| Halt::Ended(Error::Commit(error.into()).into()))
}

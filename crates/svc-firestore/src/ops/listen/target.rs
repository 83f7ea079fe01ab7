//! One target: what it selects, and which documents its client was last shown.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use base_env::UnixMicros;
use base_value::{DatabaseName, DocumentName, key};
use bytes::Bytes;
use engine_query::Prepared;
use engine_store::{Commit, Record, Snapshot};

use super::token::Resume;

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
#[derive(Clone)]
pub(crate) enum Scope {
    Query(Arc<Prepared>),
    Documents(Vec<DocumentName>),
}

/// An active target.
pub(super) struct Target {
    scope: Scope,
    /// The keys of a documents target, for telling quickly whether a change concerns it.
    keys: BTreeSet<Bytes>,
    /// The documents shown, by key, with the update time they were shown at.
    shown: BTreeMap<Bytes, UnixMicros>,
}

/// A document as a target sees it.
pub(super) struct Seen {
    pub(super) key: Bytes,
    /// The document; `None` when it does not exist.
    pub(super) record: Option<Record>,
    /// Whether the target has it now. When not, it had it before (or asked for it by name).
    pub(super) inside: bool,
}

impl Target {
    /// A target that has been shown nothing.
    pub(super) fn new(scope: Scope) -> Target {
        let keys = match &scope {
            Scope::Query(_) => BTreeSet::new(),
            Scope::Documents(names) => names.iter().map(|name| key::document(&name.path)).collect(),
        };
        Target { scope, keys, shown: BTreeMap::new() }
    }

    /// What has to be sent so that a client that was shown `past` is shown `now`. Without a past, the
    /// whole state, and for documents asked for by name also that they do not exist.
    pub(super) fn start(&mut self, past: Option<&Snapshot>, now: &Snapshot) -> Vec<Seen> {
        if let Some(past) = past {
            let shown = self.select(past);
            self.shown = shown.into_iter().map(|(key, record)| (key, record.updated)).collect();
        }
        let mut seen = self.show(now);
        if past.is_none() {
            let missing = self.keys.iter().filter(|key| !self.shown.contains_key(*key));
            let missing = missing.map(|key| Seen { key: key.clone(), record: None, inside: false });
            seen.extend(missing);
        }
        seen
    }

    /// Brings what is shown up to `now` and answers the differences.
    pub(super) fn show(&mut self, now: &Snapshot) -> Vec<Seen> {
        let selected: BTreeMap<_, _> = self.select(now).into_iter().collect();
        let mut seen = Vec::new();
        for key in self.shown.keys().filter(|key| !selected.contains_key(*key)) {
            seen.push(Seen { key: key.clone(), record: now.get(key), inside: false });
        }
        let mut shown = BTreeMap::new();
        for (key, record) in selected {
            let updated = record.updated;
            if self.shown.get(&key) != Some(&updated) {
                seen.push(Seen { key: key.clone(), record: Some(record), inside: true });
            }
            shown.insert(key, updated);
        }
        self.shown = shown;
        seen
    }

    /// What `commit` changes for this target. `after` gives the state after the commit, for the one
    /// case that needs it: a window whose edge moves.
    pub(super) fn follow(
        &mut self,
        commit: &Commit,
        after: &mut dyn FnMut() -> Option<Snapshot>,
    ) -> Option<Vec<Seen>> {
        if let Scope::Query(query) = &self.scope
            && has_window(query)
        {
            let touched = commit.changes.iter().any(|change| {
                self.shown.contains_key(&change.key)
                    || change.after.as_ref().is_some_and(|after| query.matches(&change.key, after))
            });
            return if touched { after().map(|now| self.show(&now)) } else { Some(Vec::new()) };
        }
        let mut seen = Vec::new();
        for change in &commit.changes {
            let inside = change.after.as_ref().filter(|after| self.matches(&change.key, after));
            let was_inside = match inside {
                Some(record) => {
                    self.shown.insert(change.key.clone(), record.updated);
                    true
                }
                None => self.shown.remove(&change.key).is_some(),
            };
            if was_inside {
                let (key, record) = (change.key.clone(), change.after.clone());
                seen.push(Seen { key, record, inside: inside.is_some() });
            }
        }
        Some(seen)
    }

    /// The same target with nothing shown.
    pub(super) fn reset(self) -> Target {
        Target { shown: BTreeMap::new(), ..self }
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    /// The query whose first run may be long, so that it is not run on an async worker.
    pub(super) fn is_query(&self) -> bool {
        matches!(self.scope, Scope::Query(_))
    }

    fn matches(&self, key: &Bytes, record: &Record) -> bool {
        match &self.scope {
            Scope::Query(query) => query.matches(key, record),
            Scope::Documents(_) => self.keys.contains(key),
        }
    }

    fn select(&self, snapshot: &Snapshot) -> Vec<(Bytes, Record)> {
        match &self.scope {
            Scope::Query(query) => query.run(snapshot).map(|row| (row.key, row.record)).collect(),
            Scope::Documents(_) => {
                let found = |key: &Bytes| Some((key.clone(), snapshot.get(key)?));
                self.keys.iter().filter_map(found).collect()
            }
        }
    }
}

/// Whether which documents are shown depends on others: then a change can move the edges.
fn has_window(query: &Prepared) -> bool {
    query.query().limit.is_some() || query.query().offset > 0
}

//! What a target selects, for views that do not know what a query is.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::Arc;

use base_value::{DatabaseName, DocumentName, ParentPath, key};
use bytes::Bytes;
use engine_query::{From, Prepared, Query};
use engine_store::{Record, Snapshot};
use engine_watch::{Bounds, Row, Scope as Place, Select};

use super::permission::Asked;
use super::token::Resume;
use crate::error::Error;
use crate::indexes::Preparer;
use crate::limits::WINDOW_SPARE;

/// A target as a client asks for it.
pub(crate) struct TargetRequest {
    pub(crate) id: i32,
    pub(crate) database: DatabaseName,
    /// Equal for targets that select the same.
    pub(crate) identity: Bytes,
    pub(crate) scope: Scope,
    pub(crate) resume: Resume,
    /// How many documents the client knows where it takes up.
    pub(crate) expected_count: Option<usize>,
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
        Ok(if query.limit.is_some() || query.offset > 0 {
            Scope::Window(WindowQuery::new(preparer, database, query)?)
        } else {
            Scope::Query(Arc::new(preparer.prepare(database, query)?))
        })
    }
}

/// A query with a limit or an offset.
#[derive(Clone)]
pub(crate) struct WindowQuery {
    /// The query from its first match on: without the offset, and with a limit that has room for it, and for some
    /// matches that take the place of others.
    from_first: Arc<Prepared>,
    bounds: Bounds,
    /// The query as the client has stated it.
    stated: Box<Query>,
}

impl WindowQuery {
    /// # Errors
    /// Those of the query.
    fn new(
        preparer: &Preparer,
        database: &DatabaseName,
        query: Query,
    ) -> Result<WindowQuery, Error> {
        let offset = query.offset;
        let held = query.limit.map(|limit| match limit {
            0 => 0,
            limit => limit.saturating_add(offset).saturating_add(WINDOW_SPARE),
        });
        let size = |len: Option<u32>| len.map_or(usize::MAX, |len| len as usize);
        let bounds = Bounds { offset: offset as usize, limit: size(query.limit), held: size(held) };
        let stated = Box::new(query.clone());
        let from_first = preparer.prepare(database, Query { offset: 0, limit: held, ..query })?;
        Ok(WindowQuery { from_first: Arc::new(from_first), bounds, stated })
    }
}

/// A target's selection.
pub(crate) struct TargetShape {
    identity: Bytes,
    kind: Kind,
}

enum Kind {
    Query(Arc<Prepared>),
    Window(WindowQuery),
    Documents(BTreeSet<Bytes>),
}

impl TargetShape {
    pub(super) fn new(identity: Bytes, scope: Scope) -> TargetShape {
        let kind = match scope {
            Scope::Query(query) => Kind::Query(query),
            Scope::Window(query) => Kind::Window(query),
            Scope::Documents(names) => {
                Kind::Documents(names.iter().map(|name| key::document(&name.path)).collect())
            }
        };
        TargetShape { identity, kind }
    }

    /// The documents that are asked for by name.
    pub(super) fn documents(&self) -> Option<&BTreeSet<Bytes>> {
        match &self.kind {
            Kind::Documents(keys) => Some(keys),
            Kind::Query(_) | Kind::Window(_) => None,
        }
    }

    /// The query; of a window, the one that begins with its first match.
    pub(super) fn prepared(&self) -> Option<&Arc<Prepared>> {
        match &self.kind {
            Kind::Query(query) => Some(query),
            Kind::Window(window) => Some(&window.from_first),
            Kind::Documents(_) => None,
        }
    }

    /// What it asks for, as rules decide it.
    pub(super) fn asked(&self) -> Asked<'_> {
        match &self.kind {
            Kind::Query(query) => Asked::Query(query.query()),
            Kind::Window(window) => Asked::Query(&window.stated),
            Kind::Documents(keys) => Asked::Documents(keys),
        }
    }

    /// The query, where its documents are told in part.
    pub(super) fn projection(&self) -> Option<&Arc<Prepared>> {
        self.prepared().filter(|query| query.query().select.is_some())
    }
}

impl Select for TargetShape {
    /// The encoded document.
    type Made = Bytes;

    fn identity(&self) -> &Bytes {
        &self.identity
    }

    fn scope(&self) -> Place {
        let query = match &self.kind {
            Kind::Documents(keys) => return Place::Documents(keys.iter().cloned().collect()),
            Kind::Query(query) => query.query(),
            Kind::Window(window) => window.from_first.query(),
        };
        match &query.from {
            From::Collection(id) => match query.parent.collection(id) {
                Ok(path) => Place::Collection(key::collection(&path).0),
                // Queries that were prepared have ids that are some.
                Err(_) => Place::Everywhere,
            },
            From::Group(id) => Place::Group(key::group(id, &ParentPath::root()).0),
            From::Children | From::Descendants => Place::Everywhere,
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        match &self.kind {
            Kind::Window(window) => Some(window.bounds),
            Kind::Query(_) | Kind::Documents(_) => None,
        }
    }

    fn is_whole(&self) -> bool {
        self.projection().is_none()
    }

    fn matches(&self, key: &[u8], record: &Record) -> bool {
        match &self.kind {
            Kind::Query(query) => query.matches(key, record),
            Kind::Window(window) => window.from_first.matches(key, record),
            Kind::Documents(keys) => keys.contains(key),
        }
    }

    fn compare(&self, left: &Row, right: &Row) -> Ordering {
        let compare = |query: &Prepared| {
            query.compare_records((&left.key, &left.record), (&right.key, &right.record))
        };
        self.prepared().map_or_else(|| left.key.cmp(&right.key), |query| compare(query))
    }

    fn run(&self, snapshot: &Snapshot) -> Vec<Row> {
        let rows = self.prepared().map(|query| query.run(snapshot));
        let rows = rows.into_iter().flatten();
        rows.map(|row| Row { key: row.key, record: row.record }).collect()
    }
}

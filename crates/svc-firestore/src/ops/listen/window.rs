//! The window of a query with a limit or an offset: which documents are in it depends on the others.
//!
//! It follows commits by itself as long as the documents it knows tell enough, so that a busy collection
//! does not have its query run again for every commit.

use std::sync::Arc;

use base_value::DatabaseName;
use engine_query::{Prepared, Query, Row};
use engine_store::{Commit, Snapshot};

use crate::error::Error;
use crate::indexes::Preparer;

/// A query with a limit or an offset.
#[derive(Clone)]
pub(crate) struct WindowQuery {
    /// The query from its first match on: without the offset, and with a limit that has room for it.
    from_first: Arc<Prepared>,
    offset: usize,
}

impl WindowQuery {
    /// Whether it takes a window to answer `query`.
    pub(super) fn is_one(query: &Query) -> bool {
        query.limit.is_some() || query.offset > 0
    }

    /// # Errors
    /// Those of the query.
    pub(super) fn new(
        preparer: &Preparer,
        database: &DatabaseName,
        query: Query,
    ) -> Result<WindowQuery, Error> {
        let offset = query.offset;
        let limit = query.limit.map(|limit| match limit {
            0 => 0,
            limit => limit.saturating_add(offset),
        });
        let from_first = preparer.prepare(database, Query { offset: 0, limit, ..query })?;
        Ok(WindowQuery { from_first: Arc::new(from_first), offset: offset as usize })
    }

    pub(super) fn prepared(&self) -> &Prepared {
        &self.from_first
    }

    /// The query as it was stated.
    pub(super) fn stated(&self) -> Query {
        let query = self.from_first.query();
        let offset = u32::try_from(self.offset).unwrap_or(u32::MAX);
        let limit = query.limit.map(|limit| limit.saturating_sub(offset));
        Query { offset, limit, ..query.clone() }
    }

    /// How many documents from the first on are in the window or before it, at most.
    fn len_max(&self) -> usize {
        self.from_first.query().limit.map_or(usize::MAX, |limit| limit as usize)
    }
}

/// A window at one state.
pub(super) struct Window {
    query: WindowQuery,
    // INVARIANT: in the order of the query, with every match up to the last one.
    rows: Vec<Row>,
    /// Whether there are no matches after the last row.
    complete: bool,
}

impl Window {
    /// A window that has seen no state yet.
    pub(super) fn new(query: WindowQuery) -> Window {
        Window { query, rows: Vec::new(), complete: false }
    }

    pub(super) fn query(&self) -> &WindowQuery {
        &self.query
    }

    /// What is in the window, in order.
    pub(super) fn rows(&self) -> &[Row] {
        self.rows.get(self.query.offset..).unwrap_or_default()
    }

    /// Runs the query.
    pub(super) fn load(&mut self, snapshot: &Snapshot) {
        self.rows = self.query.prepared().run(snapshot).collect();
        self.complete = self.rows.len() < self.query.len_max();
    }

    /// Goes on to the state after `commit`. Answers whether that was possible: not when documents move up
    /// that were after the last row, for then the query has to run.
    pub(super) fn follow(&mut self, commit: &Commit) -> bool {
        let query = Arc::clone(&self.query.from_first);
        // Of what comes after the edge nothing is known, but that it comes after.
        let edge = if self.complete { None } else { self.rows.last().cloned() };
        self.rows.retain(|row| commit.changes.binary_search_by(|it| it.key.cmp(&row.key)).is_err());
        for change in &commit.changes {
            let after = change.after.as_ref().filter(|after| query.matches(&change.key, after));
            let row = after.and_then(|after| Row::new(change.key.clone(), after.clone()));
            let Some(row) = row else { continue };
            if edge.as_ref().is_none_or(|edge| query.compare(&row, edge).is_le()) {
                let place = self.rows.partition_point(|other| query.compare(other, &row).is_lt());
                self.rows.insert(place, row);
            } else {
                self.complete = false;
            }
        }
        let len_max = self.query.len_max();
        if self.rows.len() > len_max {
            self.rows.truncate(len_max);
            self.complete = false;
        }
        self.complete || self.rows.len() == len_max
    }
}

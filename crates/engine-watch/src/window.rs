//! The matches that a target with bounds knows of: which of them it has depends on the others.
//!
//! They follow commits by themselves as long as they tell enough, so that a busy collection does not have its query
//! run again for every commit.

use engine_store::Commit;

use crate::select::{Bounds, Row, Select};

/// The first matches in one state.
#[derive(Debug)]
pub(crate) struct Window {
    bounds: Bounds,
    // INVARIANT: in order, with every match up to the last one.
    rows: Vec<Row>,
    /// Whether there are no matches after the last row.
    complete: bool,
}

impl Window {
    /// The window whose first matches are `rows`: [`Bounds::held`] of them, or all there are.
    pub(crate) fn new(bounds: Bounds, rows: Vec<Row>) -> Window {
        let complete = rows.len() < bounds.held;
        Window { bounds, rows, complete }
    }

    /// What the target has, in order.
    pub(crate) fn shown(&self) -> &[Row] {
        let end = self.bounds.offset.saturating_add(self.bounds.limit).min(self.rows.len());
        self.rows.get(self.bounds.offset..end).unwrap_or_default()
    }

    /// Goes on to the state after `commit`. Answers whether that was possible: not when documents move up
    /// that were after the last row, for then the query has to run.
    pub(crate) fn follow<S: Select>(&mut self, shape: &S, commit: &Commit) -> bool {
        // Of what comes after the edge nothing is known, but that it comes after.
        let edge = if self.complete { None } else { self.rows.last().cloned() };
        self.rows.retain(|row| commit.changes.binary_search_by(|it| it.key.cmp(&row.key)).is_err());
        for change in &commit.changes {
            let after = change.after.as_ref().filter(|after| shape.matches(&change.key, after));
            let Some(after) = after else { continue };
            let row = Row { key: change.key.clone(), record: after.clone() };
            if edge.as_ref().is_none_or(|edge| shape.compare(&row, edge).is_le()) {
                let place = self.rows.partition_point(|other| shape.compare(other, &row).is_lt());
                self.rows.insert(place, row);
            } else {
                self.complete = false;
            }
        }
        if self.rows.len() > self.bounds.held {
            self.rows.truncate(self.bounds.held);
            self.complete = false;
        }
        self.complete || self.rows.len() >= self.bounds.offset.saturating_add(self.bounds.limit)
    }
}

//! Queries that names alone decide: their keys, and passing an offset by those.

use engine_store::Snapshot;

use super::Prepared;
use crate::document::{Cells, Document};
use crate::index::derive::Composite;
use crate::model::Direction;
use crate::name_key;
use crate::plan::Plan;
use crate::rows::{KeyMatches, Matches, Rows};

impl Prepared {
    /// Runs a query in order of names whose offset is passed by keys alone.
    pub(super) fn run_behind_offset<'s>(
        &'s self,
        snapshot: &'s Snapshot,
        is_unfolded: bool,
    ) -> Option<Rows<'s>> {
        let Plan::Scan(bounds) = &self.plan else { return None };
        if self.query.offset == 0 || !self.reads_no_fields() {
            return None;
        }
        let (mut skipped, mut last) = (0, None);
        let mut keys = self.keys(snapshot);
        for (key, _) in keys.by_ref().take(self.query.offset as usize) {
            skipped += 1;
            last = Some(key);
        }
        let mut bounds = bounds.clone();
        if let Some(key) = last {
            let name = key.slice_ref(name_key::of_key(&key));
            match self.sort.name {
                Direction::Ascending => bounds.start_at(name_key::after(&name)),
                Direction::Descending => bounds.end_at(name),
            }
        }
        let entries = self.scope.walk(snapshot, &bounds, self.sort.name);
        let rest = Rows::stream(Matches::new(self, entries), 0, self, is_unfolded);
        Some(rest.behind(skipped, keys.scanned()))
    }

    /// The keys of everything in the result, were there no offset and no limit, in order of names; for
    /// queries that read no fields.
    pub(crate) fn keys<'s>(&'s self, snapshot: &'s Snapshot) -> KeyMatches<'s> {
        debug_assert!(self.reads_no_fields(), "there are no fields to read");
        KeyMatches::new(self, self.plan.walk(&self.scope, snapshot, self.sort.name))
    }

    /// Same as [`Prepared::accepts`] for a document of that name whose fields nobody reads.
    pub(crate) fn accepts_name(&self, name: &[u8], cells: &mut Cells) -> bool {
        self.accepts(&mut Document::new(name, &[], &self.table, cells))
    }

    /// Which way names are walked.
    pub(crate) fn names_direction(&self) -> Direction {
        match self.plan.runs(&self.scope, self.sort.name) {
            true => self.sort.name,
            false => Direction::Ascending,
        }
    }

    /// The composite indexes that can serve the query.
    pub(crate) fn composites(&self) -> impl Iterator<Item = &Composite> {
        self.indexer.iter().flat_map(|indexer| indexer.composites_for(&self.query))
    }
}

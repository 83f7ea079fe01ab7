//! What of a commit can be done before its turn.

use std::sync::Arc;

use crate::base::Base;
use crate::batch::WriteBatch;
use crate::journal::Encoded;
use crate::record::Record;
use crate::snapshot::Snapshot;
use crate::table::Slot;

/// Writes with as much of the work done as needs no mutex: see [`crate::Store::prepare`].
#[derive(Debug)]
pub struct Prepared {
    pub(crate) batch: WriteBatch,
    /// The record of a kept store's journal, as far as it is known.
    pub(crate) encoded: Option<Encoded>,
    base: Option<Arc<Base>>,
    // INVARIANT: as long as the batch where there is a base, and empty otherwise.
    looked_up: Vec<Option<Slot>>,
}

impl Prepared {
    /// Nothing done beforehand.
    pub(crate) fn unprepared(batch: WriteBatch) -> Prepared {
        Prepared { batch, encoded: None, base: None, looked_up: Vec::new() }
    }

    /// Reads from the base of `snapshot` what the writes meet there, and encodes them if they go to a
    /// journal. What `known` answers is not read.
    pub(crate) fn new(
        batch: WriteBatch,
        snapshot: &Snapshot,
        known: impl Fn(&[u8]) -> Option<Option<Record>>,
        journaled: bool,
    ) -> Prepared {
        let base = snapshot.lower.base.clone();
        let looked_up = match &base {
            None => Vec::new(),
            Some(base) => {
                let look_up = |key: &[u8]| {
                    let is_in_base = snapshot.slot(key).is_none();
                    is_in_base.then(|| known(key).unwrap_or_else(|| base.get(key)))
                };
                batch.iter().map(|(key, _)| look_up(key)).collect()
            }
        };
        // One that is too large is told of when it is applied.
        let encoded = journaled.then(|| Encoded::new(batch.iter()).ok()).flatten();
        Prepared { batch, encoded, base, looked_up }
    }

    /// The writes.
    pub fn batch(&self) -> &WriteBatch {
        &self.batch
    }

    /// The record that operation `index` on `key` meets in `head`, but for its floor.
    pub(crate) fn stored(&self, head: &Snapshot, index: usize, key: &[u8]) -> Option<Record> {
        if let Some(slot) = head.slot(key) {
            return slot.clone();
        }
        let base = head.lower.base.as_ref()?;
        let same = self.base.as_ref().is_some_and(|seen| Arc::ptr_eq(seen, base));
        match self.looked_up.get(index) {
            Some(Some(seen)) if same => seen.clone(),
            _ => base.get(key),
        }
    }
}

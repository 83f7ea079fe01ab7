//! The one who may write.

use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;
use bytes::Bytes;
use parking_lot::MutexGuard;

use crate::batch::{Op, WriteBatch};
use crate::diff::{Difference, Listing, differing};
use crate::error::StoreError;
use crate::journal::{Action, Encoded, Finished, Header, Kind};
use crate::limits::{COPIED_PARTS, COPIED_RECORD_BYTES_MIN, LISTED_BYTES_MAX};
use crate::lower::Lower;
use crate::prepared::Prepared;
use crate::range::KeyRange;
use crate::record::{Change, Commit, Record};
use crate::shared::Head;
use crate::snapshot::{Snapshot, raise};
use crate::store::Store;

/// What [`Writer::clear`] or [`Writer::restore`] did.
#[derive(Debug)]
pub struct Replaced {
    /// The commit. Its changes are empty when there were too many to list.
    pub commit: Commit,
    /// Whether the commit's changes are complete.
    pub listed: bool,
}

/// The one writer of a store, for as long as it lives.
pub struct Writer<'a> {
    // Declared first, so that the mutex is free again before anything large is freed.
    head: MutexGuard<'a, Head>,
    retired: Retired<'a>,
    store: &'a Store,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(store: &'a Store, head: MutexGuard<'a, Head>) -> Writer<'a> {
        Writer { head, retired: Retired { store, state: None }, store }
    }

    /// The newest state.
    pub fn head(&self) -> &Snapshot {
        &self.head.state
    }

    /// Applies `batch`. Where no key changes, the commit has a time of its own and no new version.
    ///
    /// # Errors
    /// The disk's, and [`StoreError::TooLarge`], for a kept store; then nothing was written.
    pub fn apply(&mut self, batch: WriteBatch) -> Result<Commit, StoreError> {
        self.apply_prepared(Prepared::unprepared(batch))
    }

    /// Same as [`Writer::apply`], for writes of which much was done before.
    ///
    /// # Errors
    /// The disk's, and [`StoreError::TooLarge`], for a kept store; then nothing was written.
    pub fn apply_prepared(&mut self, mut prepared: Prepared) -> Result<Commit, StoreError> {
        self.store.shared().check_writable(&self.head)?;
        let time = self.next_time();
        let state = &self.head.state;
        let journaled = self.head.journal.is_some();
        let mut changes = Vec::with_capacity(prepared.batch.len());
        let mut actions = Vec::with_capacity(if journaled { prepared.batch.len() } else { 0 });
        for (index, (key, op)) in prepared.batch.iter().enumerate() {
            let before = prepared.stored(state, index, key);
            let (created, value) = match (op, &before) {
                (Op::Put(value), Some(record)) if record.value == *value => {
                    actions.push(Action::Skip);
                    continue;
                }
                (Op::Put(value), Some(record)) => (record.created, value),
                (Op::Put(value), None) | (Op::Recreate(value), _) => (time, value),
                (Op::Delete, _) => {
                    actions.push(before.as_ref().map_or(Action::Skip, |_| Action::Delete));
                    if let Some(before) = before {
                        let before = Some(raise(before, state.floor));
                        changes.push(Change { key: key.clone(), before, after: None });
                    }
                    continue;
                }
            };
            actions.push(Action::Put(created));
            let after = Some(Record { created, updated: time, value: value.clone() });
            let before = before.map(|record| raise(record, state.floor));
            changes.push(Change { key: key.clone(), before, after });
        }
        state.check()?;
        if journaled && !changes.is_empty() {
            let encoded = match prepared.encoded.take() {
                Some(encoded) => encoded,
                None => Encoded::new(prepared.batch.iter())?,
            };
            let finished = self.append(Kind::Commit, time, &changes, encoded, &actions)?;
            keep_slices(&mut changes, &finished, &actions);
        }
        Ok(self.finish(time, changes))
    }

    /// Makes the store hold what `snapshot` shows. Every key whose value differs, or when it was created, is a change
    /// of this one commit and gets its time as `updated` (so that times never go back for who has seen newer
    /// ones); `created` is as in the snapshot. In memory, where more than `changes_len_max` keys may differ,
    /// or what differs is large, nothing is listed, every record counts as updated now, and it costs the same
    /// however much there is. A kept store always lists, as what differs has to be written: in memory and time it costs
    /// what one commit of all of it would, which `docs/internals/store/limits.md` says more of.
    ///
    /// # Errors
    /// The disk's, and [`StoreError::TooLarge`], for a kept store; then nothing was changed.
    pub fn restore(
        &mut self,
        snapshot: &Snapshot,
        changes_len_max: usize,
    ) -> Result<Replaced, StoreError> {
        let is_kept = self.head.journal.is_some();
        let listing = if is_kept { Listing::All } else { Listing::UpTo(changes_len_max) };
        self.restore_listing(snapshot, listing)
    }

    /// Same as [`Writer::restore`], with `listing` for kept stores too.
    pub(crate) fn restore_listing(
        &mut self,
        snapshot: &Snapshot,
        listing: Listing,
    ) -> Result<Replaced, StoreError> {
        self.store.shared().check_open(&self.head)?;
        self.head.state.time = self.head.state.time.max(snapshot.time);
        let time = self.next_time();
        let Some(differing) = differing(&self.head.state, snapshot, listing) else {
            return Ok(self.swap(snapshot, time));
        };
        self.head.state.check()?;
        snapshot.check()?;
        let commit = self.write_differing(time, differing)?;
        Ok(Replaced { commit, listed: true })
    }

    fn write_differing(
        &mut self,
        time: UnixMicros,
        differing: Vec<Difference>,
    ) -> Result<Commit, StoreError> {
        let mut batch = WriteBatch::new();
        let mut actions = Vec::with_capacity(differing.len());
        let mut changes = Vec::with_capacity(differing.len());
        for Difference { key, from, to } in differing {
            let after = to.map(|record| Record { updated: time, ..record });
            actions.push(after.as_ref().map_or(Action::Delete, |after| Action::Put(after.created)));
            if self.head.journal.is_some() {
                let op = after.as_ref().map_or(Op::Delete, |after| Op::Put(after.value.clone()));
                batch.set(key.clone(), op);
            }
            changes.push(Change { key, before: from, after });
        }
        if self.head.journal.is_some() && !changes.is_empty() {
            let encoded = Encoded::new(batch.iter())?;
            let finished = self.append(Kind::Commit, time, &changes, encoded, &actions)?;
            keep_slices(&mut changes, &finished, &actions);
        }
        Ok(self.finish(time, changes))
    }

    /// Puts another state in the place of the head.
    fn swap(&mut self, snapshot: &Snapshot, time: UnixMicros) -> Replaced {
        debug_assert!(self.head.journal.is_none(), "a kept store writes what differs");
        let settings = self.store.shared().settings();
        let mut state = snapshot.unbound();
        let wanted = settings.derive.fingerprint();
        if state.lower.base.as_ref().is_some_and(|base| base.fingerprint != wanted) {
            // The next one derives anew; until then queries do without what this base does not have.
            self.store.request_fold();
        }
        if !Arc::ptr_eq(&state.lower.settings, &settings) {
            state.lower = Arc::new(Lower {
                frozen: state.lower.frozen.clone(),
                base: state.lower.base.clone(),
                settings,
            });
        }
        state.version = self.head.state.version.next();
        state.time = time;
        state.floor = time;
        let version = state.version;
        self.retired.state = Some(std::mem::replace(&mut self.head.state, state));
        let commit = Commit { version, time, changes: Vec::new() };
        Replaced { commit, listed: false }
    }

    /// Removes every key. Up to `changes_len_max` keys are listed as changes, if their records are not large
    /// together; above that nothing is listed, and the cost does not depend on how much there is.
    ///
    /// # Errors
    /// The disk's; then nothing was changed.
    pub fn clear(&mut self, changes_len_max: usize) -> Result<Replaced, StoreError> {
        self.store.shared().check_open(&self.head)?;
        let time = self.next_time();
        let listed = self.head.state.len <= changes_len_max && self.is_listed_quickly();
        let mut changes = Vec::new();
        if listed {
            changes.extend(self.head.state.range(&KeyRange::all()).map(|entry| {
                let (key, record) = entry.into_owned();
                Change { key, before: Some(record), after: None }
            }));
            self.head.state.check()?;
            if changes.is_empty() {
                return Ok(Replaced { commit: self.finish(time, changes), listed });
            }
        }
        if self.head.journal.is_some() {
            let nothing = WriteBatch::new();
            self.append(Kind::Clear, time, &[], Encoded::new(nothing.iter())?, &[])?;
        }
        let state = &self.head.state;
        let lower = Lower::empty(self.store.shared().settings());
        let empty = Snapshot { version: state.version.next(), ..Snapshot::with(lower, time) };
        let old = std::mem::replace(&mut self.head.state, empty);
        if self.head.journal.is_some() && old.lower.base.is_some() {
            // So that the file gives up what nobody can see any more.
            self.store.request_fold();
        }
        self.retired.state = Some(old);
        let commit = Commit { version: self.head.state.version, time, changes };
        Ok(Replaced { commit, listed })
    }

    /// Whether the records are few bytes, as far as their keys tell.
    fn is_listed_quickly(&self) -> bool {
        let mut bytes = 0;
        self.head.state.heads(&KeyRange::all()).all(|(_, head)| {
            bytes += head.value_len;
            bytes <= LISTED_BYTES_MAX
        })
    }

    fn next_time(&self) -> UnixMicros {
        let after_last = UnixMicros(self.head.state.time.0.saturating_add(1));
        self.store.shared().env.now().max(after_last)
    }

    /// Writes the record of the next version. After an error nothing has changed.
    fn append(
        &mut self,
        kind: Kind,
        time: UnixMicros,
        changes: &[Change],
        encoded: Encoded,
        actions: &[Action],
    ) -> Result<Finished, StoreError> {
        let Head { state, journal, .. } = &mut *self.head;
        let len = match kind {
            Kind::Commit => changed_len(state.len, changes),
            Kind::Clear => 0,
        };
        let version = state.version.next();
        let synced = self.store.shared().syncing.synced();
        let header = Header { kind, version, time, synced, len: len as u64 };
        // Without one the store was closed, which was looked at before.
        let Some(journal) = journal else { return Err(StoreError::Closed) };
        let finished = encoded.finish(&header, journal.seal(), actions.iter().copied());
        journal.append(finished.bytes(), version)?;
        if journal.asks_for_spare() {
            self.store.shared().syncing.wake();
        }
        Ok(finished)
    }

    fn finish(&mut self, time: UnixMicros, changes: Vec<Change>) -> Commit {
        let state = &mut self.head.state;
        for change in &changes {
            state.set(change.key.clone(), change.after.clone());
        }
        state.len = changed_len(state.len, &changes);
        if !changes.is_empty() {
            state.version = state.version.next();
        }
        state.time = time;
        let commit = Commit { version: state.version, time, changes };
        self.store.shared().fold_if_large(&self.head);
        commit
    }
}

fn changed_len(len: usize, changes: &[Change]) -> usize {
    len.saturating_add_signed(changes.iter().map(Change::len_change).sum())
}

/// Lets the changes share the bytes of the record that was written, instead of keeping alive whatever
/// their keys and values came in. What is small in a large record is copied, so that it does not keep that.
fn keep_slices(changes: &mut [Change], finished: &Finished, actions: &[Action]) {
    let len = finished.bytes().len();
    let copied_below = if len < COPIED_RECORD_BYTES_MIN { 0 } else { len / COPIED_PARTS };
    let done = actions.iter().enumerate().filter(|(_, action)| **action != Action::Skip);
    for (change, (op, _)) in changes.iter_mut().zip(done) {
        let Some((key, value)) = finished.slices(op) else { continue };
        debug_assert_eq!(change.key, key, "changes are in the order of the operations");
        let (key, value) = if key.len() + value.len() < copied_below {
            (Bytes::copy_from_slice(&key), Bytes::copy_from_slice(&value))
        } else {
            (key, value)
        };
        change.key = key;
        if let Some(after) = &mut change.after {
            after.value = value;
        }
    }
}

impl fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").field("head", &self.head.state).finish_non_exhaustive()
    }
}

/// A state that was replaced, freed when the writer has let go of the mutex.
struct Retired<'a> {
    store: &'a Store,
    state: Option<Snapshot>,
}

impl Drop for Retired<'_> {
    fn drop(&mut self) {
        if let Some(state) = self.state.take() {
            // A base may be closed with it, which takes its time too.
            let len = if state.lower.is_empty() { state.len } else { usize::MAX };
            self.store.retire(state, len);
        }
    }
}

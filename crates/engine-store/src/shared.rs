//! What a store shares with its threads.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Weak};

use base_env::Env;
use parking_lot::{Condvar, Mutex, RwLock};

use crate::base::BaseFile;
use crate::error::StoreError;
use crate::folding::Folding;
use crate::journal::{Folder, Journal};
use crate::limits::PRESSURE_FOLDS;
use crate::lower::Settings;
use crate::room::Room;
use crate::snapshot::Snapshot;
use crate::sync::Syncing;

/// The newest state, and what a commit does to it.
#[derive(Debug)]
pub(crate) struct Head {
    // INVARIANT: `state.time` is at or after every time given out, by a commit or a snapshot.
    pub(crate) state: Snapshot,
    /// Where commits are written first, in a kept store.
    pub(crate) journal: Option<Journal>,
    pub(crate) closed: bool,
}

impl Head {
    /// Bytes that the base does not hold yet.
    pub(crate) fn unfolded_bytes(&self) -> usize {
        self.state.table_bytes + self.state.lower.frozen_bytes()
    }
}

/// The state of a store and what its threads do with it. Locks are taken in this order: the one fold,
/// the one sync or the one who makes a segment beforehand, head; none of the others while head is held. What may be
/// taken while head is held is never held over anything that takes its time: the state of the folding thread, those
/// who wait for room, and the segment that was made beforehand.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) env: Env,
    /// Changed as a whole, and only in what is derived.
    pub(crate) settings: RwLock<Arc<Settings>>,
    /// That of the settings, for every commit to look at.
    pub(crate) fold_bytes: usize,
    pub(crate) head: Mutex<Head>,
    /// Told after each fold, whether it succeeded or not.
    pub(crate) folded: Condvar,
    /// Told with it.
    pub(crate) room: Room,
    pub(crate) folding: Folding,
    /// Set when the store closes: a fold under way gives up then.
    pub(crate) closing: AtomicBool,
    pub(crate) syncing: Syncing,
    /// The folder of a kept store.
    pub(crate) folder: Option<Arc<Folder>>,
    /// The base file that this store writes to, held while a fold does.
    pub(crate) own_file: Mutex<OwnFile>,
}

/// The base file that a store writes to.
#[derive(Debug, Default)]
pub(crate) struct OwnFile {
    kept: Option<Arc<BaseFile>>,
    /// A temporary one is its bases' alone: where no state of it is shown any more, it gives its room back.
    temporary: Weak<BaseFile>,
}

impl OwnFile {
    /// That of a kept store, if there is one yet.
    pub(crate) fn kept(kept: Option<Arc<BaseFile>>) -> OwnFile {
        OwnFile { kept, temporary: Weak::new() }
    }

    pub(crate) fn get(&self) -> Option<Arc<BaseFile>> {
        self.kept.clone().or_else(|| self.temporary.upgrade())
    }

    pub(crate) fn set(&mut self, file: &Arc<BaseFile>) {
        if file.is_temporary() {
            self.temporary = Arc::downgrade(file);
        } else {
            self.kept = Some(Arc::clone(file));
        }
    }
}

impl Shared {
    /// The settings now. Their lock is not held while another one is taken.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read())
    }

    /// Whether so much is unfolded that writers have to wait.
    pub(crate) fn is_under_pressure(&self, head: &Head) -> bool {
        head.unfolded_bytes() > self.fold_bytes.saturating_mul(PRESSURE_FOLDS)
            || head.journal.as_ref().is_some_and(Journal::is_tail_too_long)
    }

    /// Whether a write has to wait for a fold now. The fold is asked for then.
    pub(crate) fn waits_for_room(self: &Arc<Shared>, head: &Head) -> bool {
        if !self.is_under_pressure(head) || head.closed {
            return false;
        }
        self.folding.request(self);
        // Where it cannot be, waiting would not help: the write is told.
        self.folding.check().is_ok()
    }

    /// Tells those who wait for room that they may look again. Called while a panic unwinds too: those who wait by
    /// a callback are let go then instead, as another panic would end the process.
    pub(crate) fn tell_of_room(&self) {
        let waiters = {
            // Who has looked, and does not wait yet, holds this.
            let _head = self.head.lock();
            self.folded.notify_all();
            self.room.take()
        };
        if !std::thread::panicking() {
            waiters.into_iter().for_each(|waiter| waiter());
        }
    }

    /// Whether anything may be changed now.
    pub(crate) fn check_open(&self, head: &Head) -> Result<(), StoreError> {
        if head.closed { Err(StoreError::Closed) } else { self.syncing.check() }
    }

    /// Whether anything may be added now.
    pub(crate) fn check_writable(&self, head: &Head) -> Result<(), StoreError> {
        self.check_open(head)?;
        if self.is_under_pressure(head) { self.folding.check() } else { Ok(()) }
    }

    /// Starts a fold after a commit, if it is time for one.
    pub(crate) fn fold_if_large(self: &Arc<Shared>, head: &Head) {
        let is_large = head.state.table_bytes >= self.fold_bytes
            || head.journal.as_ref().is_some_and(Journal::is_tail_long);
        if is_large && head.state.lower.frozen.is_none() {
            self.folding.request(self);
        }
    }
}

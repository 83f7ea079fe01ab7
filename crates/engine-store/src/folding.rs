//! Folding: moving records from memory into the base, on a thread of its own.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use base_env::thread;
use parking_lot::Mutex;

use crate::base::{Base, BaseFile, CacheBudget, Fold};
use crate::disk::Scratch;
use crate::error::StoreError;
use crate::journal::{Folder, Journal};
use crate::limits::{FILE_SLACK_FOLDS, FOLD_RETRY_INTERVAL};
use crate::lower::{Frozen, Lower, Settings};
use crate::record::Version;
use crate::shared::{Head, OwnFile, Shared};
use crate::table::Table;

/// The one fold thread of a store. It runs only while there is something to fold.
#[derive(Debug, Default)]
pub(crate) struct Folding {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    // INVARIANT: while `running` is set, the thread looks at `wanted` again before it ends.
    wanted: bool,
    running: bool,
    /// The store is closed, and nothing is folded any more.
    closed: bool,
    thread: Option<JoinHandle<()>>,
    /// Why the newest fold failed, if it did, and when.
    failed: Option<(StoreError, Duration)>,
}

impl Folding {
    /// Folds soon, and never waits for it. Not at once after a fold that failed, and not in a store that is closed.
    pub(crate) fn request(&self, shared: &Arc<Shared>) {
        let mut state = self.state.lock();
        if state.closed {
            return;
        }
        let now = shared.env.monotonic();
        if state.failed.as_ref().is_some_and(|(_, at)| now < *at + FOLD_RETRY_INTERVAL) {
            return;
        }
        // Who waits for room waits for this attempt, instead of being told of the one before.
        state.failed = None;
        state.wanted = true;
        if state.running {
            return;
        }
        // A thread of before has found nothing more to do and is at its end.
        join(state.thread.take());
        let work = {
            let shared = Arc::clone(shared);
            move || fold_while_wanted(&shared)
        };
        match thread::spawn("store-fold", work) {
            Ok(thread) => {
                state.running = true;
                state.thread = Some(thread);
            }
            Err(error) => {
                state.wanted = false;
                let error =
                    StoreError::io("start a thread for", &shared.settings().scratch.dir, &error);
                state.failed = Some((error, now));
            }
        }
    }

    /// Whether a fold is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.state.lock().running
    }

    /// Why the newest fold failed.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.state.lock().failed.as_ref().map_or(Ok(()), |(error, _)| Err(error.clone()))
    }

    /// Ends the fold under way, which gives up as the store is closing, and lets no other one begin.
    pub(crate) fn stop(&self) {
        let thread = {
            let mut state = self.state.lock();
            state.closed = true;
            state.wanted = false;
            state.thread.take()
        };
        join(thread);
    }

    fn finished(&self, shared: &Shared, result: Result<(), StoreError>) {
        let failed = result.err().map(|error| (error, shared.env.monotonic()));
        self.state.lock().failed = failed;
    }
}

fn join(thread: Option<JoinHandle<()>>) {
    if let Some(thread) = thread {
        // It has no result, and a panic in it has been reported.
        let _ = thread.join();
    }
}

/// Clears `running` where a panic ends the thread: it would be waited for without end.
struct Running<'a> {
    shared: &'a Shared,
    ended: bool,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if self.ended {
            return;
        }
        {
            let mut state = self.shared.folding.state.lock();
            state.running = false;
            state.wanted = false;
            let error = StoreError::Panicked { doing: "fold" };
            state.failed = Some((error, self.shared.env.monotonic()));
        }
        self.shared.tell_of_room();
    }
}

fn fold_while_wanted(shared: &Shared) {
    let mut running = Running { shared, ended: false };
    loop {
        {
            let mut state = shared.folding.state.lock();
            if !state.wanted {
                state.running = false;
                running.ended = true;
                return;
            }
            state.wanted = false;
        }
        // Who asks is told of an error by `check`.
        let _ = fold(shared);
    }
}

/// Brings everything that is in memory now into the base.
pub(crate) fn fold(shared: &Shared) -> Result<(), StoreError> {
    let result = {
        let mut own_file = shared.own_file.lock();
        if shared.closing.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        fold_all(shared, &mut own_file)
    };
    shared.folding.finished(shared, result.clone());
    shared.tell_of_room();
    result
}

fn fold_all(shared: &Shared, own: &mut OwnFile) -> Result<(), StoreError> {
    settle(shared, own)?;
    // What an earlier fold could not finish comes first.
    let unfinished = shared.head.lock().state.lower.frozen.is_some();
    fold_frozen(shared, own)?;
    if unfinished { fold_frozen(shared, own) } else { Ok(()) }
}

/// Brings what an earlier fold left in memory to the disk, which was full then. What the journal holds of it is
/// not needed any more after that.
fn settle(shared: &Shared, own: &OwnFile) -> Result<(), StoreError> {
    let Some(file) = own.get().filter(|file| file.is_full()) else { return Ok(()) };
    let covered = {
        let head = shared.head.lock();
        let base = head.state.lower.base.as_ref().filter(|base| Arc::ptr_eq(base.file(), &file));
        // A state that was cleared or replaced is left behind with its file.
        let Some(base) = base else { return Ok(()) };
        base.version
    };
    file.settle()?;
    remove_covered(shared, covered)
}

/// Removes what the journal holds up to a version that the base has on the disk.
fn remove_covered(shared: &Shared, folded: Version) -> Result<(), StoreError> {
    let Some(folder) = &shared.folder else { return Ok(()) };
    let covered = shared.head.lock().journal.as_mut().map(|journal| journal.take_covered(folded));
    folder.remove(&covered.unwrap_or_default())
}

/// Folds what is frozen, or else freezes the table and folds that.
fn fold_frozen(shared: &Shared, own: &mut OwnFile) -> Result<(), StoreError> {
    let settings = shared.settings();
    let Some((lower, frozen)) = freeze(shared, own, &settings)? else { return Ok(()) };
    // What is in the journal so far is not in the way of writers any more.
    shared.tell_of_room();
    let base = write(shared, own, &settings, &frozen, lower.base.as_ref())?;
    let file = Arc::clone(base.file());
    {
        let mut head = shared.head.lock();
        // Where the state was cleared or replaced meanwhile, the fold was for nothing.
        if Arc::ptr_eq(&head.state.lower, &lower) {
            head.state.lower = Arc::new(Lower { frozen: None, base: Some(base), settings });
        }
    }
    shared.tell_of_room();
    let folded = frozen.version;
    // The records themselves go here, which takes its time, unless a snapshot still shows them.
    drop((lower, frozen));
    // Where there was no room for the end of it, the journal stays until there is.
    file.settle()?;
    remove_covered(shared, folded)
}

/// Takes the table out of the way of writers. `None` when there is nothing to fold.
fn freeze(
    shared: &Shared,
    own: &OwnFile,
    settings: &Arc<Settings>,
) -> Result<Option<(Arc<Lower>, Frozen)>, StoreError> {
    let spare = shared.head.lock().journal.as_ref().and_then(Journal::spare_for_fold);
    if let Some(spare) = spare {
        // So that no commit waits while room is reserved.
        spare.make();
    }
    let mut head = shared.head.lock();
    let Head { state, journal, .. } = &mut *head;
    if let Some(frozen) = state.lower.frozen.clone() {
        return Ok(Some((Arc::clone(&state.lower), frozen)));
    }
    // A cleared store has nothing to write, but its file has something to forget, or its journal.
    let forgets = shared.folder.is_some() && own.get().is_some() && state.lower.base.is_none();
    if state.table.is_empty()
        && !forgets
        && !journal.as_ref().is_some_and(Journal::is_tail_long)
        && !is_derived_otherwise(state.lower.base.as_ref(), settings)
    {
        return Ok(None);
    }
    if let Some(journal) = journal {
        // What the fold covers is in files of its own then, which it can remove.
        journal.rotate_for_fold()?;
    }
    let frozen = Frozen {
        table: std::mem::replace(&mut state.table, Table::new()),
        bytes: std::mem::take(&mut state.table_bytes),
        version: state.version,
        time: state.time,
        len: state.len,
    };
    let settings = Arc::clone(settings);
    let base = state.lower.base.clone();
    state.lower = Arc::new(Lower { frozen: Some(frozen.clone()), base, settings });
    Ok(Some((Arc::clone(&state.lower), frozen)))
}

/// Whether a base holds other entries than are wanted.
fn is_derived_otherwise(base: Option<&Arc<Base>>, settings: &Settings) -> bool {
    base.is_some_and(|base| base.fingerprint != settings.derive.fingerprint())
}

/// Writes a fold into the file it belongs in.
fn write(
    shared: &Shared,
    own: &mut OwnFile,
    settings: &Settings,
    frozen: &Frozen,
    base: Option<&Arc<Base>>,
) -> Result<Arc<Base>, StoreError> {
    let cache = &settings.cache;
    let fold = Fold {
        records: &frozen.table,
        version: frozen.version,
        time: frozen.time,
        len: frozen.len,
        derive: &*settings.derive,
        scratch: &settings.scratch,
        cancelled: &shared.closing,
    };
    if let Some(base) = base.filter(|_| is_derived_otherwise(base, settings)) {
        if shared.folder.is_some() {
            // A kept store's base is always its own newest one, over no other.
            return fold.deriving(base.file(), base);
        }
        let file = BaseFile::temporary(&settings.scratch, cache.share())?;
        let derived = fold.deriving(&file, base)?;
        own.set(&file);
        return Ok(derived);
    }
    let Some(base) = base else { return write_first(shared, own, cache, &settings.scratch, &fold) };
    let is_own = own.get().is_some_and(|file| Arc::ptr_eq(base.file(), &file));
    let slack_bytes = settings.fold_bytes.saturating_mul(FILE_SLACK_FOLDS);
    match &shared.folder {
        _ if is_own && base.is_tip() && !base.is_outgrown(slack_bytes) => fold.onto(base),
        Some(folder) if cfg!(unix) => {
            replace_kept(folder, own, cache, |file| fold.moving(file, base))
        }
        // Elsewhere a name is not taken from a file that is open.
        Some(_) if base.is_tip() => fold.onto(base),
        // What the file holds beyond this state was written and then could not be read: it is written again.
        Some(_) => fold.moving(base.file(), base),
        None => {
            let file = BaseFile::temporary(&settings.scratch, cache.share())?;
            let is_moved = is_own && base.is_tip();
            let written = if is_moved { fold.moving(&file, base) } else { fold.over(&file, base) }?;
            own.set(&file);
            Ok(written)
        }
    }
}

/// Writes a fold where there is no base, or none any more: the store was cleared.
fn write_first(
    shared: &Shared,
    own: &mut OwnFile,
    cache: &CacheBudget,
    scratch: &Scratch,
    fold: &Fold<'_>,
) -> Result<Arc<Base>, StoreError> {
    let file = match (&shared.folder, own.get()) {
        // Another file gives all the room of this one back, even where none is left to begin with.
        (Some(folder), Some(_)) if cfg!(unix) => {
            return replace_kept(folder, own, cache, |file| fold.onto_nothing(file));
        }
        (Some(_), Some(file)) => file,
        (Some(folder), None) => kept_file(folder, cache)?,
        (None, _) => BaseFile::temporary(scratch, cache.share())?,
    };
    own.set(&file);
    fold.onto_nothing(&file)
}

/// Makes a base in another file, which takes the name of the old one when all of it is on the disk.
pub(crate) fn replace_kept(
    folder: &Arc<Folder>,
    own: &mut OwnFile,
    cache: &CacheBudget,
    write: impl FnOnce(&Arc<BaseFile>) -> Result<Arc<Base>, StoreError>,
) -> Result<Arc<Base>, StoreError> {
    let new = folder.new_base_path()?;
    let make = || {
        let file = BaseFile::kept(folder, &new, cache.whole())?;
        let base = write(&file)?;
        file.settle()?;
        folder.rename(&new, &folder.base_path())?;
        file.renamed(folder.base_path());
        Ok((file, base))
    };
    let (file, base) = make().inspect_err(|_| {
        // It would take the room that is wanted. Where that fails too, the next attempt does it.
        let _ = folder.remove(std::slice::from_ref(&new));
    })?;
    // The old file has no name any more, whatever follows: nothing may be folded into it.
    own.set(&file);
    folder.sync_names()?;
    Ok(base)
}

/// The base file of a kept store, new or found.
pub(crate) fn kept_file(
    folder: &Arc<Folder>,
    cache: &CacheBudget,
) -> Result<Arc<BaseFile>, StoreError> {
    let path = folder.base_path();
    if !folder.has_base()? {
        // It appears under its name when it can be opened: a crash leaves no half-made one there.
        let new = folder.new_base_path()?;
        let file = BaseFile::kept(folder, &new, cache.whole())?;
        file.settle()?;
        drop(file);
        folder.rename(&new, &path)?;
    }
    // The name may also be that of an attempt which got no further.
    folder.sync_names()?;
    BaseFile::kept(folder, &path, cache.whole())
}

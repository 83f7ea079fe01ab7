//! Making the files of a kept store as small as they can be, when somebody asks for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::Fold;
use crate::error::StoreError;
use crate::folding::{fold, replace_kept};
use crate::journal::Journal;
use crate::limits::BASE_GROWTH;
use crate::lower::Lower;
use crate::shared::Shared;
use crate::table::Table;

/// Folds everything, and writes the base of a kept store into a new file, as one run and with no room to spare. What
/// is in the journal alone stays there where a base would be larger.
pub(crate) fn compact(shared: &Shared) -> Result<(), StoreError> {
    if !is_worth_a_base(shared)? {
        return Ok(());
    }
    fold(shared)?;
    let Some(folder) = shared.folder.as_ref().filter(|_| cfg!(unix)) else {
        // Elsewhere a name is not taken from a file that is open.
        return Ok(());
    };
    let mut own = shared.own_file.lock();
    if shared.closing.load(Ordering::Acquire) {
        return Err(StoreError::Closed);
    }
    let settings = shared.settings();
    let base = shared.head.lock().state.lower.base.clone();
    let Some(base) = base.filter(|base| base.fingerprint == settings.derive.fingerprint()) else {
        // There is none, or the next fold writes all of it anew.
        return Ok(());
    };
    let records = Table::new();
    let fold = Fold {
        records: &records,
        version: base.version,
        time: base.time,
        len: base.len,
        derive: &*settings.derive,
        scratch: &settings.scratch,
        cancelled: &shared.closing,
    };
    let moved = replace_kept(folder, &mut own, &settings.cache, |file| fold.moving(file, &base))?;
    let mut head = shared.head.lock();
    let lower = &head.state.lower;
    // Where the state was cleared or replaced meanwhile, the next fold puts that in place of this.
    if lower.base.as_ref().is_some_and(|newest| Arc::ptr_eq(newest, &base)) {
        let frozen = lower.frozen.clone();
        head.state.lower = Arc::new(Lower { frozen, base: Some(moved), settings });
    }
    Ok(())
}

/// Whether there is a base, or one would be smaller than the journal: one that says little but much of it often.
fn is_worth_a_base(shared: &Shared) -> Result<bool, StoreError> {
    let Some(folder) = &shared.folder else { return Ok(false) };
    let (closed, records) = {
        let head = shared.head.lock();
        if !head.state.lower.is_empty() {
            return Ok(true);
        }
        let closed = head.journal.as_ref().map(Journal::closed_paths).unwrap_or_default();
        (closed, head.state.table_bytes as u64)
    };
    let mut bytes = 0;
    for path in &closed {
        let size = folder.disk.open(path, false).and_then(|file| file.size());
        bytes += size.map_err(|error| StoreError::io("read", path, &error))?;
    }
    Ok(bytes > records.saturating_mul(BASE_GROWTH))
}

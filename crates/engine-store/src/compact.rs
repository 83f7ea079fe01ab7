//! Making the files of a kept store as small as they can be, when somebody asks for it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::base::Fold;
use crate::error::StoreError;
use crate::folding::{fold, replace_kept};
use crate::lower::Lower;
use crate::shared::Shared;
use crate::table::Table;

/// Folds everything, and writes the base of a kept store into a new file, as one run and with no room to spare.
pub(crate) fn compact(shared: &Shared) -> Result<(), StoreError> {
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

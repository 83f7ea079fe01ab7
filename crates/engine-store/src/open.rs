//! Finding a kept store again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::base::{Base, BaseFile, Fold};
use crate::error::StoreError;
use crate::folding::kept_file;
use crate::journal::{Folder, Journal, Recovered, recover};
use crate::lower::{Lower, Settings};
use crate::options::StoreOptions;
use crate::record::Version;
use crate::snapshot::Snapshot;
use crate::table::{Table, entry_bytes};

/// What was found.
pub(crate) struct Opened {
    pub(crate) folder: Arc<Folder>,
    pub(crate) file: Option<Arc<BaseFile>>,
    pub(crate) state: Snapshot,
    pub(crate) journal: Journal,
}

impl Opened {
    /// Reads the base and what the journal holds beyond it, and makes both ready to go on.
    pub(crate) fn find(
        options: &StoreOptions,
        dir: &Path,
        settings: &Arc<Settings>,
    ) -> Result<Opened, StoreError> {
        let folder = Arc::new(Folder::open(Arc::clone(&options.disk), dir, &options.env)?);
        let (file, base) = find_base(&folder, settings)?;
        let folded = base.as_ref().map_or(Version::ZERO, |base| base.version);
        let recovered = recover(&folder, folded)?;
        let Recovered { table, cleared, last, closed, next_number } = recovered;
        let (version, time, len) = match (&last, &base) {
            (Some(last), _) => *last,
            (None, Some(base)) => (base.version, base.time, base.len),
            (None, None) => (Version::ZERO, options.env.now(), 0),
        };
        let base = base.filter(|_| !cleared);
        let lower = Lower { frozen: None, base, settings: Arc::clone(settings) };
        // Over nothing there is nothing to delete.
        let table: Table = if lower.is_empty() {
            table.into_iter().filter(|(_, slot)| slot.is_some()).collect()
        } else {
            table
        };
        let table_bytes = table.iter().map(|(key, slot)| entry_bytes(key.len(), slot)).sum();
        let mut state = Snapshot::with(Arc::new(lower), time.max(options.env.now()));
        state.table = table;
        state.table_bytes = table_bytes;
        state.version = version;
        state.len = len;
        let segment_bytes = options.segment_bytes;
        let mut journal =
            Journal::new(Arc::clone(&folder), next_number, segment_bytes, closed, version)?;
        folder.remove(&journal.take_covered(folded))?;
        Ok(Opened { folder, file, state, journal })
    }
}

type FoundBase = (Option<Arc<BaseFile>>, Option<Arc<Base>>);

fn find_base(folder: &Arc<Folder>, settings: &Settings) -> Result<FoundBase, StoreError> {
    if !folder.has_base()? {
        return Ok((None, None));
    }
    let file = kept_file(folder, &settings.cache)?;
    let Some(base) = file.newest(0, None)?.map(Arc::new) else { return Ok((Some(file), None)) };
    let derive = &*settings.derive;
    if base.fingerprint == derive.fingerprint() {
        return Ok((Some(file), Some(base)));
    }
    let records = Table::new();
    let (version, time, len) = (base.version, base.time, base.len);
    let scratch = &settings.scratch;
    let cancelled = &AtomicBool::new(false);
    let fold = Fold { records: &records, version, time, len, derive, scratch, cancelled };
    let base = fold.deriving(base.file(), &base)?;
    Ok((Some(file), Some(base)))
}

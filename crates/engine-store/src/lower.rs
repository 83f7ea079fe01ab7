//! What lies under the records of a snapshot that are still being added to.

use std::fmt;
use std::sync::Arc;

use base_env::UnixMicros;

use crate::base::{Base, CacheBudget};
use crate::derive::{Derive, NoDerive};
use crate::disk::Scratch;
use crate::limits::{CACHE_BYTES, FOLD_BYTES};
use crate::record::Version;
use crate::table::Table;

/// The parts of a state that only folds change.
#[derive(Debug)]
pub(crate) struct Lower {
    /// What is being folded into the base, or waits for it.
    pub(crate) frozen: Option<Frozen>,
    pub(crate) base: Option<Arc<Base>>,
    pub(crate) settings: Arc<Settings>,
}

/// Records that are no longer added to.
#[derive(Clone, Debug)]
pub(crate) struct Frozen {
    pub(crate) table: Table,
    pub(crate) bytes: usize,
    /// The state to which they lead.
    pub(crate) version: Version,
    pub(crate) time: UnixMicros,
    pub(crate) len: usize,
}

/// How a store folds. Its snapshots carry it along, so that a fork folds in the same way.
pub(crate) struct Settings {
    /// Where temporary files go.
    pub(crate) scratch: Scratch,
    pub(crate) derive: Arc<dyn Derive>,
    pub(crate) cache: CacheBudget,
    pub(crate) fold_bytes: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            scratch: Scratch::default(),
            derive: Arc::new(NoDerive),
            cache: CacheBudget::new(CACHE_BYTES),
            fold_bytes: FOLD_BYTES,
        }
    }
}

impl Settings {
    /// The same, but for what is derived.
    pub(crate) fn with(&self, derive: Arc<dyn Derive>) -> Settings {
        Settings {
            scratch: self.scratch.clone(),
            derive,
            cache: self.cache.clone(),
            fold_bytes: self.fold_bytes,
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings").field("fold_bytes", &self.fold_bytes).finish_non_exhaustive()
    }
}

impl Lower {
    /// Nothing.
    pub(crate) fn empty(settings: Arc<Settings>) -> Arc<Lower> {
        Arc::new(Lower { frozen: None, base: None, settings })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frozen.is_none() && self.base.is_none()
    }

    pub(crate) fn frozen_bytes(&self) -> usize {
        self.frozen.as_ref().map_or(0, |frozen| frozen.bytes)
    }
}

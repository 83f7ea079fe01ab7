//! Where a store keeps its records, and how safely.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use base_env::Env;

use crate::derive::{Derive, NoDerive};
use crate::disk::{Disk, RealDisk};
use crate::limits::{CACHE_BYTES, FOLD_BYTES, SEGMENT_BYTES};

/// Where the records of a store live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In memory. What outgrows it goes to a temporary file, made when first needed and removed in the
    /// end.
    Memory {
        /// The folder for the temporary file.
        scratch: PathBuf,
    },
    /// In a folder, to be found there again.
    Kept {
        /// The folder, of this store alone. It is made where it is missing.
        dir: PathBuf,
    },
}

/// What must have happened to a commit in a kept store before it is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// It was handed to the operating system, and is on the disk about a second later: a killed process
    /// loses nothing, a power cut at most the last second.
    #[default]
    WriteBehind,
    /// It is on the disk: a power cut loses nothing.
    PerCommit,
}

/// How to open a store.
#[derive(Clone)]
pub struct StoreOptions {
    /// The suite's clock.
    pub env: Env,
    /// Where the records live.
    pub place: Place,
    /// What an acknowledged commit has survived; without a meaning in [`Place::Memory`].
    pub durability: Durability,
    /// What the base holds beside the records.
    pub derive: Arc<dyn Derive>,
    /// Memory for pages of the base.
    pub cache_bytes: usize,
    /// Bytes of unfolded records that start a fold. At twice as much, writers wait for it.
    pub fold_bytes: usize,
    /// Room of one file of the journal, reserved on the disk at once.
    pub segment_bytes: u64,
    /// The disk of a kept store and of temporary files.
    pub disk: Arc<dyn Disk>,
}

impl StoreOptions {
    /// A store in memory, with the usual bounds.
    pub fn memory(env: Env) -> StoreOptions {
        StoreOptions {
            env,
            place: Place::Memory { scratch: std::env::temp_dir() },
            durability: Durability::default(),
            derive: Arc::new(NoDerive),
            cache_bytes: CACHE_BYTES,
            fold_bytes: FOLD_BYTES,
            segment_bytes: SEGMENT_BYTES,
            disk: Arc::new(RealDisk),
        }
    }

    /// A store kept in `dir`, with the usual bounds.
    pub fn kept(env: Env, dir: impl Into<PathBuf>) -> StoreOptions {
        StoreOptions { place: Place::Kept { dir: dir.into() }, ..StoreOptions::memory(env) }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("place", &self.place)
            .field("durability", &self.durability)
            .field("cache_bytes", &self.cache_bytes)
            .field("fold_bytes", &self.fold_bytes)
            .field("segment_bytes", &self.segment_bytes)
            .finish_non_exhaustive()
    }
}

//! Ordered, versioned bytes: one key space whose state is read through immutable [`Snapshot`]s and
//! changed by one [`Writer`] at a time.
//!
//! Everything here is synchronous and knows nothing of documents, protocols or transactions. A state is
//! a table in memory over a base on the disk; a kept store writes a journal first. Design, formats and
//! limits are in `docs/internals/store/`.
#![forbid(unsafe_code)]

mod base;
mod batch;
mod cancel;
mod compact;
mod derive;
mod diff;
mod disk;
mod error;
mod folding;
mod iter;
mod journal;
mod limits;
mod lower;
mod merge;
mod open;
mod options;
mod prepared;
mod range;
mod record;
mod retire;
mod room;
mod saved;
mod shared;
mod snapshot;
mod store;
mod sync;
mod table;
mod writer;

pub use base_env::UnixMicros;
pub use batch::{Op, WriteBatch};
pub use cancel::Cancel;
pub use derive::{Derive, DerivedEntry, NoDerive};
pub use disk::{Disk, DiskFile, RealDisk};
pub use error::StoreError;
pub use iter::{DerivedRange, Entry, Heads, OverlayRange, Range, RangeRev};
pub use journal::format_of;
pub use options::{Durability, Place, StoreOptions};
pub use prepared::Prepared;
pub use range::KeyRange;
pub use record::{Change, Commit, Head, Record, Version};
pub use snapshot::Snapshot;
pub use store::Store;
pub use writer::{Replaced, Writer};

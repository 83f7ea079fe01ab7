//! Ordered, versioned bytes: one key space whose state is read through immutable [`Snapshot`]s and
//! changed by one [`Writer`] at a time.
//!
//! Everything here is synchronous and knows nothing of documents, protocols or transactions.
//! Memory is the only place records live for now; the types are shaped so that a journal and an
//! on-disk base can come behind them: no iterator shows what the map is made of.
#![forbid(unsafe_code)]

mod batch;
mod derive;
mod error;
mod iter;
mod limits;
mod options;
mod range;
mod record;
mod retire;
mod snapshot;
mod store;

pub use base_env::UnixMicros;
pub use batch::{Op, WriteBatch};
pub use derive::{Derive, NoDerive};
pub use error::StoreError;
pub use iter::{DerivedRange, Entry, OverlayRange, Range, RangeRev};
pub use options::{Durability, Place, StoreOptions};
pub use range::KeyRange;
pub use record::{Change, Commit, Record, Version};
pub use snapshot::Snapshot;
pub use store::{Cleared, Store, Writer};

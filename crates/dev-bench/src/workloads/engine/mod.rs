//! The engine without a protocol or a socket: commits, storms beside raw redb and fjall, states swapped in constant time,
//! and kept data opened again.

mod commits;
mod durable;
mod records;
mod restart;
mod states;
mod stores;
mod storms;

pub use commits::measure_commits;
pub use durable::measure_durable;
pub use restart::{Kept, measure_restart};
pub use states::measure_states;
pub use storms::measure_storms;

/// The engine, kept in a folder and written behind unless the row says otherwise.
pub const FIRELET: &str = "firelet";
/// Raw redb, each put a durable transaction of its own.
pub const REDB: &str = "redb Immediate";
/// Raw redb, each put a transaction of its own that is not made durable.
pub const REDB_NONE: &str = "redb None";
/// Raw fjall: each put is written to its journal and not synced, as the engine's are.
pub const FJALL: &str = "fjall";

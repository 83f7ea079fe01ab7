//! The journal: every commit of a kept store as one record at the end of a file.
//!
//! A record is written before the commit is published, so a killed process loses nothing. It is a
//! plain append: what makes it findable again is in `docs/internals/store/formats.md`.

mod files;
mod record;
mod recover;
mod segment;
mod writer;

pub(crate) use files::Folder;
pub use files::format_of;
pub(crate) use record::{Action, Encoded, Finished, Header, Kind};
pub(crate) use recover::{Recovered, recover};
pub(crate) use writer::Journal;

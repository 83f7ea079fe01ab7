//! Firestore's official export format, read and written: what `gcloud firestore export` and the official
//! emulator leave in a folder, as documents and back.
//!
//! An [`Export`] finds the files of a folder; each of its [`Shard`]s is read by a [`DocumentReader`], an
//! iterator that holds one document at a time and may run beside those of other shards. A
//! [`FolderWriter`] writes the folder that the official emulator would, the same bytes for the same
//! documents. Both also work on any [`std::io::Read`] and [`std::io::Write`].
//!
//! Nothing here knows where documents come from or go to, and nothing is filtered: a [`Document`] carries its
//! whole name. The format holds no creation or update times. Its bytes are described in
//! `docs/internals/export.md`.
#![forbid(unsafe_code)]

mod documents;
mod entity;
mod error;
mod folder;
pub mod limits;
mod log;
pub mod metadata;
mod wire;

pub use documents::{Document, DocumentReader, DocumentWriter, Written};
pub use error::{FormatError, ReadError, Unwritable, WriteError};
pub use folder::{Documents, Export, FolderWriter, Group, Shard, relative_path};

//! Official exports as folders of a whole suite: finding what to import, and putting a new one in place.
//!
//! The services write and read their own parts; here is what lies around them: the metadata file that names them,
//! which the official command line reads, and the folder, which changes as a whole or not at all.

mod carry;
mod metadata;
mod source;
mod target;

pub use source::ImportError;
pub(crate) use source::{PlannedImport, find};
pub use target::ExportError;
pub(crate) use target::{Workplace, check, exists, place};

pub(crate) use metadata::Metadata;

/// The file that names the parts of an export.
const METADATA_FILE: &str = "firebase-export-metadata.json";

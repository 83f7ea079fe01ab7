//! Indexes: which there are, how their entries are laid out, deriving them from documents, and walking them.

pub(crate) mod access;
mod definition;
pub(crate) mod derive;
pub(crate) mod layout;
pub(crate) mod numbers;
mod postings;
pub(crate) mod spec;
pub(crate) mod stream;
pub(crate) mod union;

pub use definition::{IndexDefinition, IndexField, IndexMode, IndexScope};
pub use derive::Indexer;

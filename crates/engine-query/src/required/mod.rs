//! The index advisor: which indexes production wants for a query before it answers it.
//!
//! firelet serves every query with the indexes it has; production refuses those that need an index nobody
//! has declared. The rules are those of the product, recorded from production's own answers.

mod declared;
mod entries;
mod need;

pub use declared::{ALL_COLLECTIONS, Declared, DeclaredIndex, FieldOverride};
pub use entries::IndexEntriesError;
pub use need::{RequiredField, RequiredIndex, required_indexes};

//! base-value: Firestore values, their order, their encoding, resource names, field paths and storage keys.
//!
//! Pure data: no clock, no input or output, no service. Errors display the exact text clients see.

#![forbid(unsafe_code)]

pub mod codec;
mod field_path;
pub mod index_key;
pub mod key;
pub mod limits;
mod name;
mod name_error;
pub mod order;
mod resource_path;
pub mod transform;
pub mod validate;
mod value;

pub use field_path::{FieldPath, PathError};
pub use limits::LimitPolicy;
pub use name::{DatabaseName, DocumentName, parse_database, parse_parent};
pub use name_error::{IdKind, NameError, NameSubject, check_collection_id, check_document_id};
pub use resource_path::{CollectionPath, DocumentPath, ParentPath, ResourcePath, numeric_id};
pub use validate::ValueError;
pub use value::{Fields, Timestamp, Value};

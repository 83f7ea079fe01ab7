//! Queries over documents: the model, what the product refuses, and execution against a snapshot.
//!
//! A [`Query`] is stated by a client, checked and compiled once by [`Prepared::new`], then asked of any
//! [`engine_store::Snapshot`]. Everything here is pure and synchronous and knows no protocol.
#![forbid(unsafe_code)]

mod aggregate;
mod document;
mod error;
mod execute;
mod explain;
mod filter;
mod index;
pub mod limits;
mod list;
mod model;
mod name_key;
mod nearest;
mod normalize;
mod overlay;
mod partition;
mod plan;
mod project;
mod required;
mod rows;
mod run;
mod scope;
mod sort;
mod tally;
mod top;
mod totals;
mod validate;
mod validate_filter;
mod validate_nearest;
mod view;

pub use aggregate::{AggregateOp, Aggregated, Aggregation, aggregate, aggregate_telling};
pub use error::{ErrorKind, QueryError};
pub use execute::Prepared;
pub use explain::{Charge, Explain, Scanned, UsedIndex};
pub use index::{IndexDefinition, IndexField, IndexMode, IndexScope, Indexer};
pub use list::{
    ListDocuments, Listed, Page, keys_below, list_collection_ids, list_documents,
    list_documents_indexed, parse_order_by,
};
pub use model::{
    CompositeOp, Cursor, Direction, DistanceMeasure, FieldOp, Filter, FindNearest, From, Order,
    Query, UnaryOp,
};
pub use partition::partition;
pub use project::project;
pub use required::{
    ALL_COLLECTIONS, Declared, DeclaredIndex, FieldOverride, IndexEntriesError, RequiredField,
    RequiredIndex, required_indexes,
};
pub use rows::{Row, Rows};

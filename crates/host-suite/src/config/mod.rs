//! What the user's project says: firebase.json, .firebaserc, the project id, and which services run.

mod emulators;
mod error;
mod firebase_json;
mod firebaserc;
mod firestore_indexes;
mod jsonc;
mod project;
mod record_index;
mod targets;

pub use emulators::{Address, Emulators};
pub(crate) use emulators::{kind, show};
pub use error::ConfigError;
pub use firebase_json::{FILE_NAME, FirebaseConfig, find_directory};
pub use firebaserc::FirebaseRc;
pub(crate) use firestore_indexes::DEFAULT_DATABASE;
pub use firestore_indexes::{firestore_databases, firestore_indexes};
pub use project::{DEMO_PREFIX, NO_PROJECT, Project, ProjectSources, active_project};
pub use record_index::index_recorder;
pub(crate) use targets::not_yet;
pub use targets::{Targets, choose, split_only};

//! What the suite can set for Firestore.

use base_value::LimitPolicy;

use crate::access::StartRules;
use crate::indexes::Indexes;

/// Firestore's options, with the defaults production would suggest.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The indexes that queries are served by.
    pub indexes: Indexes,
    /// Whether production's limits hold.
    pub limits: LimitPolicy,
    /// Memory for pages of each database that has outgrown memory; the engine's default without.
    pub cache_bytes: Option<usize>,
    /// The databases that the project's files name.
    pub databases: Vec<DatabaseConfig>,
    /// The security rules to start with. Where there are none, everything is open to everybody.
    pub rules: Vec<StartRules>,
}

/// One database that the project's files name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatabaseConfig {
    /// Its id, such as `(default)`.
    pub id: String,
}

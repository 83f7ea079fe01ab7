//! What the suite can set for Firestore.

use base_value::LimitPolicy;

use crate::indexes::Indexes;

/// Firestore's options, with the defaults production would suggest.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// The indexes that queries are served by.
    pub indexes: Indexes,
    /// Whether production's limits hold.
    pub limits: LimitPolicy,
}

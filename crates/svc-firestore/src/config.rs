//! What the suite can set for Firestore.

/// Firestore's options, with the defaults production would suggest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Config {}

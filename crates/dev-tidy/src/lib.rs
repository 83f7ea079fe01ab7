//! The rules of the repository that a program can check. `cargo test -p dev-tidy` checks them.
//!
//! A rule that contributors are asked to keep (docs/contributing/README.md) and that can be seen in the
//! files is here, so that nobody has to remember it and no review has to mention it.
#![forbid(unsafe_code)]

mod docs;
mod layers;
mod sources;
mod tree;

pub use tree::Tree;

/// One broken rule: where, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path below the repository's root, with a line number where there is one.
    pub place: String,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Finding {
        Finding { place: place.into(), message: message.into() }
    }
}

/// Checks every rule and answers everything that breaks one.
///
/// # Errors
/// When a file of the tree cannot be read.
pub fn check(tree: &Tree) -> anyhow::Result<Vec<Finding>> {
    let mut findings = layers::check(tree)?;
    findings.extend(sources::check(tree)?);
    findings.extend(docs::check(tree)?);
    findings.sort();
    Ok(findings)
}

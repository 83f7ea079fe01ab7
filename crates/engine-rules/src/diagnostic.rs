//! What is wrong with a source: errors that refuse it and warnings that come with it.

use crate::position::Position;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The source is not taken.
    Error,
    /// The source is taken; the marked expression will fail or never matter.
    Warning,
}

/// One finding in a source, with the text the product shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Where.
    pub position: Position,
    /// How bad.
    pub severity: Severity,
    /// What, as the product says it.
    pub text: String,
}

/// A source that cannot be used, with everything that is wrong with it, in the source's order.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Error compiling rules:{}", lines(diagnostics))]
pub struct RulesError {
    /// The errors, and the warnings found beside them.
    pub diagnostics: Vec<Diagnostic>,
}

fn lines(diagnostics: &[Diagnostic]) -> String {
    let line = |found: &Diagnostic| {
        format!("\nL{}:{} {}", found.position.line, found.position.column, found.text)
    };
    diagnostics.iter().map(line).collect()
}

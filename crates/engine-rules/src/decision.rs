//! What was decided: which allow statements were tried, and what they came to.

use crate::explain::Deciding;
use crate::position::Position;
use crate::request::Method;

/// Whether a request may go on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Whether an allow statement granted it.
    pub allowed: bool,
    /// What `debug()` was called with, in order.
    pub debug: Vec<DebugOutput>,
}

/// Whether a request may go on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether an allow statement granted it.
    pub allowed: bool,
    /// The allow statements tried, in their order; the last one granted, where the request is allowed. Of a
    /// query, each once for every alternative of its filter, up to the first that is denied.
    pub attempts: Vec<Attempt>,
    /// What `debug()` was called with, in order.
    pub debug: Vec<DebugOutput>,
}

/// One allow statement that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The whole path of its match block, such as `/databases/{database}/documents/users/{user}`.
    pub pattern: String,
    /// The wildcards of that path with their values.
    pub wildcards: Vec<(String, String)>,
    /// Where its match block starts.
    pub match_position: Position,
    /// Where it starts.
    pub position: Position,
    /// What it came to.
    pub outcome: Outcome,
    /// The first part of its condition that decided, where it did not grant.
    pub deciding: Option<Deciding>,
}

/// What an allow statement came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The request is allowed.
    Granted,
    /// Its condition is false.
    False,
    /// Its condition has no value, or one that is no boolean.
    Failed {
        /// The product's text.
        text: String,
        /// Whether it is not known rather than wrong, because it takes what a query leaves open.
        is_open: bool,
        /// The innermost expression that failed.
        position: Position,
    },
}

/// A call of `debug()`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugOutput {
    /// Where the call stands.
    pub position: Position,
    /// What it was given, as text.
    pub value: String,
}

/// What the official emulator tells of a request from before it loads a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Preliminary {
    /// One entry for each allow statement tried.
    pub entries: Vec<String>,
    /// Whether no document could change it.
    pub is_final: bool,
}

impl Decision {
    /// The message of a denial as the official emulator sends it; empty where the request is allowed.
    pub fn message(&self, method: Method) -> String {
        match self.allowed {
            true => String::new(),
            false => denial(&self.entries(method)),
        }
    }

    /// What that message is made of.
    pub fn entries(&self, method: Method) -> Vec<String> {
        self.attempts.iter().map(|attempt| attempt.entry(method)).collect()
    }
}

/// The official emulator's message of these entries.
pub fn denial(entries: &[String]) -> String {
    match entries.is_empty() {
        true => "No matching allow statements".to_owned(),
        false => format!("\n{}", entries.join(", ")),
    }
}

impl Attempt {
    pub(crate) fn entry(&self, method: Method) -> String {
        let line = self.position.line;
        let text = match &self.outcome {
            // Another operation or alternative is not granted, so the statement has not granted the request.
            Outcome::Granted | Outcome::False => "false".to_owned(),
            Outcome::Failed { text, .. } => text.clone(),
        };
        format!("{text} for '{}' @ L{line}", method.name())
    }
}

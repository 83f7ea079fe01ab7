//! Decisions: which allow statements were tried for a request, and what they came to.

use crate::coverage::Observer;
use crate::eval::Evaluator;
use crate::explain::{Deciding, Steps, explain};
use crate::limits::{DOCUMENTS_PER_REQUEST, DOCUMENTS_PER_STORAGE_REQUEST};
use crate::position::Position;
use crate::request::{Method, Request, Service};
use crate::ruleset::Ruleset;
use crate::session::{Documents, Session};
use crate::value::Value;

/// Whether a request may go on, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Whether an allow statement granted it.
    pub allowed: bool,
    /// The allow statements tried, in their order; the last one granted, where the request is allowed.
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

impl Decision {
    /// The message of a denial as the official emulator sends it; empty where the request is allowed.
    pub fn message(&self, method: Method) -> String {
        if self.allowed {
            return String::new();
        }
        let entry = |attempt: &Attempt| {
            let text = match &attempt.outcome {
                Outcome::Granted => "true",
                Outcome::False => "false",
                Outcome::Failed { text, .. } => text,
            };
            format!("{text} for '{}' @ L{}", method.name(), attempt.position.line)
        };
        let entries: Vec<_> = self.attempts.iter().map(entry).collect();
        match entries.is_empty() {
            true => "No matching allow statements".to_owned(),
            false => format!("\n{}", entries.join(", ")),
        }
    }
}

impl Ruleset {
    /// Decides a request that is an operation of its own.
    pub fn decide(&self, request: &Request<'_>, documents: &dyn Documents) -> Decision {
        let max = match request.service {
            Service::Firestore => DOCUMENTS_PER_REQUEST,
            Service::Storage => DOCUMENTS_PER_STORAGE_REQUEST,
        };
        self.decide_in(request, &Session::limited(documents, max, max), None)
    }

    /// Decides one operation of a session, and tells an observer what expressions come to.
    pub fn decide_in(
        &self,
        request: &Request<'_>,
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Decision {
        let mut evaluator = Evaluator::new(self, request, session, observer);
        let mut decision = Decision { allowed: false, attempts: Vec::new(), debug: Vec::new() };
        let mut failed = Vec::new();
        for (number, rule) in self.checked.rules.iter().enumerate() {
            if rule.service != request.service || rule.methods & request.method.bit() == 0 {
                continue;
            }
            // Production lists for rules of version 2 alone.
            if rule.service == Service::Storage
                && request.method == Method::List
                && !self.is_version_two()
            {
                continue;
            }
            let Some((pattern, match_span)) = self.checked.patterns.get(rule.pattern) else {
                continue;
            };
            let Some(wildcards) = pattern.matches(request.path) else { continue };
            evaluator.wildcards = wildcards;
            let outcome = match &rule.condition {
                None => Outcome::Granted,
                Some(condition) => match evaluator.condition(condition) {
                    Ok(true) => Outcome::Granted,
                    Ok(false) => Outcome::False,
                    Err(failure) => Outcome::Failed {
                        position: self.position(failure.span.unwrap_or(condition.span)),
                        text: failure.text().to_owned(),
                    },
                },
            };
            let granted = outcome == Outcome::Granted;
            if !granted {
                failed.push((decision.attempts.len(), number));
            }
            let names = pattern.names().map(|(_, name)| name.to_string());
            let values = evaluator.wildcards.iter().map(|value| match value {
                Value::String(text) => text.to_string(),
                Value::Path(path) => path.to_string(),
                other => other.to_string(),
            });
            decision.attempts.push(Attempt {
                pattern: pattern.text(),
                wildcards: names.zip(values).collect(),
                match_position: self.position(*match_span),
                position: self.position(rule.span),
                outcome,
                deciding: None,
            });
            if granted {
                decision.allowed = true;
                break;
            }
        }
        decision.debug = std::mem::take(&mut evaluator.debug);
        if !decision.allowed {
            self.explain_all(request, session, &failed, &mut decision);
        }
        decision
    }

    /// Evaluates what denied once more, now recording: a request that is allowed pays nothing for it.
    fn explain_all(
        &self,
        request: &Request<'_>,
        session: &Session<'_>,
        failed: &[(usize, usize)],
        decision: &mut Decision,
    ) {
        let mut evaluator = Evaluator::new(self, request, session, None);
        for &(attempt, rule) in failed {
            let Some(rule) = self.checked.rules.get(rule) else { continue };
            let Some((pattern, _)) = self.checked.patterns.get(rule.pattern) else { continue };
            let Some(wildcards) = pattern.matches(request.path) else { continue };
            let Some(condition) = &rule.condition else { continue };
            evaluator.wildcards = wildcards;
            evaluator.steps = Some(Steps::default());
            let outcome = evaluator.condition(condition);
            let steps = evaluator.steps.take().unwrap_or_default();
            if let Some(attempt) = decision.attempts.get_mut(attempt) {
                attempt.deciding = explain(self, &steps, outcome.is_err());
            }
        }
    }
}

//! What is said of a denial: to the client what the official emulator says, to the developer why.

use std::fmt::Write;

use engine_rules::{
    Attempt, DebugOutput, Deciding, Decision, Method, Outcome, Query, Request, Session, denial,
};

use super::rules::Loaded;
use crate::error::Error;

/// One operation of a request that was denied.
pub(super) struct Operation<'r> {
    /// What is decided.
    pub(super) request: Request<'r>,
    /// What the official emulator tries as well as long as it has not looked whether the document exists.
    pub(super) other: Option<Request<'r>>,
}

impl<'r> Operation<'r> {
    pub(super) fn only(request: &Request<'r>) -> Self {
        Operation { request: request.clone(), other: None }
    }
}

/// The error of a request with these operations, one of which is denied.
pub(super) fn denied(rules: &Loaded, session: &Session<'_>, operations: &[Operation<'_>]) -> Error {
    let ruleset = &rules.ruleset;
    let mut entries = Vec::new();
    // The official emulator tells first what it found before it loaded any document. If that decides, it
    // is all.
    let mut is_final = false;
    for Operation { request, other } in operations {
        // It tries creating before updating.
        let mut tried: Vec<_> = [Some(request), other.as_ref()].into_iter().flatten().collect();
        tried.sort_by_key(|request| request.method == Method::Update);
        let mut none_left = true;
        for request in tried {
            let preliminary = ruleset.preliminary(request, session);
            none_left &= preliminary.is_final;
            entries.extend(preliminary.entries);
        }
        is_final |= none_left;
    }
    for Operation { request, .. } in operations {
        let decision = ruleset.decide_in(request, session, None);
        if !is_final {
            entries.extend(decision.entries(request.method));
        }
        if !decision.allowed {
            log(rules, request.method, &request.path.join("/"), &decision);
            break;
        }
    }
    Error::Denied(denial(&entries))
}

/// The error of a query that is denied.
pub(super) fn denied_query(rules: &Loaded, session: &Session<'_>, query: &Query<'_>) -> Error {
    let preliminary = rules.ruleset.preliminary_query(query, session);
    let decision = rules.ruleset.decide_query(query, session, None);
    log(rules, Method::List, &query.path.join("/"), &decision);
    let mut entries = Vec::new();
    if !preliminary.is_final {
        entries.extend(preliminary.entries);
    }
    entries.extend(decision.entries(Method::List));
    Error::Denied(denial(&entries))
}

fn log(rules: &Loaded, method: Method, path: &str, decision: &Decision) {
    tracing::info!("{}", explanation(&rules.name, method, path, decision));
}

/// Passes on what rules have printed.
pub(super) fn log_debug(rules: &Loaded, debug: &[DebugOutput]) {
    for DebugOutput { position, value } in debug {
        tracing::info!("{}:{}: debug: {value}", rules.name, position.line);
    }
}

/// A decision in words.
pub(super) fn explanation(name: &str, method: Method, path: &str, decision: &Decision) -> String {
    let verb = if decision.allowed { "allowed" } else { "denied" };
    let mut text = format!("{} of /{path} is {verb}", method.name());
    if decision.attempts.is_empty() {
        text.push_str(": no allow statement matches");
    }
    for attempt in &decision.attempts {
        describe(&mut text, name, attempt);
    }
    text
}

fn describe(text: &mut String, name: &str, attempt: &Attempt) {
    let position = attempt.position;
    let came_to = match &attempt.outcome {
        Outcome::Granted => "granted",
        Outcome::False => "false",
        Outcome::Failed { text, .. } => text,
    };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n  {name}:{}:{} in match {}: {came_to}",
        position.line, position.column, attempt.pattern
    );
    for (wildcard, value) in &attempt.wildcards {
        let _ = write!(text, "\n    {{{wildcard}}} is {value}");
    }
    if let Some(Deciding { start, text: written, outcome, operands, .. }) = &attempt.deciding {
        let _ =
            write!(text, "\n    {}:{}: {written} is {}", start.line, start.column, told(outcome));
        for operand in operands {
            let _ = write!(text, "\n      {} is {}", operand.text, told(&operand.outcome));
        }
    }
}

fn told(outcome: &Result<String, String>) -> String {
    match outcome {
        Ok(value) => value.clone(),
        Err(error) => format!("an error: {error}"),
    }
}

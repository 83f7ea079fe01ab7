//! What is told of a decision to those who follow them, in the official emulator's form.

use std::sync::atomic::{AtomicU64, Ordering};

use engine_rules::{Decision, Method, Outcome, Part, Query, Request, Session, Value, utc};
use serde_json::{Value as Json, json};

use super::guard::Guard;
use super::shown;
use crate::limits::FEED_VALUE_BYTES_MAX;

impl Guard {
    /// Tells those who follow decisions of one that was made, where there are any.
    pub(super) fn tell(&self, request: &Request<'_>, session: &Session<'_>) {
        if !self.feed.is_followed() {
            return;
        }
        let ruleset = &self.rules.loaded.ruleset;
        let decision = ruleset.decide_in(request, session, None);
        let path = format!("/{}", request.path.join("/"));
        let variables = ruleset.with_variables(request, session, written);
        self.feed.push(&self.frame(request.method, &path, &decision, variables));
    }

    /// The same of a query.
    pub(super) fn tell_query(&self, query: &Query<'_>, session: &Session<'_>) {
        if !self.feed.is_followed() {
            return;
        }
        let ruleset = &self.rules.loaded.ruleset;
        let decision = ruleset.decide_query(query, session, None);
        let parts = query.domain.iter().map(|part| match part {
            Part::Name(name) => *name,
            Part::One => "*",
            Part::Many => "**",
        });
        let path: String = parts.flat_map(|part| ["/", part]).collect();
        let variables = ruleset.with_query_variables(query, session, written);
        let variables = variables.unwrap_or_else(|| written([None, None]));
        self.feed.push(&self.frame(Method::List, &path, &decision, variables));
    }

    fn frame(
        &self,
        method: Method,
        path: &str,
        decision: &Decision,
        [request, resource]: [Json; 2],
    ) -> String {
        static REQUESTS: AtomicU64 = AtomicU64::new(1);
        let number = REQUESTS.fetch_add(1, Ordering::Relaxed);
        let outcomes = decision.attempts.iter().map(|attempt| {
            let is_granted = attempt.outcome == Outcome::Granted;
            json!({"line": attempt.position.line, "outcome": is_granted})
        });
        let outcome = match decision.attempts.last().map(|attempt| &attempt.outcome) {
            _ if decision.allowed => "allow",
            Some(Outcome::Failed { .. }) => "error",
            _ => "deny",
        };
        let time = utc(self.time);
        let project = &self.database.project;
        json!({
            "rulesReleaseKey": format!("projects/{project}/releases/cloud.firestore"),
            "requestId": format!("00000000-0000-4000-8000-{number:012x}"),
            "rules": self.rules.loaded.ruleset.source(),
            "time": time,
            "rulesContext": {
                "path": path,
                "method": method.name(),
                "time": time,
                "request": request,
                "resource": resource,
            },
            "granularAllowOutcomes": outcomes.collect::<Vec<_>>(),
            "outcome": outcome,
        })
        .to_string()
    }
}

/// What has no value, or is too long to be told, is undefined.
fn written(variables: [Option<&Value<'_>>; 2]) -> [Json; 2] {
    variables.map(|value| {
        let written = value.and_then(|value| shown::json(value, FEED_VALUE_BYTES_MAX));
        written.unwrap_or_else(|| json!({"undefined": {}}))
    })
}

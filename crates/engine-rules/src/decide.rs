//! Deciding requests and queries: the allow statements that match are tried until one grants.

use crate::check::Rule;
use crate::coverage::Observer;
use crate::decision::{Attempt, Decision, Outcome, Preliminary, Verdict};
use crate::error::Failure;
use crate::eval::Evaluator;
use crate::explain::{Deciding, Steps, explain};
use crate::limits::{DOCUMENTS_PER_REQUEST, DOCUMENTS_PER_STORAGE_REQUEST};
use crate::pattern::PathPattern;
use crate::query::{Part, Query, Selection};
use crate::request::{Method, NewResource, Request, Resource, Service};
use crate::ruleset::Ruleset;
use crate::session::{Documents, Session};
use crate::tree::Binding;
use crate::value::Value;

/// What an evaluation is about: a request, or one alternative of a query.
struct Subject<'e> {
    request: &'e Request<'e>,
    domain: Option<&'e [Part<'e>]>,
    /// The document that the alternative names.
    name: Option<&'e [&'e str]>,
}

impl<'e> Subject<'e> {
    fn of(request: &'e Request<'e>) -> Self {
        Subject { request, domain: None, name: None }
    }

    fn wildcards(&self, pattern: &PathPattern) -> Option<Vec<Value<'e>>> {
        let Some(domain) = self.domain else { return pattern.matches(self.request.path) };
        // A query for a name finds that document or none.
        match self.name {
            Some(name) => pattern.matches(name),
            None => pattern.covers(domain),
        }
    }
}

/// One allow statement that did not grant, to be explained.
struct Denied {
    attempt: usize,
    rule: usize,
    subject: usize,
}

impl Ruleset {
    /// Whether one operation of a session may go on. An observer is told what expressions come to.
    pub fn permits(
        &self,
        request: &Request<'_>,
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Verdict {
        let mut evaluator = Evaluator::new(self, request, session, observer);
        let allowed = self.walk(&Subject::of(request), &mut evaluator, |_, _, _| ());
        Verdict { allowed, debug: evaluator.debug }
    }

    /// Whether a query may go on.
    pub fn permits_query(
        &self,
        query: &Query<'_>,
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Verdict {
        let asked = Asked::new(query);
        let requests = asked.requests(query);
        let mut evaluator: Option<Evaluator<'_>> = None;
        let mut allowed = !requests.is_empty();
        for subject in subjects(query, &requests) {
            let next = Evaluator::new(self, subject.request, session, observer);
            let mut next = next.after(evaluator.take());
            allowed = self.walk(&subject, &mut next, |_, _, _| ());
            evaluator = Some(next);
            if !allowed {
                break;
            }
        }
        Verdict { allowed, debug: evaluator.map(|last| last.debug).unwrap_or_default() }
    }

    /// Decides a request that is an operation of its own.
    pub fn decide(&self, request: &Request<'_>, documents: &dyn Documents) -> Decision {
        let max = match request.service {
            Service::Firestore => DOCUMENTS_PER_REQUEST,
            Service::Storage => DOCUMENTS_PER_STORAGE_REQUEST,
        };
        self.decide_in(request, &Session::limited(documents, max, max), None)
    }

    /// Decides one operation of a session, and says why.
    pub fn decide_in(
        &self,
        request: &Request<'_>,
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Decision {
        self.decide_all(&[Subject::of(request)], session, observer)
    }

    /// Decides a query, and says why.
    pub fn decide_query(
        &self,
        query: &Query<'_>,
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Decision {
        let asked = Asked::new(query);
        let requests = asked.requests(query);
        let subjects: Vec<_> = subjects(query, &requests).collect();
        self.decide_all(&subjects, session, observer)
    }

    /// What a request comes to as long as no document is loaded, neither its own nor those that its rules
    /// read.
    pub fn preliminary(&self, request: &Request<'_>, session: &Session<'_>) -> Preliminary {
        let mut evaluator = Evaluator::new(self, request, session, None);
        evaluator.preliminary = true;
        let mut entries = Vec::new();
        let mut is_final = true;
        let granted = self.walk(&Subject::of(request), &mut evaluator, |rule, _, outcome| {
            is_final &= matches!(outcome, Ok(false));
            entries.extend(self.entry(rule, request.method, outcome));
        });
        Preliminary { entries, is_final: is_final && !granted }
    }

    /// What a query comes to as long as the documents that its rules read are not loaded.
    pub fn preliminary_query(&self, query: &Query<'_>, session: &Session<'_>) -> Preliminary {
        let asked = Asked::new(query);
        let requests = asked.requests(query);
        let mut entries = Vec::new();
        let mut is_final = true;
        for subject in subjects(query, &requests) {
            let mut evaluator = Evaluator::new(self, subject.request, session, None);
            evaluator.preliminary = true;
            self.walk(&subject, &mut evaluator, |rule, _, outcome| {
                entries.extend(self.entry(rule, Method::List, outcome));
            });
            is_final &= !evaluator.left_open;
        }
        Preliminary { entries, is_final }
    }

    /// Shows `request` and `resource` as expressions see them; none where they have no value.
    pub fn with_variables<T>(
        &self,
        request: &Request<'_>,
        session: &Session<'_>,
        with: impl FnOnce([Option<&Value<'_>>; 2]) -> T,
    ) -> T {
        let mut evaluator = Evaluator::new(self, request, session, None);
        let variables = [Binding::Request, Binding::Resource];
        let values = variables.map(|variable| evaluator.variable(variable).ok());
        with(values.each_ref().map(Option::as_ref))
    }

    /// The same of the first alternative of a query; nothing of a query without one.
    pub fn with_query_variables<T>(
        &self,
        query: &Query<'_>,
        session: &Session<'_>,
        with: impl FnOnce([Option<&Value<'_>>; 2]) -> T,
    ) -> Option<T> {
        let asked = Asked::new(query);
        let requests = asked.requests(query);
        Some(self.with_variables(requests.first()?, session, with))
    }

    /// Tries the allow statements of a subject until one grants.
    fn walk<'e>(
        &'e self,
        subject: &Subject<'e>,
        evaluator: &mut Evaluator<'e>,
        mut each: impl FnMut(usize, &[Value<'e>], &Result<bool, Failure>),
    ) -> bool {
        let Request { service, method, .. } = *subject.request;
        for (number, rule) in self.checked.rules.iter().enumerate() {
            if rule.service != service || rule.methods & method.bit() == 0 {
                continue;
            }
            // Production lists for rules of version 2 alone.
            if service == Service::Storage && method == Method::List && !self.is_version_two() {
                continue;
            }
            let Some((pattern, _)) = self.checked.patterns.get(rule.pattern) else { continue };
            let Some(wildcards) = subject.wildcards(pattern) else { continue };
            evaluator.wildcards = wildcards;
            let outcome = match &rule.condition {
                None => Ok(true),
                Some(condition) => evaluator.condition(condition),
            };
            if let Some(observer) = evaluator.observer {
                observer.tried(number, outcome.as_ref().ok().copied());
            }
            each(number, &evaluator.wildcards, &outcome);
            if let Ok(true) = outcome {
                return true;
            }
        }
        false
    }

    fn decide_all(
        &self,
        subjects: &[Subject<'_>],
        session: &Session<'_>,
        observer: Option<&dyn Observer>,
    ) -> Decision {
        let mut attempts = Vec::new();
        let mut denied = Vec::new();
        let mut allowed = !subjects.is_empty();
        let mut last: Option<Evaluator<'_>> = None;
        for (place, subject) in subjects.iter().enumerate() {
            let next = Evaluator::new(self, subject.request, session, observer);
            let mut evaluator = next.after(last.take());
            allowed &= self.walk(subject, &mut evaluator, |rule, wildcards, outcome| {
                let Some(attempt) = self.attempt(rule, wildcards, outcome) else { return };
                if attempt.outcome != Outcome::Granted {
                    denied.push(Denied { attempt: attempts.len(), rule, subject: place });
                }
                attempts.push(attempt);
            });
            last = Some(evaluator);
            if !allowed {
                break;
            }
        }
        let debug = last.map(|last| last.debug).unwrap_or_default();
        if !allowed {
            for one in denied {
                let Some(subject) = subjects.get(one.subject) else { continue };
                let deciding = self.explain(subject, session, one.rule);
                if let Some(attempt) = attempts.get_mut(one.attempt) {
                    attempt.deciding = deciding;
                }
            }
        }
        Decision { allowed, attempts, debug }
    }

    fn attempt(
        &self,
        rule: usize,
        wildcards: &[Value<'_>],
        outcome: &Result<bool, Failure>,
    ) -> Option<Attempt> {
        let rule = self.checked.rules.get(rule)?;
        let (pattern, match_span) = self.checked.patterns.get(rule.pattern)?;
        let names = pattern.names().map(|(_, name)| name.to_string());
        let values = wildcards.iter().map(|value| match value {
            Value::String(text) => text.to_string(),
            Value::Path(path) => path.to_string(),
            Value::Null => "*".to_owned(),
            other => other.to_string(),
        });
        Some(Attempt {
            pattern: pattern.text(),
            wildcards: names.zip(values).collect(),
            match_position: self.position(*match_span),
            position: self.position(rule.span),
            outcome: self.outcome(rule, outcome),
            deciding: None,
        })
    }

    fn outcome(&self, rule: &Rule, outcome: &Result<bool, Failure>) -> Outcome {
        match outcome {
            Ok(true) => Outcome::Granted,
            Ok(false) => Outcome::False,
            Err(failure) => {
                let condition =
                    rule.condition.as_ref().map_or(rule.span, |condition| condition.span);
                let position = self.position(failure.span.unwrap_or(condition));
                let text = match failure.undetermined {
                    // The product names the whole condition.
                    true => {
                        let whole = self.position(condition);
                        format!("{} at L{}:{}", failure.text(), whole.line, whole.column)
                    }
                    false => failure.text().to_owned(),
                };
                Outcome::Failed { text, is_open: failure.undetermined, position }
            }
        }
    }

    fn entry(
        &self,
        rule: usize,
        method: Method,
        outcome: &Result<bool, Failure>,
    ) -> Option<String> {
        Some(self.attempt(rule, &[], outcome)?.entry(method))
    }

    /// Evaluates a statement that did not grant once more, now recording: what is allowed pays nothing for it.
    fn explain(
        &self,
        subject: &Subject<'_>,
        session: &Session<'_>,
        rule: usize,
    ) -> Option<Deciding> {
        let rule = self.checked.rules.get(rule)?;
        let (pattern, _) = self.checked.patterns.get(rule.pattern)?;
        let condition = rule.condition.as_ref()?;
        let mut evaluator = Evaluator::new(self, subject.request, session, None);
        evaluator.wildcards = subject.wildcards(pattern)?;
        evaluator.steps = Some(Steps::default());
        let outcome = evaluator.condition(condition);
        explain(self, &evaluator.steps.take().unwrap_or_default(), outcome.is_err())
    }
}

/// What is known of the documents of each alternative of a query.
struct Asked<'r>(Vec<Selection<'r>>);

impl<'r> Asked<'r> {
    fn new(query: &'r Query<'r>) -> Self {
        Asked(query.branches.iter().map(|one| Selection::of(one, query.is_group)).collect())
    }

    /// Each alternative as a request.
    fn requests<'s>(&'s self, query: &'s Query<'r>) -> Vec<Request<'s>> {
        let request = |selection| Request {
            service: Service::Firestore,
            method: Method::List,
            path: query.path,
            auth: query.auth,
            time: query.time,
            resource: Resource::Selected(selection),
            new_resource: NewResource::Absent,
            members: query.members,
        };
        self.0.iter().map(request).collect()
    }
}

fn subjects<'e>(
    query: &'e Query<'e>,
    requests: &'e [Request<'e>],
) -> impl Iterator<Item = Subject<'e>> {
    requests.iter().zip(query.branches).map(|(request, branch)| Subject {
        request,
        domain: Some(query.domain),
        name: branch.name.as_deref(),
    })
}

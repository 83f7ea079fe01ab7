//! The checker itself: collects what a source declares, and checks functions and allow statements one by one.

use std::collections::HashSet;
use std::sync::Arc;

use super::expression;
use super::scope::{Checked, Owner, Rule, Scope};

use crate::diagnostic::Severity;
use crate::limits::{DIAGNOSTICS_MAX, LETS_MAX, PARAMETERS_CHECKED_MAX, PARAMETERS_MAX};
use crate::parse::Complaint;
use crate::position::Span;
use crate::request::{Method, Service};
use crate::tree::{Allow, File, Function, MatchBlock, Version};
use crate::value::Type;

/// A finding and where it is; `None` for the source as a whole.
#[derive(Debug)]
pub(crate) struct Finding {
    pub(crate) at: Option<Span>,
    pub(crate) severity: Severity,
    pub(crate) text: String,
}

/// Binds and checks a source the parser read without complaint.
pub(crate) fn check(file: File, version: Version) -> (Checked, Vec<Finding>) {
    let mut checker = Checker {
        allows_let: version == Version::Two,
        checked: Checked::default(),
        scopes: Vec::new(),
        findings: Vec::new(),
        calls: HashSet::new(),
    };
    if file.version == Version::Absent {
        checker.warn_whole(
            "Ruleset uses old version (version [1]). Please update to the latest version (version [2]).",
        );
    }
    let glob_min = usize::from(version != Version::Two);
    let rules = checker.collect(file, glob_min);
    checker.functions();
    for (owner, allow) in rules {
        checker.allow(owner, allow);
    }
    checker.calls();
    let Checker { mut checked, mut findings, .. } = checker;
    checked.rules.sort_by_key(|rule| rule.span.start);
    findings.sort_by_key(|finding| finding.at.map_or(0, |span| span.start + 1));
    (checked, findings)
}

pub(super) struct Checker {
    allows_let: bool,
    pub(super) checked: Checked,
    pub(super) scopes: Vec<Scope>,
    pub(super) findings: Vec<Finding>,
    /// Which function calls which, by number.
    pub(super) calls: HashSet<(Option<u32>, u32)>,
}

impl Checker {
    pub(super) fn report(&mut self, at: Span, severity: Severity, text: impl Into<String>) {
        if self.findings.len() < DIAGNOSTICS_MAX {
            self.findings.push(Finding { at: Some(at), severity, text: text.into() });
        }
    }

    pub(super) fn error(&mut self, at: Span, text: impl Into<String>) {
        self.report(at, Severity::Error, text);
    }

    pub(super) fn warn(&mut self, at: Span, text: impl Into<String>) {
        self.report(at, Severity::Warning, text);
    }

    pub(super) fn warn_whole(&mut self, text: &str) {
        let text = text.to_owned();
        self.findings.push(Finding { at: None, severity: Severity::Warning, text });
    }

    /// Takes the functions out of their blocks, so that each has a number, and the allow statements.
    fn collect(&mut self, file: File, glob_min: usize) -> Vec<(Owner, Allow)> {
        let global = self.scope(None, None);
        self.declare(global, file.functions);
        let mut rules = Vec::new();
        let mut services: Vec<Option<Service>> = Vec::new();
        for block in file.services {
            if block.service.is_some() && services.contains(&block.service) {
                self.error(block.span, "Duplicate service name declaration.");
            }
            services.push(block.service);
            if block.service.is_none() {
                self.warn(block.span, format!("Invalid service name: {}.", block.name));
            }
            let scope = self.scope(Some(global), None);
            self.declare(scope, block.functions);
            for inner in block.matches {
                let owner = Owner { service: block.service, scope, pattern: None };
                self.collect_match(owner, inner, glob_min, &mut rules);
            }
        }
        rules
    }

    fn collect_match(
        &mut self,
        around: Owner,
        block: MatchBlock,
        glob_min: usize,
        rules: &mut Vec<(Owner, Allow)>,
    ) {
        let mut pattern =
            around.pattern.and_then(|id| self.checked.pattern(id)).cloned().unwrap_or_default();
        pattern.glob_min = glob_min;
        pattern.segments.extend(block.segments.into_iter().map(|(segment, _, _)| segment));
        let id = self.checked.patterns.len();
        self.checked.patterns.push((pattern, block.span));
        let scope = self.scope(Some(around.scope), Some(id));
        self.declare(scope, block.functions);
        let owner = Owner { service: around.service, scope, pattern: Some(id) };
        rules.extend(block.allows.into_iter().map(|allow| (owner, allow)));
        for inner in block.matches {
            self.collect_match(owner, inner, glob_min, rules);
        }
    }

    fn declare(&mut self, scope: usize, functions: Vec<Function>) {
        for function in functions {
            let id = u32::try_from(self.checked.functions.len()).unwrap_or(u32::MAX);
            let known = self
                .scopes
                .get_mut(scope)
                .and_then(|scope| scope.functions.insert(Arc::clone(&function.name), id));
            if let Some(first) = known {
                let name = Arc::clone(&function.name);
                self.error(function.name_span, format!("Function {name} is already defined."));
                if let Some(scope) = self.scopes.get_mut(scope) {
                    scope.functions.insert(name, first);
                }
                // One complaint is enough: it is not reported as unused beside this.
                self.calls.insert((None, id));
            }
            self.checked.functions.push(function);
            self.checked.scopes.push(scope);
        }
    }

    fn functions(&mut self) {
        for id in 0..self.checked.functions.len() {
            let Some(slot) = self.checked.functions.get_mut(id) else { continue };
            let mut function = std::mem::replace(slot, Function::placeholder());
            let scope = self.checked.scopes.get(id).copied().unwrap_or_default();
            self.function(u32::try_from(id).unwrap_or(u32::MAX), scope, &mut function);
            if let Some(slot) = self.checked.functions.get_mut(id) {
                *slot = function;
            }
        }
    }

    fn function(&mut self, id: u32, scope: usize, function: &mut Function) {
        if function.parameters.len() > PARAMETERS_MAX {
            self.error(
                function.name_span,
                format!(
                    "Maximum allowed function arguments of {PARAMETERS_MAX} for function {} is \
                     reached.",
                    function.name
                ),
            );
        }
        let mut binder = expression::Binder::new(self, Some(id), scope);
        for (name, span) in function.parameters.iter().take(PARAMETERS_CHECKED_MAX) {
            if let Some(first) = binder.locals.iter_mut().find(|local| local.name == *name) {
                first.is_used = true;
                binder.checker.error(*span, format!("Variable {name} is already defined."));
            }
            binder.declare(name, *span);
        }
        for (number, binding) in function.lets.iter_mut().enumerate().take(LETS_MAX + 1) {
            if !binder.checker.allows_let {
                binder
                    .checker
                    .error(binding.span, "Let bindings are not allowed in rules_version=\"1\";");
            }
            if binder.locals.iter().any(|local| local.name == binding.name) {
                let text = format!(
                    "The identifier [{}] is already bound in the current scope.",
                    binding.name
                );
                binder.checker.error(binding.span, text);
            }
            if number == LETS_MAX {
                binder.checker.error(
                    function.body.span,
                    format!(
                        "Maximum allowed variable count of {LETS_MAX} for a given function has \
                         been reached."
                    ),
                );
            }
            binder.root(&mut binding.value);
            binder.declare(&binding.name, binding.span);
        }
        binder.root(&mut function.body);
        let unused: Vec<_> = binder.locals.iter().filter(|local| !local.is_used).collect();
        let unused: Vec<_> =
            unused.into_iter().map(|local| (local.span, Arc::clone(&local.name))).collect();
        for (span, name) in unused {
            self.warn(span, format!("Unused variable: {name}."));
        }
    }

    fn allow(&mut self, owner: Owner, mut allow: Allow) {
        let mut methods = 0;
        for (word, span) in &allow.methods {
            match Method::of_word(word).filter(|_| owner.service.is_some()) {
                Some(bits) => methods |= bits,
                None => self.warn(*span, format!("Invalid method name: {word}.")),
            }
        }
        if let Some(condition) = &mut allow.condition {
            let found = expression::Binder::new(self, None, owner.scope).root(condition);
            if let Some(found) = found.filter(|found| *found != Type::Bool) {
                self.warn(
                    condition.span,
                    format!(
                        "Invalid type. Permission statements expect a boolean value. Received one of \
                         [{}].",
                        found.name()
                    ),
                );
            }
        }
        let (Some(service), Some(pattern)) = (owner.service, owner.pattern) else { return };
        self.checked.rules.push(Rule {
            service,
            pattern,
            methods,
            span: allow.span,
            condition: allow.condition,
        });
    }
}

impl From<Complaint> for Finding {
    fn from(complaint: Complaint) -> Self {
        Finding { at: Some(complaint.at), severity: Severity::Error, text: complaint.text }
    }
}

//! Calls in expressions: functions bound, and names, numbers and types of arguments that are plainly wrong
//! reported.

use std::sync::Arc;

use super::expression::{Binder, plain};
use crate::function;
use crate::position::Span;
use crate::re2::Pattern;
use crate::tree::{Call, Expr, ExprKind, MethodCall, Target};
use crate::value::Type;

/// Functions the evaluator answers itself; all take a path.
const SERVICE_CALLS: [&str; 4] = ["get", "exists", "getAfter", "existsAfter"];

impl Binder<'_> {
    pub(super) fn call(
        &mut self,
        call: &mut Call,
        level: usize,
        id: Option<u32>,
        span: Span,
    ) -> Option<Type> {
        let found = self.all(&mut call.args, level, id);
        if let Some(target) = self.checker.find_function(self.scope, &call.name) {
            call.target = Target::User(target);
            self.checker.calls.insert((self.function, target));
            let wanted = self.checker.parameters_of(target, self.function);
            if wanted.is_some_and(|wanted| wanted != call.args.len()) {
                self.wrong_count(&call.name, span);
            }
            return None;
        }
        if SERVICE_CALLS.contains(&&*call.name) {
            if call.args.len() != 1 {
                self.wrong_count(&call.name, span);
            }
            if let (Some(found), Some(arg)) = (found.first(), call.args.first()) {
                self.expect(*found, &[Type::Path], arg.span);
            }
            let is_bool = call.name.starts_with("exists");
            return is_bool.then_some(Type::Bool);
        }
        if &*call.name == "debug" {
            return found.first().copied().flatten();
        }
        let Some(builtin) = function::function("", &call.name) else {
            self.checker.warn(span, format!("Invalid function name: {}.", call.name));
            return None;
        };
        self.arguments(builtin, &call.name, &call.args, &found, span);
        plain(builtin.gives)
    }

    fn wrong_count(&mut self, name: &str, at: Span) {
        let text = format!("Incorrect number of arguments supplied to function: {name}.");
        self.checker.warn(at, text);
    }

    /// Warns of a wrong number of arguments, or of one that is plainly of a wrong type.
    fn arguments(
        &mut self,
        builtin: &function::Builtin,
        name: &str,
        args: &[Expr],
        found: &[Option<Type>],
        at: Span,
    ) {
        let mut fitting = builtin.takes.iter().filter(|takes| takes.len() == args.len()).peekable();
        if fitting.peek().is_none() {
            self.wrong_count(name, at);
            return;
        }
        for (place, (arg, found)) in args.iter().zip(found).enumerate() {
            let expected: Vec<_> = builtin
                .takes
                .iter()
                .filter(|takes| takes.len() == args.len())
                .filter_map(|takes| takes.get(place).copied())
                .collect();
            self.expect(*found, &expected, arg.span);
        }
    }

    pub(super) fn method(
        &mut self,
        call: &mut MethodCall,
        level: usize,
        id: Option<u32>,
        span: Span,
    ) -> Option<Type> {
        let package = match &call.of.kind {
            ExprKind::Name { name, .. } => Some(Arc::clone(name)),
            _ => None,
        };
        let is_firestore = package.as_deref() == Some("firestore")
            && self.checker.find_wildcard(self.scope, "firestore").is_none()
            && !self.locals.iter().any(|local| &*local.name == "firestore");
        call.package |= is_firestore;
        if let (true, Some(package)) = (call.package, package) {
            return self.package_call(call, &package, level, id, span);
        }
        let of = self.expr(&mut call.of, level, id);
        let found = self.all(&mut call.args, level + 1, id);
        let builtin = match of {
            Some(of) => function::method(of, &call.name),
            None => function::methods_named(&call.name).next(),
        };
        let Some(builtin) = builtin else {
            if function::methods_named(&call.name).next().is_none() {
                let text = format!("Invalid function name: {}.", call.name);
                self.checker.warn(call.name_span, text);
            }
            return None;
        };
        let counts = |takes: &&[Type]| takes.len() == call.args.len();
        let any_fits =
            function::methods_named(&call.name).any(|method| method.takes.iter().any(counts));
        if !any_fits {
            self.wrong_count(&call.name, call.name_span);
        } else if of.is_some() {
            self.arguments(builtin, &call.name, &call.args, &found, call.name_span);
        }
        self.regular_expression(call);
        plain(builtin.gives)
    }

    fn package_call(
        &mut self,
        call: &mut MethodCall,
        package: &str,
        level: usize,
        id: Option<u32>,
        span: Span,
    ) -> Option<Type> {
        let found = self.all(&mut call.args, level + 1, id);
        let name = format!("{package}.{}", call.name);
        if package == "firestore" {
            if !matches!(&*call.name, "get" | "exists") {
                self.checker.warn(call.name_span, format!("Invalid function name: {name}."));
            }
            return None;
        }
        let Some(builtin) = function::function(package, &call.name) else {
            self.checker.warn(call.name_span, format!("Invalid function name: {name}."));
            return None;
        };
        let at = Span { start: call.name_span.start, end: span.end };
        self.arguments(builtin, &name, &call.args, &found, at);
        plain(builtin.gives)
    }

    /// Compiles a literal regular expression once, here.
    fn regular_expression(&mut self, call: &mut MethodCall) {
        if !matches!(&*call.name, "matches" | "replace" | "split") {
            return;
        }
        let Some(Expr { kind: ExprKind::String(text), span, .. }) = call.args.first() else {
            return;
        };
        match Pattern::new(text) {
            Ok(pattern) => call.pattern = Some(pattern),
            Err(failure) => self.checker.error(*span, failure.text()),
        }
    }
}

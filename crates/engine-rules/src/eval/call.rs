//! Calls of functions and methods.

use super::{Evaluator, Outcome};
use crate::decision::DebugOutput;
use crate::error::{failure, no_function, null_value};
use crate::function::{self, Args};
use crate::limits::{CALL_DEPTH_MAX, DEBUG_LINES_MAX, LETS_MAX, PARAMETERS_MAX};
use crate::request::Service;
use crate::session::View;
use crate::tree::{Call, Expr, ExprKind, Function, MethodCall, Target};
use crate::value::Value;

impl<'e> Evaluator<'e> {
    #[inline(never)]
    pub(super) fn call(&mut self, call: &'e Call, expr: &'e Expr) -> Outcome<'e> {
        match call.target {
            Target::User(number) => self.user_call(call, number),
            Target::Builtin => self.builtin_call(call, expr),
        }
    }

    #[inline(never)]
    fn builtin_call(&mut self, call: &'e Call, expr: &'e Expr) -> Outcome<'e> {
        let args = self.arguments(&call.args)?;
        let is_firestore = self.request.service == Service::Firestore;
        match &*call.name {
            "get" if is_firestore => self.get("get", View::Before, &args),
            "getAfter" if is_firestore => self.get("getAfter", View::After, &args),
            "exists" if is_firestore => self.exists("exists", View::Before, &args),
            "existsAfter" if is_firestore => self.exists("existsAfter", View::After, &args),
            "debug" => self.debug(args, expr),
            name => function::call_function("", name, &args),
        }
    }

    fn arguments(&mut self, args: &'e [Expr]) -> Result<Vec<Value<'e>>, crate::error::Failure> {
        let mut values = Vec::with_capacity(args.len());
        for arg in args {
            values.push(self.eval(arg)?);
        }
        Ok(values)
    }

    fn debug(&mut self, args: Vec<Value<'e>>, expr: &'e Expr) -> Outcome<'e> {
        let Some(value) = args.into_iter().next() else {
            return Err(failure("Service call error. Function: [debug], Argument: []."));
        };
        if self.debug.len() < DEBUG_LINES_MAX {
            let position = self.ruleset.position(expr.span);
            self.debug.push(DebugOutput { position, value: crate::explain::shown(&value) });
        }
        Ok(value)
    }

    #[inline(never)]
    fn user_call(&mut self, call: &'e Call, number: u32) -> Outcome<'e> {
        let Some(function) = self.ruleset.function(number) else {
            return Err(no_function(&call.name));
        };
        if function.parameters.len() != call.args.len() {
            return Err(wrong_count(function, call.args.len()));
        }
        // The checker bounds calls already; this holds whatever it lets pass.
        if self.locals.len() > (CALL_DEPTH_MAX + 2) * (LETS_MAX + PARAMETERS_MAX) {
            return Err(crate::error::too_large());
        }
        let start = self.locals.len();
        for arg in &call.args {
            let value = self.eval(arg);
            self.locals.push(value);
        }
        let around = std::mem::replace(&mut self.frame, start);
        let outcome = self.body(function);
        self.frame = around;
        self.locals.truncate(start);
        outcome
    }

    #[inline(never)]
    fn body(&mut self, function: &'e Function) -> Outcome<'e> {
        for binding in &function.lets {
            self.spend(1)?;
            let value = self.eval(&binding.value);
            self.locals.push(value);
        }
        self.eval(&function.body)
    }

    #[inline(never)]
    pub(super) fn method(&mut self, call: &'e MethodCall) -> Outcome<'e> {
        if let (true, ExprKind::Name { name, .. }) = (call.package, &call.of.kind) {
            return self.package_call(call, name);
        }
        let of = self.eval(&call.of)?;
        let args = self.arguments(&call.args)?;
        let args = Args { of: &of, args: &args, pattern: call.pattern.as_ref() };
        function::call_method(&call.name, &args)
    }

    fn package_call(&mut self, call: &'e MethodCall, package: &str) -> Outcome<'e> {
        if package == "firestore" {
            if self.request.service != Service::Storage {
                return Err(null_value());
            }
            let args = self.arguments(&call.args)?;
            return match &*call.name {
                "get" => self.get("firestore.get", View::Before, &args),
                "exists" => self.exists("firestore.exists", View::Before, &args),
                other => Err(no_function(&format!("firestore.{other}"))),
            };
        }
        let args = self.arguments(&call.args)?;
        function::call_function(package, &call.name, &args)
    }
}

fn wrong_count(function: &Function, given: usize) -> crate::error::Failure {
    let names: Vec<_> = function.parameters.iter().map(|(name, _)| &**name).collect();
    failure(format!(
        "Incorrect number of arguments. Received: {given}. Expected: {}({}).",
        function.name,
        names.join(", ")
    ))
}

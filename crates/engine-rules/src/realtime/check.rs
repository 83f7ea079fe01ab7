//! Types, checked when a file is read: what is plainly wrong is refused, what can only be known later is not.

use std::sync::Arc;

use super::decide::RuleKind;
use super::expression::{Expr, Kind, Op, Wrong};

/// What is known of an expression's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    /// Known when it is evaluated.
    Any,
    Null,
    Bool,
    Number,
    Text,
    Regex,
    Snapshot,
    Query,
    List,
}

impl Type {
    fn name(self) -> &'static str {
        match self {
            Type::Any => "any",
            Type::Null => "null",
            Type::Bool => "boolean",
            Type::Number => "number",
            Type::Text => "string",
            Type::Regex => "regular expression",
            Type::Snapshot => "snapshot",
            Type::Query => "query",
            Type::List => "list",
        }
    }

    fn may_be(self, wanted: &[Type]) -> bool {
        self == Type::Any || wanted.contains(&self)
    }
}

/// Where an expression stands.
pub(super) struct Scope<'s> {
    pub(super) kind: RuleKind,
    /// The wildcards above.
    pub(super) wildcards: &'s [Arc<str>],
}

/// What a method takes and gives.
struct Signature {
    name: &'static str,
    takes: &'static [Type],
    /// How many of those have to be there.
    least: usize,
    gives: Type,
}

const fn method(name: &'static str, takes: &'static [Type], gives: Type) -> Signature {
    Signature { name, takes, least: takes.len(), gives }
}

const SNAPSHOT: [Signature; 10] = [
    method("val", &[], Type::Any),
    method("child", &[Type::Text], Type::Snapshot),
    method("parent", &[], Type::Snapshot),
    method("hasChild", &[Type::Text], Type::Bool),
    Signature { name: "hasChildren", takes: &[Type::List], least: 0, gives: Type::Bool },
    method("exists", &[], Type::Bool),
    method("getPriority", &[], Type::Any),
    method("isNumber", &[], Type::Bool),
    method("isString", &[], Type::Bool),
    method("isBoolean", &[], Type::Bool),
];

const TEXT: [Signature; 7] = [
    method("contains", &[Type::Text], Type::Bool),
    method("beginsWith", &[Type::Text], Type::Bool),
    method("endsWith", &[Type::Text], Type::Bool),
    method("replace", &[Type::Text, Type::Text], Type::Text),
    method("toLowerCase", &[], Type::Text),
    method("toUpperCase", &[], Type::Text),
    method("matches", &[Type::Regex], Type::Bool),
];

/// The members of `query`.
pub(super) const QUERY: [&str; 9] = [
    "orderByChild",
    "orderByKey",
    "orderByValue",
    "orderByPriority",
    "startAt",
    "endAt",
    "equalTo",
    "limitToFirst",
    "limitToLast",
];

/// Everything that is wrong with a rule.
pub(super) fn check(expr: &Expr, scope: &Scope<'_>) -> Vec<Wrong> {
    let mut checker = Checker { scope, wrong: Vec::new() };
    checker.truth(expr, "A rule");
    checker.wrong
}

struct Checker<'s> {
    scope: &'s Scope<'s>,
    wrong: Vec<Wrong>,
}

impl Checker<'_> {
    fn error(&mut self, at: usize, text: impl Into<String>) {
        self.wrong.push((at, text.into()));
    }

    /// An expression that has to be true or false; of `a ? b : c` that is both `b` and `c`.
    fn truth(&mut self, expr: &Expr, what: &str) {
        if let Kind::Ternary(parts) = &expr.kind {
            let [condition, then, otherwise] = &**parts;
            self.truth(condition, "The condition of '?'");
            self.truth(then, what);
            self.truth(otherwise, what);
            return;
        }
        let found = self.expr(expr);
        if !found.may_be(&[Type::Bool]) {
            self.error(expr.at, format!("{what} must be boolean, and this is {}.", found.name()));
        }
    }

    fn operand(&mut self, expr: &Expr, wanted: &[Type], what: &str) -> Type {
        let found = self.expr(expr);
        if !found.may_be(wanted) {
            self.error(expr.at, format!("{what} does not take a {}.", found.name()));
        }
        found
    }

    fn expr(&mut self, expr: &Expr) -> Type {
        match &expr.kind {
            Kind::Null => Type::Null,
            Kind::Bool(_) => Type::Bool,
            Kind::Number(_) => Type::Number,
            Kind::Text(_) => Type::Text,
            Kind::Regex(_) => Type::Regex,
            Kind::Name(name) => self.name(expr.at, name),
            Kind::List(items) => {
                for item in items {
                    self.operand(item, &[Type::Text], "A list of names");
                }
                Type::List
            }
            Kind::Not(of) => {
                self.truth(of, "The operand of '!'");
                Type::Bool
            }
            Kind::Negate(of) => {
                self.operand(of, &[Type::Number], "'-'");
                Type::Number
            }
            Kind::Binary(op, left, right) => self.binary(expr.at, *op, left, right),
            Kind::Ternary(parts) => {
                let [condition, then, otherwise] = &**parts;
                self.truth(condition, "The condition of '?'");
                let (then, otherwise) = (self.expr(then), self.expr(otherwise));
                if then == otherwise { then } else { Type::Any }
            }
            Kind::Member(of, name) => self.member(expr.at, of, name),
            Kind::Index(of, index) => {
                let found = self.expr(of);
                // What `val()` gives has no members: `child` leads to them.
                if !is_claim(of) {
                    self.error(expr.at, format!("A {} has no members in brackets.", found.name()));
                }
                self.operand(index, &[Type::Text], "'[]'");
                Type::Any
            }
            Kind::Call(of, name, args) => self.call(expr.at, of, name, args),
        }
    }

    fn name(&mut self, at: usize, name: &str) -> Type {
        let writes = self.scope.kind != RuleKind::Read;
        match name {
            "auth" => Type::Any,
            "now" => Type::Number,
            "root" | "data" => Type::Snapshot,
            "newData" if writes => Type::Snapshot,
            "query" if !writes => Type::Query,
            "newData" => {
                self.error(at, "'newData' is not there in '.read'.");
                Type::Snapshot
            }
            "query" => {
                self.error(at, "'query' is there in '.read' alone.");
                Type::Query
            }
            wildcard if self.scope.wildcards.iter().any(|known| **known == *wildcard) => Type::Text,
            other => {
                self.error(at, format!("Unknown variable '{other}'."));
                Type::Any
            }
        }
    }

    fn binary(&mut self, at: usize, op: Op, left: &Expr, right: &Expr) -> Type {
        match op {
            Op::Or | Op::And => {
                let what = if op == Op::Or { "An operand of '||'" } else { "An operand of '&&'" };
                self.truth(left, what);
                self.truth(right, what);
                Type::Bool
            }
            Op::Equal | Op::NotEqual => {
                for side in [left, right] {
                    let found = self.expr(side);
                    let is_value =
                        found.may_be(&[Type::Null, Type::Bool, Type::Number, Type::Text]);
                    if !is_value {
                        let hint = match found {
                            Type::Snapshot => ": compare what its 'val()' gives",
                            _ => "",
                        };
                        let text = format!("A {} is equal to nothing{hint}.", found.name());
                        self.error(side.at, text);
                    }
                }
                Type::Bool
            }
            Op::Less | Op::LessOrEqual | Op::Greater | Op::GreaterOrEqual => {
                let wanted = [Type::Number, Type::Text];
                let left = self.operand(left, &wanted, "An order");
                let right = self.operand(right, &wanted, "An order");
                if left != right && left != Type::Any && right != Type::Any {
                    let text = format!("A {} has no order with a {}.", left.name(), right.name());
                    self.error(at, text);
                }
                Type::Bool
            }
            Op::Add => {
                let wanted = [Type::Number, Type::Text];
                let left = self.operand(left, &wanted, "'+'");
                let right = self.operand(right, &wanted, "'+'");
                match (left, right) {
                    (Type::Text, _) | (_, Type::Text) => Type::Text,
                    (Type::Number, Type::Number) => Type::Number,
                    _ => Type::Any,
                }
            }
            Op::Subtract | Op::Multiply | Op::Divide | Op::Remainder => {
                self.operand(left, &[Type::Number], "Arithmetic");
                self.operand(right, &[Type::Number], "Arithmetic");
                Type::Number
            }
        }
    }

    fn member(&mut self, at: usize, of: &Expr, name: &str) -> Type {
        let found = self.expr(of);
        match found {
            Type::Query if QUERY.contains(&name) => match name {
                "orderByKey" | "orderByValue" | "orderByPriority" => Type::Bool,
                _ => Type::Any,
            },
            Type::Text if name == "length" => Type::Number,
            Type::Any if is_claim(of) || name == "length" => Type::Any,
            _ => self.unknown(at, name),
        }
    }

    fn call(&mut self, at: usize, of: &Expr, name: &str, args: &[Expr]) -> Type {
        let found = self.expr(of);
        let signature = match found {
            Type::Snapshot => SNAPSHOT.iter().find(|one| one.name == name),
            Type::Text | Type::Any => TEXT.iter().find(|one| one.name == name),
            _ => None,
        };
        let Some(Signature { takes, least, gives, .. }) = signature else {
            for arg in args {
                self.expr(arg);
            }
            return self.unknown(at, name);
        };
        if args.len() < *least || args.len() > takes.len() {
            let text = format!("'{name}' takes {}, and not {}.", takes.len(), args.len());
            self.error(at, text);
        }
        for (arg, wanted) in args.iter().zip(*takes) {
            let found = self.expr(arg);
            // A pattern and a list are written out.
            let is_literal_wanted = matches!(wanted, Type::Regex | Type::List);
            if found != *wanted && (is_literal_wanted || found != Type::Any) {
                let text =
                    format!("'{name}' takes a {}, and not a {}.", wanted.name(), found.name());
                self.error(arg.at, text);
            }
        }
        if let (Type::List, Some(Kind::List(items))) =
            (takes.first().copied().unwrap_or(Type::Any), args.first().map(|arg| &arg.kind))
            && items.is_empty()
        {
            self.error(at, format!("'{name}' takes a list with at least one name."));
        }
        *gives
    }

    fn unknown(&mut self, at: usize, name: &str) -> Type {
        self.error(at, format!("No such method/property '{name}'."));
        Type::Any
    }
}

/// Whether an expression is `auth` or something in it.
fn is_claim(expr: &Expr) -> bool {
    match &expr.kind {
        Kind::Name(name) => &**name == "auth",
        Kind::Member(of, _) | Kind::Index(of, _) => is_claim(of),
        _ => false,
    }
}

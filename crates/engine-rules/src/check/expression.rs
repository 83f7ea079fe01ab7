//! Expressions: names bound, nesting bounded, operand types that are plainly wrong reported.

use std::sync::Arc;

use super::Checker;
use crate::explain::Shape;
use crate::limits::NESTING_MAX;
use crate::parse::TOO_COMPLEX;
use crate::position::Span;
use crate::tree::{BinaryOp, Binding, Expr, ExprKind, PathPart, Target};
use crate::value::{Type, TypeName};

/// A parameter or `let`.
pub(super) struct Local {
    pub(super) name: Arc<str>,
    pub(super) span: Span,
    pub(super) is_used: bool,
}

/// Binds the expressions of one function or condition.
pub(super) struct Binder<'c> {
    pub(super) checker: &'c mut Checker,
    pub(super) function: Option<u32>,
    pub(super) scope: usize,
    pub(super) locals: Vec<Local>,
}

impl<'c> Binder<'c> {
    pub(super) fn new(checker: &'c mut Checker, function: Option<u32>, scope: usize) -> Self {
        Binder { checker, function, scope, locals: Vec::new() }
    }

    pub(super) fn declare(&mut self, name: &Arc<str>, span: Span) {
        self.locals.push(Local { name: Arc::clone(name), span, is_used: false });
    }

    /// A whole expression; its type, where that is plain.
    pub(super) fn root(&mut self, expr: &mut Expr) -> Option<Type> {
        self.expr(expr, 1, None)
    }

    pub(super) fn expr(
        &mut self,
        expr: &mut Expr,
        level: usize,
        parent: Option<u32>,
    ) -> Option<Type> {
        if level > NESTING_MAX {
            self.checker.error(expr.span, TOO_COMPLEX);
            return None;
        }
        if let ExprKind::Group(inner) = &mut expr.kind {
            let found = self.expr(inner, level + 1, parent);
            let inner = std::mem::replace(&mut **inner, Expr::null(expr.span));
            if let Some(numbered) = self.checker.checked.expressions.get_mut(inner.id as usize) {
                numbered.shown.start = expr.span.start;
            }
            *expr = inner;
            return found;
        }
        expr.id = self.checker.checked.number(expr.span, parent);
        let (id, span) = (Some(expr.id), expr.span);
        let found = self.kind(&mut expr.kind, level, id, span);
        if let Some(shape) = self.checker.checked.shapes.get_mut(expr.id as usize) {
            *shape = shape_of(&expr.kind);
        }
        if let ExprKind::Member { of, .. }
        | ExprKind::Index { of, .. }
        | ExprKind::Slice { of, .. }
        | ExprKind::Negate(of) = &expr.kind
        {
            self.without_parentheses(of.id);
        }
        if let ExprKind::Method(call) = &expr.kind {
            self.without_parentheses(call.of.id);
        }
        let is_constant = self.is_constant(expr);
        let shown_end = self.shown_end(expr);
        if let Some(numbered) = self.checker.checked.expressions.get_mut(expr.id as usize) {
            numbered.shown.end = shown_end;
            numbered.meta.is_constant = is_constant;
            numbered.meta.is_literal = is_scalar(&expr.kind) && !is_negative(&expr.kind);
        }
        found
    }

    /// Reports show what stands in front of `.` and `[` or behind `-` without the parentheses around it.
    fn without_parentheses(&mut self, id: u32) {
        if let Some(numbered) = self.checker.checked.expressions.get_mut(id as usize) {
            numbered.shown.start = numbered.span.start;
        }
    }

    /// Where an expression ends for reports: with its last part, or its name where nothing follows that.
    fn shown_end(&self, expr: &Expr) -> u32 {
        let of = |part: &Expr| {
            let numbered = self.checker.checked.expressions.get(part.id as usize);
            numbered.map_or(part.span.end, |numbered| numbered.shown.end)
        };
        let opened = expr.span.start + 1;
        match &expr.kind {
            ExprKind::List(items) => items.last().map_or(opened, of),
            ExprKind::Map(entries) => entries.last().map_or(opened, |(_, value)| of(value)),
            ExprKind::Path(parts) => match parts.last() {
                Some(PathPart::Value(value)) => of(value),
                _ => expr.span.end,
            },
            ExprKind::Call(call) => {
                let name =
                    Span::new(expr.span.start as usize, expr.span.start as usize + call.name.len());
                call.args.last().map_or(name.end, of)
            }
            ExprKind::Method(call) => call.args.last().map_or(call.name_span.end, of),
            ExprKind::Index { index, .. } => of(index),
            ExprKind::Slice { to, .. } => of(to),
            ExprKind::Not(part) | ExprKind::Negate(part) => of(part),
            ExprKind::Binary { right, .. } => of(right),
            ExprKind::Ternary { otherwise, .. } => of(otherwise),
            _ => expr.span.end,
        }
    }

    fn is_constant(&self, expr: &Expr) -> bool {
        match &expr.kind {
            kind if is_scalar(kind) => true,
            ExprKind::List(_) | ExprKind::Map(_) => {
                let mut all = true;
                expr.for_each_part(|part| {
                    let numbered = self.checker.checked.expressions.get(part.id as usize);
                    all &= numbered.is_some_and(|numbered| numbered.meta.is_constant);
                });
                all
            }
            _ => false,
        }
    }

    fn kind(
        &mut self,
        kind: &mut ExprKind,
        level: usize,
        id: Option<u32>,
        span: Span,
    ) -> Option<Type> {
        let deeper = level + 1;
        match kind {
            ExprKind::Null => Some(Type::Null),
            ExprKind::Bool(_) => Some(Type::Bool),
            ExprKind::Int(_) => Some(Type::Int),
            ExprKind::Float(_) => Some(Type::Float),
            ExprKind::String(_) => Some(Type::String),
            ExprKind::Bytes(_) => Some(Type::Bytes),
            ExprKind::Group(_) => None,
            ExprKind::List(items) => {
                self.all(items, deeper, id);
                Some(Type::List)
            }
            ExprKind::Map(entries) => {
                for (key, value) in entries {
                    let found = self.expr(key, deeper, id);
                    self.expect(found, &[Type::String], key.span);
                    self.expr(value, deeper, id);
                }
                Some(Type::Map)
            }
            ExprKind::Path(parts) => {
                for part in parts {
                    if let PathPart::Value(value) = part {
                        self.expr(value, deeper, id);
                    }
                }
                Some(Type::Path)
            }
            ExprKind::Name { name, binding } => self.name(name, binding, span),
            ExprKind::Member { of, .. } => {
                self.expr(of, level, id);
                None
            }
            ExprKind::Index { of, index } => {
                self.expr(of, level, id);
                self.expr(index, deeper, id);
                None
            }
            ExprKind::Slice { of, from, to } => {
                let found = self.expr(of, level, id);
                self.expr(from, deeper, id);
                self.expr(to, deeper, id);
                found
            }
            ExprKind::Call(call) => self.call(call, deeper, id, span),
            ExprKind::Method(call) => self.method(call, level, id, span),
            ExprKind::Not(of) => {
                let found = self.expr(of, deeper, id);
                self.expect(found, &[Type::Bool], of.span);
                Some(Type::Bool)
            }
            ExprKind::Negate(of) => {
                let found = self.expr(of, deeper, id);
                const SIGNED: [Type; 3] = [Type::Int, Type::Float, Type::Duration];
                self.expect(found, &SIGNED, of.span);
                found.filter(|found| SIGNED.contains(found))
            }
            ExprKind::Binary { op, op_span, left, right } => {
                let found_left = self.expr(left, deeper, id);
                let found_right = self.expr(right, deeper, id);
                let sides = [(found_left, left.span), (found_right, right.span)];
                self.binary(*op, *op_span, sides)
            }
            ExprKind::Is { of, of_type } => {
                self.expr(of, deeper, id);
                debug_assert!(!matches!(of_type, TypeName::One(Type::Any)));
                Some(Type::Bool)
            }
            ExprKind::Ternary { mark, condition, then, otherwise } => {
                self.ternary(*mark, [condition, then, otherwise], deeper, id)
            }
        }
    }

    fn ternary(
        &mut self,
        mark: Span,
        parts: [&mut Expr; 3],
        deeper: usize,
        id: Option<u32>,
    ) -> Option<Type> {
        let [condition, then, otherwise] = parts;
        let found = self.expr(condition, deeper, id);
        self.expect(found, &[Type::Bool], condition.span);
        let found_then = self.expr(then, deeper, id);
        let found_otherwise = self.expr(otherwise, deeper, id);
        if let (Some(one), Some(other)) = (found_then, found_otherwise)
            && one != other
        {
            self.checker.warn(
                mark,
                "Ternary operator result if condition is true has a different type than if \
                         condition is false.",
            );
        }
        found_then.filter(|found| Some(*found) == found_otherwise)
    }

    pub(super) fn all(
        &mut self,
        items: &mut [Expr],
        level: usize,
        id: Option<u32>,
    ) -> Vec<Option<Type>> {
        items.iter_mut().map(|item| self.expr(item, level, id)).collect()
    }

    /// Warns where a type is plain and none of those that fit.
    pub(super) fn expect(&mut self, found: Option<Type>, expected: &[Type], at: Span) {
        let Some(found) = found else { return };
        if !expected.iter().any(|one| one.takes(found)) {
            self.mismatch(found, expected, "", at);
        }
    }

    fn mismatch(&mut self, found: Type, expected: &[Type], more: &str, at: Span) {
        let names: Vec<_> = expected.iter().map(|one| one.name()).collect();
        self.checker.warn(
            at,
            format!(
                "Invalid type. Received one of [{}]. Expected one of [{}{more}].",
                found.name(),
                names.join(", ")
            ),
        );
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        sides: [(Option<Type>, Span); 2],
    ) -> Option<Type> {
        let [(left, left_span), (right, right_span)] = sides;
        match op {
            BinaryOp::And | BinaryOp::Or => {
                self.expect(left, &[Type::Bool], left_span);
                self.expect(right, &[Type::Bool], right_span);
                Some(Type::Bool)
            }
            BinaryOp::In => {
                const HOLDS: [Type; 3] = [Type::List, Type::Set, Type::Map];
                if let Some(found) = right.filter(|found| !HOLDS.contains(found)) {
                    self.mismatch(found, &HOLDS, ", constraint", right_span);
                }
                Some(Type::Bool)
            }
            BinaryOp::Equal | BinaryOp::NotEqual => {
                if let (Some(left), Some(right)) = (left, right)
                    && !comparable(left, right)
                {
                    let always = op == BinaryOp::NotEqual;
                    self.checker.warn(
                        op_span,
                        format!(
                            "The sub-expressions are not comparable, so this comparison will always \
                             return {always}."
                        ),
                    );
                }
                Some(Type::Bool)
            }
            BinaryOp::Less
            | BinaryOp::LessOrEqual
            | BinaryOp::Greater
            | BinaryOp::GreaterOrEqual => Some(Type::Bool),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Remainder => left.filter(|_| left == right && left == Some(Type::Int)),
        }
    }

    fn name(&mut self, name: &str, binding: &mut Binding, span: Span) -> Option<Type> {
        let local =
            self.locals.iter_mut().enumerate().rev().find(|(_, local)| *local.name == *name);
        if let Some((number, local)) = local {
            local.is_used = true;
            *binding = Binding::Local(u32::try_from(number).unwrap_or(u32::MAX));
            return None;
        }
        if let Some((number, is_glob)) = self.checker.find_wildcard(self.scope, name) {
            *binding = Binding::Wildcard(number);
            return Some(if is_glob { Type::Path } else { Type::String });
        }
        match name {
            "request" => *binding = Binding::Request,
            "resource" => *binding = Binding::Resource,
            _ => self.checker.warn(span, format!("Invalid variable name: {name}.")),
        }
        None
    }
}

/// Whether it is a literal of one value.
fn is_scalar(kind: &ExprKind) -> bool {
    matches!(
        kind,
        ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::String(_)
            | ExprKind::Bytes(_)
    )
}

/// Whether it is a number that was read with its sign, which is an operation to the product.
fn is_negative(kind: &ExprKind) -> bool {
    match kind {
        ExprKind::Int(number) => number.is_negative(),
        ExprKind::Float(number) => number.is_sign_negative(),
        _ => false,
    }
}

fn shape_of(kind: &ExprKind) -> Shape {
    match kind {
        ExprKind::Binary { op: BinaryOp::And | BinaryOp::Or, .. } => Shape::Junction,
        ExprKind::Not(_) => Shape::Not,
        ExprKind::Ternary { .. } => Shape::Ternary,
        ExprKind::Call(call) if call.target != Target::Builtin => Shape::UserCall,
        _ => Shape::Other,
    }
}

pub(super) fn plain(found: Type) -> Option<Type> {
    (found != Type::Any).then_some(found)
}

/// Whether values of two types can be equal at all.
fn comparable(left: Type, right: Type) -> bool {
    let is_number = |one| matches!(one, Type::Int | Type::Float);
    left == right
        || left == Type::Null
        || right == Type::Null
        || (is_number(left) && is_number(right))
}

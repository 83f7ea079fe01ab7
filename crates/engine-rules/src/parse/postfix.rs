//! What stands behind an operand: members, calls of methods, indexes, and lists of arguments.

use super::{Parsed, Parser};
use crate::function::PACKAGES;
use crate::position::Span;
use crate::tree::{Expr, ExprKind, MethodCall};

/// What may follow an operand, as the product lists it, up to where closing marks stand.
const OPERATORS: &str = "'.', '==', '>', '>=', '[', '<', '<=', '-', '%', '!=', '||', '+'";

impl Parser<'_> {
    pub(super) fn postfix(&mut self, mut operand: Expr) -> Parsed<Expr> {
        loop {
            if self.take_mark(".") {
                operand = self.member(operand)?;
            } else if self.take_mark("[") {
                operand = self.index(operand)?;
            } else if self.starts_path() {
                return Err(self.complain_here("Missing 'match' keyword before path."));
            } else {
                return Ok(operand);
            }
        }
    }

    fn member(&mut self, of: Expr) -> Parsed<Expr> {
        let Some((name, name_span)) = self.identifier() else { return Err(self.unexpected()) };
        if !self.is_mark("(") {
            let span = of.span.to(name_span);
            return self.sized(span, ExprKind::Member { of: Box::new(of), name });
        }
        let (args, end) = self.arguments()?;
        let span = of.span.to(end);
        let package = match &of.kind {
            ExprKind::Name { name, .. } => PACKAGES.contains(&&**name),
            _ => false,
        };
        let call = MethodCall { of, name, name_span, args, package, pattern: None };
        self.sized(span, ExprKind::Method(Box::new(call)))
    }

    fn index(&mut self, of: Expr) -> Parsed<Expr> {
        let index = self.operand_of(Self::nested)?;
        if self.take_mark(":") {
            let to = self.operand_of(Self::nested)?;
            let end = self.token().span;
            if !self.take_mark("]") {
                return Err(self.unexpected());
            }
            let span = of.span.to(end);
            let (of, from, to) = (Box::new(of), Box::new(index), Box::new(to));
            return self.sized(span, ExprKind::Slice { of, from, to });
        }
        let end = self.token().span;
        if !self.take_mark("]") {
            let expecting = format!("{{'&&', {OPERATORS}, ']', '/', '*', '?', 'in', 'is'}}");
            return Err(self.mismatched(&expecting));
        }
        let span = of.span.to(end);
        self.sized(span, ExprKind::Index { of: Box::new(of), index: Box::new(index) })
    }

    /// `(a, b)`: the arguments, and where they end.
    pub(super) fn arguments(&mut self) -> Parsed<(Vec<Expr>, Span)> {
        self.advance();
        let args = self.items(")", false)?;
        let end = self.token().span;
        if !self.take_mark(")") {
            return Err(self.unexpected());
        }
        Ok((args, end))
    }

    pub(super) fn items(&mut self, close: &str, may_trail: bool) -> Parsed<Vec<Expr>> {
        let mut items = Vec::new();
        while !self.is_mark(close) {
            if !self.starts_expression() {
                return Err(self.unexpected());
            }
            items.push(self.nested()?);
            if !self.take_mark(",") {
                break;
            }
            if !may_trail && self.is_mark(close) {
                return Err(self.unexpected());
            }
        }
        Ok(items)
    }
}

//! Expressions: how deep they may nest, and operators by how tight they bind.

use super::{Lost, Parsed, Parser};
use crate::lexer::Kind;
use crate::limits::{HEIGHT_MAX, PARSE_DEPTH_MAX};
use crate::position::Span;
use crate::tree::{BinaryOp, Expr, ExprKind};
use crate::value::TypeName;

pub(crate) const TOO_COMPLEX: &str = "Expression is too complex to evaluate safely.";

/// An operator between two operands and how tight it binds, loosest first.
enum Infix {
    Binary(BinaryOp),
    Is,
}

impl Parser<'_> {
    pub(super) fn starts_expression(&self) -> bool {
        match self.token().kind {
            Kind::Identifier
            | Kind::Int
            | Kind::Float
            | Kind::String
            | Kind::Bytes
            | Kind::Segment
            | Kind::PathSlash => true,
            Kind::Mark => {
                ["(", "[", "{", "-", "!", "--", "++", "/"].iter().any(|mark| self.is_mark(mark))
            }
            Kind::Unpaired | Kind::Unknown | Kind::End => false,
        }
    }

    /// A whole expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        let condition = self.binary(0)?;
        let mark = self.token().span;
        if !self.take_mark("?") {
            return Ok(condition);
        }
        let then = self.operand_of(Self::nested)?;
        if !self.take_mark(":") {
            let expecting = format!("{{'&&', ':', {OPERATORS}, '/', '*', '?', 'in', 'is'}}");
            return Err(self.mismatched(&expecting));
        }
        let otherwise = self.operand_of(Self::nested)?;
        let span = condition.span.to(otherwise.span);
        self.sized(
            span,
            ExprKind::Ternary {
                mark,
                condition: Box::new(condition),
                then: Box::new(then),
                otherwise: Box::new(otherwise),
            },
        )
    }

    /// An expression one level deeper.
    pub(super) fn nested(&mut self) -> Parsed<Expr> {
        self.deeper(Self::expression)
    }

    fn deeper(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
        if self.depth >= PARSE_DEPTH_MAX {
            let at = self.token().span;
            return Err(self.give_up(at));
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    fn give_up(&mut self, at: Span) -> Lost {
        self.complain(at, TOO_COMPLEX);
        self.given_up = true;
        Lost
    }

    pub(super) fn operand_of(
        &mut self,
        read: impl FnOnce(&mut Self) -> Parsed<Expr>,
    ) -> Parsed<Expr> {
        // `===` and `=>` are read as an operator and a mark too many.
        if self.is_mark("=") {
            return Err(self.unexpected());
        }
        if !self.starts_expression() {
            return Err(self.mismatched(super::EXPRESSION_START));
        }
        read(self)
    }

    /// A finished expression, where its tree is not too high.
    pub(super) fn sized(&mut self, span: Span, kind: ExprKind) -> Parsed<Expr> {
        let expr = Expr::new(span, kind);
        if expr.height as usize > HEIGHT_MAX {
            return Err(self.give_up(span));
        }
        Ok(expr)
    }

    fn infix(&self) -> Option<(u8, Infix)> {
        let token = self.token();
        let text = self.text();
        if token.kind == Kind::Identifier {
            return match text {
                "in" => Some((2, Infix::Binary(BinaryOp::In))),
                "is" => Some((2, Infix::Is)),
                _ => None,
            };
        }
        if token.kind != Kind::Mark {
            return None;
        }
        let (level, op) = match text {
            "||" => (0, BinaryOp::Or),
            "&&" => (1, BinaryOp::And),
            "==" => (3, BinaryOp::Equal),
            "!=" => (3, BinaryOp::NotEqual),
            "<" => (4, BinaryOp::Less),
            "<=" => (4, BinaryOp::LessOrEqual),
            ">" => (4, BinaryOp::Greater),
            ">=" => (4, BinaryOp::GreaterOrEqual),
            "+" => (5, BinaryOp::Add),
            "-" => (5, BinaryOp::Subtract),
            "*" => (6, BinaryOp::Multiply),
            "/" => (6, BinaryOp::Divide),
            "%" => (6, BinaryOp::Remainder),
            _ => return None,
        };
        Some((level, Infix::Binary(op)))
    }

    /// Operands joined by operators that bind at least as tight as `level`, all to the left.
    fn binary(&mut self, level: u8) -> Parsed<Expr> {
        let mut left = self.unary()?;
        while let Some((tightness, infix)) = self.infix().filter(|(found, _)| *found >= level) {
            let op = self.advance();
            left = match infix {
                Infix::Is => self.is_type(left)?,
                Infix::Binary(binary) => {
                    let right =
                        self.operand_of(|this| this.deeper(|this| this.binary(tightness + 1)))?;
                    let span = left.span.to(right.span);
                    let (left, right) = (Box::new(left), Box::new(right));
                    let kind = ExprKind::Binary { op: binary, op_span: op.span, left, right };
                    self.sized(span, kind)?
                }
            };
        }
        Ok(left)
    }

    fn is_type(&mut self, left: Expr) -> Parsed<Expr> {
        let token = self.token();
        let name = self.named(token);
        let is_literal = matches!(name, "null" | "true" | "false");
        if token.kind != Kind::Identifier || is_literal {
            let lost = self.mismatched("IDENTIFIER");
            if !is_literal {
                return Err(lost);
            }
        }
        self.advance();
        let Some(of_type) = TypeName::named(name) else {
            let text = format!(
                "An unsupported type identifier was used with the 'is' operator. Received {name}. \
                 Expected one of {}",
                TypeName::LIST
            );
            self.complain(Span { start: token.span.end, end: token.span.end }, text);
            return Ok(left);
        };
        let span = left.span.to(token.span);
        self.sized(span, ExprKind::Is { of: Box::new(left), of_type })
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        if self.is_mark("--") || self.is_mark("++") {
            let at = Span { start: token.span.end, end: token.span.end };
            self.complain(at, "Increment (++) and decrement (--) operators are not supported.");
            self.advance();
            return self.operand_of(|this| this.deeper(Self::unary));
        }
        if self.take_mark("!") {
            let of = self.operand_of(|this| this.deeper(Self::unary))?;
            let span = token.span.to(of.span);
            return self.sized(span, ExprKind::Not(Box::new(of)));
        }
        if self.is_mark("-") {
            self.advance();
            let number = self.token();
            // The smallest integer has no positive twin, so that the sign is read with it.
            if number.kind == Kind::Int
                && let Ok(value) = format!("-{}", self.text_of(number)).parse()
            {
                self.advance();
                let literal = Expr::new(token.span.to(number.span), ExprKind::Int(value));
                return self.postfix(literal);
            }
            let of = self.operand_of(|this| this.deeper(Self::unary))?;
            let span = token.span.to(of.span);
            return self.sized(span, ExprKind::Negate(Box::new(of)));
        }
        let operand = self.primary()?;
        self.postfix(operand)
    }
}

//! Expressions: precedence, literals, access and calls.

use std::sync::Arc;

use super::{Lost, Parsed, Parser};
use crate::function::PACKAGES;
use crate::lexer::{Kind, bytes_value, string_value};
use crate::limits::{HEIGHT_MAX, PARSE_DEPTH_MAX};
use crate::position::Span;
use crate::tree::{BinaryOp, Binding, Call, Expr, ExprKind, MethodCall, Target};
use crate::value::TypeName;

pub(crate) const TOO_COMPLEX: &str = "Expression is too complex to evaluate safely.";

/// What may follow an operand, as the product lists it, up to where closing marks stand.
const OPERATORS: &str = "'.', '==', '>', '>=', '[', '<', '<=', '-', '%', '!=', '||', '+'";

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

    fn operand_of(&mut self, read: impl FnOnce(&mut Self) -> Parsed<Expr>) -> Parsed<Expr> {
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
    fn sized(&mut self, span: Span, kind: ExprKind) -> Parsed<Expr> {
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

    fn postfix(&mut self, mut operand: Expr) -> Parsed<Expr> {
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
    fn arguments(&mut self) -> Parsed<(Vec<Expr>, Span)> {
        self.advance();
        let args = self.items(")", false)?;
        let end = self.token().span;
        if !self.take_mark(")") {
            return Err(self.unexpected());
        }
        Ok((args, end))
    }

    fn items(&mut self, close: &str, may_trail: bool) -> Parsed<Vec<Expr>> {
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

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.token();
        let text = self.text_of(token);
        match token.kind {
            Kind::Identifier => self.name(),
            Kind::Int => {
                self.advance();
                let Ok(value) = text.parse() else {
                    self.complain(token.span, format!("Invalid number literal {text}."));
                    return Ok(Expr::null(token.span));
                };
                Ok(Expr::new(token.span, ExprKind::Int(value)))
            }
            Kind::Float => {
                self.advance();
                let value = text.parse().unwrap_or(f64::INFINITY);
                Ok(Expr::new(token.span, ExprKind::Float(value)))
            }
            Kind::String => {
                self.advance();
                let value = string_value(text);
                Ok(Expr::new(token.span, ExprKind::String(value.into())))
            }
            Kind::Bytes => {
                self.advance();
                let Some(value) = bytes_value(text) else {
                    self.complain(token.span, format!("Invalid bytes literal {text}."));
                    return Ok(Expr::null(token.span));
                };
                Ok(Expr::new(token.span, ExprKind::Bytes(value.into())))
            }
            Kind::Segment | Kind::PathSlash => {
                let (parts, end) = self.path_literal()?;
                self.sized(token.span.to(end), ExprKind::Path(parts))
            }
            Kind::Mark if text == "/" => {
                Err(self
                    .complain_here("Forward slash '/' found where identifier or binding expected."))
            }
            Kind::Mark if text == "(" => {
                self.advance();
                if !self.starts_expression() {
                    return Err(self.unexpected());
                }
                let inner = self.nested()?;
                let end = self.token().span;
                if !self.take_mark(")") {
                    return Err(self.unexpected());
                }
                self.sized(token.span.to(end), ExprKind::Group(Box::new(inner)))
            }
            Kind::Mark if text == "[" => {
                self.advance();
                let items = self.items("]", true)?;
                let end = self.token().span;
                if !self.take_mark("]") {
                    return Err(self.unexpected());
                }
                self.sized(token.span.to(end), ExprKind::List(items))
            }
            Kind::Mark if text == "{" => self.map(),
            Kind::Mark | Kind::Unpaired | Kind::Unknown | Kind::End => Err(self.unexpected()),
        }
    }

    fn map(&mut self) -> Parsed<Expr> {
        let open = self.advance();
        let mut entries = Vec::new();
        while !self.is_mark("}") {
            if !self.starts_expression() {
                return Err(self.unexpected());
            }
            let key = self.nested()?;
            if !self.take_mark(":") {
                return Err(self.unexpected());
            }
            let value = self.operand_of(Self::nested)?;
            entries.push((key, value));
            if !self.take_mark(",") {
                break;
            }
        }
        let end = self.token().span;
        if !self.take_mark("}") {
            return Err(self.unexpected());
        }
        self.sized(open.span.to(end), ExprKind::Map(entries))
    }

    fn name(&mut self) -> Parsed<Expr> {
        let token = self.advance();
        let name = self.text_of(token);
        let literal = match name {
            "null" => Some(ExprKind::Null),
            "true" => Some(ExprKind::Bool(true)),
            "false" => Some(ExprKind::Bool(false)),
            _ => None,
        };
        if let Some(kind) = literal {
            return Ok(Expr::new(token.span, kind));
        }
        let name: Arc<str> = Arc::from(name);
        if self.is_mark("(") {
            let (args, end) = self.arguments()?;
            let call = Call { name, args, target: Target::Builtin };
            return self.sized(token.span.to(end), ExprKind::Call(Box::new(call)));
        }
        Ok(Expr::new(token.span, ExprKind::Name { name, binding: Binding::Unknown }))
    }
}

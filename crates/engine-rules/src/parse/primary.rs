//! Operands: literals, names and calls of functions, and what stands in parentheses and braces.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::lexer::{Kind, bytes_value, string_value};
use crate::tree::{Binding, Call, Expr, ExprKind, Target};

impl Parser<'_> {
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
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

//! The tree of an expression, and reading it.

use std::sync::Arc;

use ::regex::Regex;

use super::lexer::{Token, tokens};
use super::regex;

/// How deep expressions nest.
const DEPTH_MAX: usize = 100;

/// An expression, and where it starts in its string, in characters.
#[derive(Debug)]
pub(super) struct Expr {
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Null,
    Bool(bool),
    Number(f64),
    Text(Arc<str>),
    Regex(Box<Regex>),
    Name(Arc<str>),
    List(Vec<Expr>),
    Not(Box<Expr>),
    Negate(Box<Expr>),
    Binary(Op, Box<Expr>, Box<Expr>),
    Ternary(Box<[Expr; 3]>),
    /// `a.b` and `a['b']`.
    Member(Box<Expr>, Arc<str>),
    /// `a[b]`, where `b` is no literal.
    Index(Box<Expr>, Box<Expr>),
    /// `a.b(c)` and `a['b'](c)`.
    Call(Box<Expr>, Arc<str>, Vec<Expr>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Or,
    And,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

/// The binary operators, the loosest level first.
const LEVELS: [&[(&str, Op)]; 6] = [
    &[("||", Op::Or)],
    &[("&&", Op::And)],
    &[("===", Op::Equal), ("!==", Op::NotEqual), ("==", Op::Equal), ("!=", Op::NotEqual)],
    &[("<=", Op::LessOrEqual), (">=", Op::GreaterOrEqual), ("<", Op::Less), (">", Op::Greater)],
    &[("+", Op::Add), ("-", Op::Subtract)],
    &[("*", Op::Multiply), ("/", Op::Divide), ("%", Op::Remainder)],
];

/// Something wrong, and where in the expression.
pub(super) type Wrong = (usize, String);

/// Reads an expression.
pub(super) fn parse(source: &str) -> Result<Expr, Wrong> {
    let end = source.chars().count();
    let mut parser = Parser { tokens: tokens(source)?, at: 0, end, depth: 0 };
    let expr = parser.expression()?;
    match parser.peek() {
        None => Ok(expr),
        Some(_) => Err(parser.unexpected()),
    }
}

struct Parser {
    tokens: Vec<(usize, Token)>,
    at: usize,
    end: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    fn place(&self) -> usize {
        self.tokens.get(self.at).map_or(self.end, |(place, _)| *place)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Mark(here)) if *here == mark);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, mark: &str) -> Result<(), Wrong> {
        match self.take(mark) {
            true => Ok(()),
            false => Err((self.place(), format!("Expected '{mark}'."))),
        }
    }

    fn unexpected(&self) -> Wrong {
        let text = match self.peek() {
            None => "Unexpected end of the expression.".to_owned(),
            Some(Token::Mark(mark)) => format!("Unexpected '{mark}'."),
            Some(Token::Name(name)) => format!("Unexpected '{name}'."),
            Some(Token::Number(number)) => format!("Unexpected '{number}'."),
            Some(Token::Text(_)) => "Unexpected string.".to_owned(),
            Some(Token::Regex(..)) => "Unexpected regular expression.".to_owned(),
        };
        (self.place(), text)
    }

    fn expression(&mut self) -> Result<Expr, Wrong> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err((
                self.place(),
                format!("Expressions nest deeper than {DEPTH_MAX} levels."),
            ));
        }
        let at = self.place();
        let condition = self.binary(0)?;
        let expr = match self.take("?") {
            false => condition,
            true => {
                let then = self.expression()?;
                self.expect(":")?;
                let otherwise = self.expression()?;
                Expr { at, kind: Kind::Ternary(Box::new([condition, then, otherwise])) }
            }
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn binary(&mut self, level: usize) -> Result<Expr, Wrong> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        let mut chained = 0;
        while let Some((mark, op)) = operators
            .iter()
            .find(|(mark, _)| matches!(self.peek(), Some(Token::Mark(here)) if here == mark))
        {
            let at = self.place();
            // A long chain is as deep a tree as a nested one.
            chained += 1;
            if chained > 4 * DEPTH_MAX {
                return Err((at, format!("More than {} operators in a row.", 4 * DEPTH_MAX)));
            }
            self.take(mark);
            let right = self.binary(level + 1)?;
            left = Expr { at, kind: Kind::Binary(*op, Box::new(left), Box::new(right)) };
        }
        Ok(left)
    }

    fn unary(&mut self) -> Result<Expr, Wrong> {
        let at = self.place();
        let is_not = self.take("!");
        if !is_not && !self.take("-") {
            return self.postfix();
        }
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err((at, format!("Expressions nest deeper than {DEPTH_MAX} levels.")));
        }
        let of = Box::new(self.unary()?);
        self.depth -= 1;
        Ok(Expr { at, kind: if is_not { Kind::Not(of) } else { Kind::Negate(of) } })
    }

    fn postfix(&mut self) -> Result<Expr, Wrong> {
        let mut of = self.primary()?;
        let mut chained = 0;
        loop {
            let at = self.place();
            chained += 1;
            if chained > 4 * DEPTH_MAX {
                return Err((at, format!("More than {} steps in a row.", 4 * DEPTH_MAX)));
            }
            let name = if self.take(".") {
                match self.peek() {
                    Some(Token::Name(name)) => {
                        let name = Arc::clone(name);
                        self.at += 1;
                        name
                    }
                    _ => return Err(self.unexpected()),
                }
            } else if self.take("[") {
                let index = self.expression()?;
                self.expect("]")?;
                match index.kind {
                    Kind::Text(name) => name,
                    _ => {
                        of = Expr { at, kind: Kind::Index(Box::new(of), Box::new(index)) };
                        continue;
                    }
                }
            } else {
                return Ok(of);
            };
            let kind = match self.take("(") {
                true => Kind::Call(Box::new(of), name, self.items(")")?),
                false => Kind::Member(Box::new(of), name),
            };
            of = Expr { at, kind };
        }
    }

    fn items(&mut self, close: &str) -> Result<Vec<Expr>, Wrong> {
        let mut items = Vec::new();
        if self.take(close) {
            return Ok(items);
        }
        loop {
            items.push(self.expression()?);
            if self.take(close) {
                return Ok(items);
            }
            self.expect(",")?;
        }
    }

    fn primary(&mut self) -> Result<Expr, Wrong> {
        let at = self.place();
        if self.take("(") {
            let inner = self.expression()?;
            self.expect(")")?;
            return Ok(inner);
        }
        if self.take("[") {
            return Ok(Expr { at, kind: Kind::List(self.items("]")?) });
        }
        let kind = match self.peek() {
            Some(Token::Number(number)) => Kind::Number(*number),
            Some(Token::Text(text)) => Kind::Text(Arc::clone(text)),
            Some(Token::Regex(pattern, flags)) => {
                let regex = regex::compile(pattern, flags).map_err(|text| (at, text))?;
                Kind::Regex(Box::new(regex))
            }
            Some(Token::Name(name)) => match &**name {
                "null" => Kind::Null,
                "true" => Kind::Bool(true),
                "false" => Kind::Bool(false),
                _ => Kind::Name(Arc::clone(name)),
            },
            Some(Token::Mark(_)) | None => return Err(self.unexpected()),
        };
        self.at += 1;
        Ok(Expr { at, kind })
    }
}

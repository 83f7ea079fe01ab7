//! The parser itself: its place among the tokens, and complaints about what stands there.

use std::sync::Arc;

use crate::lexer::{self, Kind, Token};
use crate::limits::DIAGNOSTICS_MAX;
use crate::position::Span;
use crate::tree::File;

/// An error of a source: where, and the product's text.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) at: Span,
    pub(crate) text: String,
}

/// Reading cannot go on here; the complaint is made already.
#[derive(Debug)]
pub(super) struct Lost;

pub(super) type Parsed<T> = Result<T, Lost>;

/// What may start an expression, as the product lists it.
pub(super) const EXPRESSION_START: &str = "{'--', '++', '{', '[', '(', '-', '!', '/', 'false', 'null', 'true', \
     PATH_SEGMENT, IDENTIFIER, NUM_INT, NUM_FLOAT, UNPAIRED_DOUBLE_QUOTE, UNPAIRED_SINGLE_QUOTE, STRING, \
     BYTES}";

/// The tree of a source and what is wrong with it.
pub(crate) fn parse(source: &str) -> (File, Vec<Complaint>) {
    let tokens = lexer::tokens(source);
    let mut parser =
        Parser { source, tokens, at: 0, depth: 0, complaints: Vec::new(), given_up: false };
    let file = parser.file();
    (file, parser.complaints)
}

pub(super) struct Parser<'a> {
    pub(super) source: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    /// How deep expressions nest here.
    pub(super) depth: usize,
    pub(super) complaints: Vec<Complaint>,
    /// An expression was too deep to follow: nothing after it is read.
    pub(super) given_up: bool,
}

impl<'a> Parser<'a> {
    pub(super) fn token(&self) -> Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, count: usize) -> Token {
        let end = Span::new(self.source.len(), self.source.len());
        if self.given_up {
            return Token { kind: Kind::End, span: end };
        }
        self.tokens.get(self.at + count).copied().unwrap_or(Token { kind: Kind::End, span: end })
    }

    pub(super) fn text_of(&self, token: Token) -> &'a str {
        token.span.text(self.source)
    }

    pub(super) fn text(&self) -> &'a str {
        self.text_of(self.token())
    }

    /// The token as messages name it.
    pub(super) fn named(&self, token: Token) -> &'a str {
        match token.kind {
            Kind::End => "<EOF>",
            _ => self.text_of(token),
        }
    }

    pub(super) fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    pub(super) fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    pub(super) fn is_mark(&self, mark: &str) -> bool {
        matches!(self.token().kind, Kind::Mark | Kind::PathSlash) && self.text() == mark
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        self.token().kind == Kind::Identifier && self.text() == word
    }

    pub(super) fn take_mark(&mut self, mark: &str) -> bool {
        let found = self.is_mark(mark);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn identifier(&mut self) -> Option<(Arc<str>, Span)> {
        let token = self.token();
        if token.kind != Kind::Identifier {
            return None;
        }
        self.advance();
        Some((Arc::from(self.text_of(token)), token.span))
    }

    pub(super) fn complain(&mut self, at: Span, text: impl Into<String>) {
        if self.complaints.len() < DIAGNOSTICS_MAX && !self.given_up {
            self.complaints.push(Complaint { at, text: text.into() });
        }
    }

    pub(super) fn complain_here(&mut self, text: impl Into<String>) -> Lost {
        let at = self.token().span;
        self.complain(at, text);
        Lost
    }

    /// The token here fits nowhere.
    pub(super) fn unexpected(&mut self) -> Lost {
        let token = self.token();
        if self.complaints.len() >= DIAGNOSTICS_MAX {
            return Lost;
        }
        if token.kind == Kind::Unpaired {
            return self.complain_here(format!("Missing a closing {}", self.quote(token)));
        }
        if token.kind == Kind::Unknown {
            let text = self.text_of(token);
            return self.complain_here(format!("token recognition error at: '{text}'"));
        }
        let named = self.named(token);
        self.complain_here(format!("Unexpected '{named}'."))
    }

    pub(super) fn mismatched(&mut self, expecting: &str) -> Lost {
        let token = self.token();
        if matches!(token.kind, Kind::Unpaired | Kind::Unknown) {
            return self.unexpected();
        }
        let named = self.named(token);
        self.complain_here(format!("mismatched input '{named}' expecting {expecting}"))
    }

    /// The quote that an unpaired one opened with: the last one before it on its line that was left open.
    pub(super) fn quote(&self, token: Token) -> char {
        let before = Span { start: 0, end: token.span.end }.text(self.source);
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.chars().rev().find(|character| matches!(character, '\'' | '"')).unwrap_or('\'')
    }

    /// Skips to behind the next `;` or to the `}` that closes the block read now.
    pub(super) fn skip_statement(&mut self) {
        let mut open = 0_usize;
        while !self.at_end() {
            let text = self.text();
            match (self.token().kind, text) {
                (Kind::Mark, ";") if open == 0 => {
                    self.advance();
                    return;
                }
                (Kind::Mark, "{") => open += 1,
                (Kind::Mark, "}") if open == 0 => return,
                (Kind::Mark, "}") => open -= 1,
                (Kind::Identifier, "allow" | "match" | "function") if open == 0 => return,
                _ => {}
            }
            self.advance();
        }
    }
}

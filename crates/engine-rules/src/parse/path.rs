//! Paths: of match blocks, and as literals in expressions.

use std::sync::Arc;

use super::{Parsed, Parser};
use crate::lexer::{Kind, segment_value};
use crate::position::Span;
use crate::tree::{MatchSegment, PathPart};

/// `{x}` or `{x=**}`.
struct Capture {
    name: Arc<str>,
    name_span: Span,
    is_glob: bool,
    end: Span,
}

impl Parser<'_> {
    pub(super) fn starts_path(&self) -> bool {
        matches!(self.token().kind, Kind::Segment | Kind::PathSlash)
    }

    /// The path of a match block.
    pub(super) fn match_path(&mut self) -> Parsed<Vec<(MatchSegment, Span, Span)>> {
        let mut segments = Vec::new();
        while self.starts_path() {
            let token = self.token();
            if token.kind == Kind::Segment {
                self.advance();
                let text = self.text_of(token).get(1..).unwrap_or_default();
                let literal = MatchSegment::Literal(segment_value(text).into());
                segments.push((literal, token.span, token.span));
                continue;
            }
            if self.text_of(self.ahead(1)) == "(" {
                let (text, span) = self.parenthesised_segment()?;
                segments.push((MatchSegment::Literal(text), span, span));
                continue;
            }
            if self.text_of(self.ahead(1)) != "{" {
                self.advance();
                return Err(self.unexpected());
            }
            let capture = self.capture()?;
            let segment = match capture.is_glob {
                true => MatchSegment::Glob(capture.name),
                false => MatchSegment::Single(capture.name),
            };
            segments.push((segment, token.span.to(capture.end), capture.name_span));
        }
        if self.is_mark("/") {
            return Err(self.complain_here(NOT_A_SEGMENT));
        }
        if segments.is_empty() {
            return Err(self.unexpected());
        }
        Ok(segments)
    }

    /// A path literal: its parts, and where it ends.
    pub(super) fn path_literal(&mut self) -> Parsed<(Vec<PathPart>, Span)> {
        let mut parts = Vec::new();
        let mut end = self.token().span;
        while self.starts_path() {
            let token = self.token();
            if token.kind == Kind::Segment {
                self.advance();
                let text = self.text_of(token).get(1..).unwrap_or_default();
                parts.push(PathPart::Text(segment_value(text).into()));
                end = token.span;
                continue;
            }
            match self.text_of(self.ahead(1)) {
                "$" => {
                    let (part, span) = self.interpolation()?;
                    parts.push(part);
                    end = span;
                }
                "(" => {
                    let (text, span) = self.parenthesised_segment()?;
                    parts.push(PathPart::Text(text));
                    end = span;
                }
                _ => {
                    let capture = self.capture()?;
                    end = capture.end;
                    parts.push(match capture.is_glob {
                        true => PathPart::GlobCapture(capture.name),
                        false => PathPart::Capture(capture.name),
                    });
                }
            }
        }
        Ok((parts, end))
    }

    /// `/$(expression)`
    fn interpolation(&mut self) -> Parsed<(PathPart, Span)> {
        self.advance();
        self.advance();
        if !self.take_mark("(") {
            return Err(self.unexpected());
        }
        if !self.starts_expression() {
            return Err(self.mismatched(super::EXPRESSION_START));
        }
        let value = self.nested()?;
        let end = self.token().span;
        if !self.take_mark(")") {
            return Err(self.unexpected());
        }
        Ok((PathPart::Value(value), end))
    }

    /// `/(default)`: the parentheses belong to the segment.
    fn parenthesised_segment(&mut self) -> Parsed<(Arc<str>, Span)> {
        let slash = self.advance();
        self.advance();
        let Some((name, _)) = self.identifier() else { return Err(self.unexpected()) };
        let end = self.token().span;
        if !self.take_mark(")") {
            return Err(self.unexpected());
        }
        Ok((Arc::from(format!("({name})")), slash.span.to(end)))
    }

    fn capture(&mut self) -> Parsed<Capture> {
        let slash = self.advance();
        self.advance();
        let Some((name, name_span)) = self.identifier() else {
            self.complain(slash.span, NOT_A_SEGMENT);
            return Err(super::Lost);
        };
        let is_glob = self.take_mark("=");
        if is_glob && !self.take_mark("**") {
            return Err(self.mismatched("'**'"));
        }
        let end = self.token().span;
        if !self.take_mark("}") {
            return Err(self.mismatched("'}'"));
        }
        Ok(Capture { name, name_span, is_glob, end })
    }
}

const NOT_A_SEGMENT: &str = "Forward slash '/' found where identifier or binding expected.";

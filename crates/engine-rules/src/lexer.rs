//! Source to tokens. Never fails: what cannot be read becomes a token the parser complains about.

use std::borrow::Cow;

use crate::position::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Identifier,
    Int,
    Float,
    String,
    Bytes,
    /// `/name`, with no space between: a segment of a path.
    Segment,
    /// `/` directly followed by what may open a segment: `{`, `(` or `$`.
    PathSlash,
    /// Operators, brackets and other marks.
    Mark,
    /// A quote that is never closed; its span is where the line ends.
    Unpaired,
    /// A character that starts no token.
    Unknown,
    End,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) span: Span,
}

/// Marks of two characters; all others are one.
const PAIRS: [&str; 9] = ["&&", "||", "==", "!=", "<=", ">=", "++", "--", "**"];
const SINGLES: &str = "{}[]()<>+-*/%!?:;,.=$&|";

pub(crate) fn tokens(source: &str) -> Vec<Token> {
    let mut lexer = Lexer { source, at: 0, is_unclosed: false };
    let mut tokens = Vec::new();
    loop {
        lexer.skip_blank();
        let start = lexer.at;
        let Some(character) = lexer.peek() else {
            tokens.push(Token { kind: Kind::End, span: Span::new(start, start) });
            return tokens;
        };
        let kind = lexer.token(character);
        // Every token has at least one character, so that this ends.
        if lexer.at == start {
            lexer.at += character.len_utf8();
        }
        let span = match kind {
            Kind::Unpaired => Span::new(lexer.at, lexer.at),
            _ => Span::new(start, lexer.at),
        };
        tokens.push(Token { kind, span });
    }
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    /// Whether a comment was opened that nothing closes.
    is_unclosed: bool,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        self.source.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, take: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|character| !take(character)).unwrap_or(rest.len());
    }

    fn skip_blank(&mut self) {
        loop {
            self.take_while(char::is_whitespace);
            let rest = self.rest();
            if rest.starts_with("//") {
                self.take_while(|character| character != '\n');
            } else if rest.starts_with("/*") && !self.is_unclosed {
                match rest.find("*/") {
                    Some(end) => self.at += end + 2,
                    // Not looked for again: a source of nothing but openings is read in linear time.
                    None => self.is_unclosed = true,
                }
            } else {
                return;
            }
        }
    }

    fn token(&mut self, first: char) -> Kind {
        match first {
            '\'' | '"' => self.string(Kind::String),
            'b' if matches!(self.rest().chars().nth(1), Some('\'' | '"')) => {
                self.at += 1;
                self.string(Kind::Bytes)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                self.take_while(|character| character.is_ascii_alphanumeric() || character == '_');
                Kind::Identifier
            }
            '0'..='9' => self.number(),
            '.' if self.rest().chars().nth(1).is_some_and(|next| next.is_ascii_digit()) => {
                self.number()
            }
            '/' => self.slash(),
            _ => self.mark(first),
        }
    }

    fn number(&mut self) -> Kind {
        self.take_while(|character| character.is_ascii_digit());
        if self.peek() != Some('.') {
            return Kind::Int;
        }
        self.at += 1;
        self.take_while(|character| character.is_ascii_digit());
        Kind::Float
    }

    fn string(&mut self, kind: Kind) -> Kind {
        let quote = self.peek();
        self.at += 1;
        loop {
            self.take_while(|character| !matches!(character, '\'' | '"' | '\\' | '\n' | '\r'));
            match self.peek() {
                None | Some('\n' | '\r') => return Kind::Unpaired,
                Some('\\') => {
                    let rest = self.rest();
                    let Some(length) = escape_length(rest) else { return Kind::Unpaired };
                    self.at += length;
                }
                found => {
                    self.at += 1;
                    if found == quote {
                        return kind;
                    }
                }
            }
        }
    }

    fn slash(&mut self) -> Kind {
        self.at += 1;
        match self.peek() {
            Some('{' | '(' | '$') => Kind::PathSlash,
            Some(next) if is_segment(next) => {
                self.take_while(is_segment);
                Kind::Segment
            }
            _ => Kind::Mark,
        }
    }

    fn mark(&mut self, first: char) -> Kind {
        let rest = self.rest();
        if PAIRS.iter().any(|pair| rest.starts_with(pair)) {
            self.at += 2;
            return Kind::Mark;
        }
        self.at += first.len_utf8();
        if SINGLES.contains(first) { Kind::Mark } else { Kind::Unknown }
    }
}

fn is_segment(character: char) -> bool {
    character.is_ascii_alphanumeric() || "_-.~%@+:*&'".contains(character)
}

/// Length of the escape a text starts with, backslash and all.
fn escape_length(text: &str) -> Option<usize> {
    let mut characters = text.chars();
    characters.next();
    let digits = match characters.next()? {
        '\\' | '\'' | '"' | 'n' | 'r' | 't' => return Some(2),
        'x' => 2,
        'u' => 4,
        _ => return None,
    };
    let hex = text.get(2..2 + digits)?;
    hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(2 + digits)
}

/// The UTF-16 code units of a quoted literal's text, escapes read.
fn units(literal: &str) -> Vec<u16> {
    let quoted = literal.strip_prefix('b').unwrap_or(literal);
    let inner = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default();
    let mut units = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(character) = rest.chars().next() {
        if character != '\\' {
            let mut buffer = [0; 2];
            units.extend_from_slice(character.encode_utf16(&mut buffer));
            rest = rest.get(character.len_utf8()..).unwrap_or_default();
            continue;
        }
        let length = escape_length(rest).unwrap_or(rest.len());
        let hex = rest.get(2..length).unwrap_or_default();
        units.push(match rest.chars().nth(1) {
            Some('n') => 10,
            Some('r') => 13,
            Some('t') => 9,
            Some('x' | 'u') => u16::from_str_radix(hex, 16).unwrap_or_default(),
            Some(other) => u16::try_from(u32::from(other)).unwrap_or_default(),
            None => break,
        });
        rest = rest.get(length..).unwrap_or_default();
    }
    units
}

/// What a string literal means. Half of a surrogate pair becomes a question mark, as the product shows it.
pub(crate) fn string_value(literal: &str) -> String {
    char::decode_utf16(units(literal)).map(|unit| unit.unwrap_or('?')).collect()
}

/// What a bytes literal means: every character is a byte. `None` where one is none.
pub(crate) fn bytes_value(literal: &str) -> Option<Vec<u8>> {
    if literal.contains("\\u") {
        return None;
    }
    units(literal).into_iter().map(|unit| u8::try_from(unit).ok()).collect()
}

/// What a segment of a path means: percent escapes and plus signs are read.
pub(crate) fn segment_value(text: &str) -> String {
    if !text.contains(['%', '+']) {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let escaped = after.get(..2).and_then(|hex| str::from_utf8(hex).ok());
        let escaped = escaped.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            (b'+', _) => {
                bytes.push(b' ');
                rest = after;
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    match String::from_utf8_lossy(&bytes) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_every_kind() {
        let table = [
            ("a_1 12 1.5 .5 1.", "IIdent Int Float Float Float End"),
            ("'a' \"b\" b'c'", "String String Bytes End"),
            (
                "/a /{ /( /$ / a",
                "Segment PathSlash Mark PathSlash Mark PathSlash Mark Mark Identifier End",
            ),
            ("// c\n/* d */ x", "Identifier End"),
            ("'a\nb", "Unpaired Identifier End"),
            ("# == --", "Unknown Mark Mark End"),
        ];
        for (source, expected) in table {
            let kinds: Vec<_> =
                tokens(source).iter().map(|token| format!("{:?}", token.kind)).collect();
            let expected = expected.replace("IIdent", "Identifier");
            assert_eq!(kinds.join(" "), expected, "{source}");
        }
    }

    #[test]
    fn literals_are_read() {
        assert_eq!(string_value("'\\n\\x41\\u00e9\\''"), "\nA\u{e9}'");
        assert_eq!(string_value("'\\ud83d\\ude00\\ud83d'"), "\u{1f600}?");
        assert_eq!(bytes_value("b'a\\xff'"), Some(vec![b'a', 255]));
        assert_eq!(bytes_value("b'\\u00e9'"), None);
        assert_eq!(segment_value("b%20c+d%"), "b c d%");
    }
}

//! Reading the file: JSON with comments, and where everything in it stands.

use std::fmt;

/// How deep objects nest: below 32 levels of data there are only rules of one level more.
const DEPTH_MAX: usize = 64;

/// Something wrong with a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    /// The line, from 1.
    pub line: u32,
    /// The character in the line, from 1.
    pub column: u32,
    /// What is wrong.
    pub text: String,
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.text)
    }
}

impl std::error::Error for SourceError {}

/// A place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

impl Place {
    pub(super) fn error(self, text: impl Into<String>) -> SourceError {
        SourceError { line: self.line, column: self.column, text: text.into() }
    }
}

/// A value of the file.
#[derive(Debug)]
pub(super) enum Json {
    Object(Vec<Member>),
    Array(Vec<(Place, Json)>),
    String(String),
    Bool(bool),
    /// A number or null, which no rule is.
    Other,
}

#[derive(Debug)]
pub(super) struct Member {
    pub(super) key: String,
    /// Of the key.
    pub(super) place: Place,
    /// Of the value.
    pub(super) at: Place,
    pub(super) value: Json,
}

/// Reads a whole source.
pub(super) fn read(source: &str) -> Result<(Place, Json), SourceError> {
    let mut reader = Reader { rest: source.chars().collect(), at: 0, line: 1, column: 1, depth: 0 };
    reader.blank()?;
    let place = reader.place();
    let value = reader.value()?;
    reader.blank()?;
    match reader.peek() {
        None => Ok((place, value)),
        Some(other) => Err(reader.place().error(format!("Unexpected '{other}'."))),
    }
}

struct Reader {
    rest: Vec<char>,
    at: usize,
    line: u32,
    column: u32,
    depth: usize,
}

impl Reader {
    fn place(&self) -> Place {
        Place { line: self.line, column: self.column }
    }

    fn peek(&self) -> Option<char> {
        self.rest.get(self.at).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        if next == '\n' {
            self.line += 1;
            self.column = 1;
        } else {
            self.column += 1;
        }
        Some(next)
    }

    /// Passes over blanks and comments.
    fn blank(&mut self) -> Result<(), SourceError> {
        loop {
            match (self.peek(), self.rest.get(self.at + 1)) {
                (Some(' ' | '\t' | '\n' | '\r'), _) => drop(self.next()),
                (Some('/'), Some('/')) => {
                    while self.peek().is_some_and(|next| next != '\n') {
                        self.next();
                    }
                }
                (Some('/'), Some('*')) => {
                    let began = self.place();
                    self.next();
                    self.next();
                    loop {
                        match self.next() {
                            Some('*') if self.peek() == Some('/') => break,
                            Some(_) => {}
                            None => return Err(began.error("This comment has no end.")),
                        }
                    }
                    self.next();
                }
                _ => return Ok(()),
            }
        }
    }

    fn expect(&mut self, wanted: char) -> Result<(), SourceError> {
        match self.peek() {
            Some(next) if next == wanted => {
                self.next();
                Ok(())
            }
            _ => Err(self.place().error(format!("Expected '{wanted}'."))),
        }
    }

    fn value(&mut self) -> Result<Json, SourceError> {
        match self.peek() {
            Some('{') => self.nested(Self::object),
            Some('[') => self.nested(Self::array),
            Some('"' | '\'') => Ok(Json::String(self.string()?)),
            _ => self.word(),
        }
    }

    fn nested(
        &mut self,
        read: fn(&mut Self) -> Result<Json, SourceError>,
    ) -> Result<Json, SourceError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(self.place().error(format!("Rules nest deeper than {DEPTH_MAX} levels.")));
        }
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    fn object(&mut self) -> Result<Json, SourceError> {
        self.expect('{')?;
        let mut members: Vec<Member> = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some('}') {
                self.next();
                return Ok(Json::Object(members));
            }
            if !members.is_empty() {
                self.expect(',')?;
                self.blank()?;
                // A comma may stand behind the last member.
                if self.peek() == Some('}') {
                    continue;
                }
            }
            let place = self.place();
            let key = self.string()?;
            if members.iter().any(|member| member.key == key) {
                return Err(place.error(format!("'{key}' is there twice.")));
            }
            self.blank()?;
            self.expect(':')?;
            self.blank()?;
            let at = self.place();
            let value = self.value()?;
            members.push(Member { key, place, at, value });
        }
    }

    fn array(&mut self) -> Result<Json, SourceError> {
        self.expect('[')?;
        let mut items = Vec::new();
        loop {
            self.blank()?;
            if self.peek() == Some(']') {
                self.next();
                return Ok(Json::Array(items));
            }
            if !items.is_empty() {
                self.expect(',')?;
                self.blank()?;
            }
            let place = self.place();
            items.push((place, self.value()?));
        }
    }

    fn string(&mut self) -> Result<String, SourceError> {
        let began = self.place();
        let Some(quote @ ('"' | '\'')) = self.peek() else {
            return Err(began.error("Expected '\"'."));
        };
        self.next();
        let mut text = String::new();
        loop {
            match self.next() {
                None | Some('\n') => return Err(began.error("This string has no end.")),
                Some(next) if next == quote => return Ok(text),
                Some('\\') => text.push(self.escape(began)?),
                Some(next) => text.push(next),
            }
        }
    }

    fn escape(&mut self, began: Place) -> Result<char, SourceError> {
        Ok(match self.next() {
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('u') => {
                let unit = self.unit(began)?;
                let code = match unit {
                    0xd800..=0xdbff if self.next() == Some('\\') && self.next() == Some('u') => {
                        let low = self.unit(began)?;
                        0x1_0000 + ((unit - 0xd800) << 10) + (low.wrapping_sub(0xdc00) & 0x3ff)
                    }
                    unit => unit,
                };
                char::from_u32(code)
                    .ok_or_else(|| began.error("This string has half of a character."))?
            }
            Some(other) => other,
            None => return Err(began.error("This string has no end.")),
        })
    }

    fn unit(&mut self, began: Place) -> Result<u32, SourceError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.next().and_then(|digit| digit.to_digit(16));
            let digit = digit.ok_or_else(|| began.error("'\\u' takes four hexadecimal digits."))?;
            unit = unit * 16 + digit;
        }
        Ok(unit)
    }

    fn word(&mut self) -> Result<Json, SourceError> {
        let place = self.place();
        let mut word = String::new();
        while let Some(next) =
            self.peek().filter(|next| next.is_ascii_alphanumeric() || "+-.".contains(*next))
        {
            word.push(next);
            self.next();
        }
        match word.as_str() {
            "true" => Ok(Json::Bool(true)),
            "false" => Ok(Json::Bool(false)),
            "null" => Ok(Json::Other),
            word if word.parse::<f64>().is_ok() => Ok(Json::Other),
            _ => Err(place.error("Expected a value.")),
        }
    }
}

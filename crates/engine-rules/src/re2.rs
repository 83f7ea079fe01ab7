//! Regular expressions as RE2 reads them, run by the `regex` crate: both are linear in time, and what they
//! spell differently is translated here.

use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use crate::error::{Failure, failure};
use crate::limits::{REGEX_MAX_BYTES, REGEX_REPEAT_MAX, REGEX_TEXT_MAX_BYTES};

/// A compiled regular expression, in the two ways methods use it.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    /// Matches a whole text.
    pub(crate) whole: Arc<Regex>,
    /// Finds parts of a text.
    pub(crate) part: Arc<Regex>,
}

impl Pattern {
    /// Compiles an expression; the failure is the product's.
    pub(crate) fn new(text: &str) -> Result<Self, Failure> {
        let invalid = || failure(format!("Invalid regular expression pattern. Pattern: {text}."));
        if text.len() > REGEX_TEXT_MAX_BYTES {
            return Err(invalid());
        }
        let translated = translate(text).ok_or_else(invalid)?;
        let build = |text: &str| {
            RegexBuilder::new(text)
                .size_limit(REGEX_MAX_BYTES)
                .dfa_size_limit(REGEX_MAX_BYTES)
                .build()
                .map(Arc::new)
                .map_err(|_| invalid())
        };
        // Alone first: `a)(b` would balance inside of the group.
        let part = build(&translated)?;
        let whole = build(&format!("\\A(?:{translated})\\z"))?;
        Ok(Pattern { whole, part })
    }
}

/// The expression as the `regex` crate spells it; `None` where RE2 refuses it for a reason that crate does not
/// have.
fn translate(text: &str) -> Option<String> {
    let mut reader = Reader { characters: text.chars().collect(), at: 0 };
    let mut out = String::with_capacity(text.len() + 16);
    while let Some(character) = reader.next() {
        match character {
            '\\' => escape(&mut reader, &mut out, false)?,
            '[' => class(&mut reader, &mut out)?,
            '(' => group(&mut reader, &mut out)?,
            '*' | '+' | '?' => {
                out.push(character);
                after_repeat(&mut reader, &mut out)?;
            }
            '{' => repeat(&mut reader, &mut out)?,
            _ => out.push(character),
        }
    }
    Some(out)
}

struct Reader {
    characters: Vec<char>,
    at: usize,
}

impl Reader {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.characters.get(self.at + ahead).copied()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek(0)?;
        self.at += 1;
        Some(next)
    }

    fn find(&self, wanted: &str) -> Option<usize> {
        let wanted: Vec<char> = wanted.chars().collect();
        let rest = self.characters.get(self.at..)?;
        rest.windows(wanted.len()).position(|window| window == wanted)
    }
}

/// RE2 refuses to repeat a repetition; the `regex` crate reads `a**`.
fn after_repeat(reader: &mut Reader, out: &mut String) -> Option<()> {
    if reader.peek(0) == Some('?') {
        reader.next();
        out.push('?');
    }
    match reader.peek(0) {
        Some('*' | '+' | '?') => None,
        _ => Some(()),
    }
}

/// `{2,3}`, or a brace that stands for itself.
fn repeat(reader: &mut Reader, out: &mut String) -> Option<()> {
    let Some(length) = reader.find("}") else {
        out.push_str("\\{");
        return Some(());
    };
    let inner: String = reader.characters.get(reader.at..reader.at + length)?.iter().collect();
    let (least, most) = inner.split_once(',').unwrap_or((&inner, &inner));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(least) || !(most.is_empty() || digits(most)) {
        out.push_str("\\{");
        return Some(());
    }
    let within = |text: &str| text.parse().is_ok_and(|count: u32| count <= REGEX_REPEAT_MAX);
    if !within(least) || !(most.is_empty() || within(most)) {
        return None;
    }
    reader.at += length + 1;
    out.push_str(&format!("{{{inner}}}"));
    after_repeat(reader, out)
}

fn group(reader: &mut Reader, out: &mut String) -> Option<()> {
    out.push('(');
    if reader.peek(0) != Some('?') {
        return Some(());
    }
    if reader.peek(1) == Some('P') || reader.peek(1) == Some('<') {
        return Some(());
    }
    // Flags: RE2 knows these alone.
    let mut ahead = 1;
    loop {
        match reader.peek(ahead)? {
            'i' | 'm' | 's' | 'U' | '-' => ahead += 1,
            ':' | ')' => return Some(()),
            _ => return None,
        }
    }
}

/// The characters that `\d`, `\w` and `\s` mean: ASCII only.
fn perl(letter: char) -> Option<&'static str> {
    match letter {
        'd' | 'D' => Some("0-9"),
        'w' | 'W' => Some("0-9A-Za-z_"),
        's' | 'S' => Some("\\t\\n\\x0C\\r "),
        _ => None,
    }
}

fn escape(reader: &mut Reader, out: &mut String, in_class: bool) -> Option<()> {
    let letter = reader.next()?;
    if let Some(characters) = perl(letter) {
        let not = if letter.is_ascii_uppercase() { "^" } else { "" };
        out.push_str(&format!("[{not}{characters}]"));
        return Some(());
    }
    match letter {
        'Q' => {
            let length = reader.find("\\E").unwrap_or(reader.characters.len() - reader.at);
            let literal: String =
                reader.characters.get(reader.at..reader.at + length)?.iter().collect();
            out.push_str(&regex::escape(&literal));
            reader.at = (reader.at + length + 2).min(reader.characters.len());
        }
        'b' if !in_class => out.push_str("(?-u:\\b)"),
        'B' if !in_class => out.push_str("\\B"),
        'A' | 'z' if !in_class => out.extend(['\\', letter]),
        'a' | 'f' | 'n' | 'r' | 't' | 'v' | 'x' => out.extend(['\\', letter]),
        'p' | 'P' => property(reader, out, letter)?,
        '0'..='7' => octal(reader, out, letter)?,
        letter if letter.is_ascii_alphanumeric() => return None,
        other => out.push_str(&regex::escape(&other.to_string())),
    }
    Some(())
}

/// `\p{Greek}`, `\pN`, `\p{^Greek}`
fn property(reader: &mut Reader, out: &mut String, letter: char) -> Option<()> {
    let first = reader.next()?;
    if first != '{' {
        out.push_str(&format!("\\{letter}{{{first}}}"));
        return Some(());
    }
    let length = reader.find("}")?;
    let name: String = reader.characters.get(reader.at..reader.at + length)?.iter().collect();
    reader.at += length + 1;
    let (letter, name) = match (letter, name.strip_prefix('^')) {
        ('p', Some(rest)) => ('P', rest),
        ('P', Some(rest)) => ('p', rest),
        _ => (letter, name.as_str()),
    };
    // The `regex` crate also takes `name=value`.
    if !name.chars().all(|character| character.is_ascii_alphanumeric() || character == '_') {
        return None;
    }
    out.push_str(&format!("\\{letter}{{{name}}}"));
    Some(())
}

/// `\101`; a single digit would be a back-reference, which there is none of, except for `\0`.
fn octal(reader: &mut Reader, out: &mut String, first: char) -> Option<()> {
    let mut value = first.to_digit(8)?;
    let mut count = 1;
    while count < 3
        && let Some(digit) = reader.peek(0).and_then(|next| next.to_digit(8))
    {
        value = value * 8 + digit;
        reader.next();
        count += 1;
    }
    if count == 1 && first != '0' {
        return None;
    }
    out.push_str(&format!("\\x{{{value:x}}}"));
    Some(())
}

/// `[...]`: brackets and what the `regex` crate reads as set operations stand for themselves.
fn class(reader: &mut Reader, out: &mut String) -> Option<()> {
    out.push('[');
    if reader.peek(0) == Some('^') {
        reader.next();
        out.push('^');
    }
    let mut is_first = true;
    while let Some(character) = reader.next() {
        match character {
            ']' if !is_first => {
                out.push(']');
                return Some(());
            }
            '[' if reader.peek(0) == Some(':') => {
                let length = reader.find(":]")?;
                let name: String =
                    reader.characters.get(reader.at..reader.at + length + 2)?.iter().collect();
                reader.at += length + 2;
                out.push_str(&format!("[{name}"));
            }
            '\\' => escape(reader, out, true)?,
            '[' | ']' | '&' | '~' | '^' => out.extend(['\\', character]),
            '-' => {
                let is_range = !is_first && reader.peek(0) != Some(']');
                out.push_str(if is_range { "-" } else { "\\-" });
            }
            other => out.push(other),
        }
        is_first = false;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn re2_is_translated() {
        let table = [
            ("a.c", Some("a.c")),
            ("\\d", Some("[0-9]")),
            ("[\\w-]", Some("[[0-9A-Za-z_]\\-]")),
            ("[[:alpha:]]", Some("[[:alpha:]]")),
            ("[]a]", Some("[\\]a]")),
            ("[a&&b]", Some("[a\\&\\&b]")),
            ("a{,3}", Some("a\\{,3}")),
            ("a{1001}", None),
            ("a**", None),
            ("(?x)a", None),
            ("(?=a)", None),
            ("\\Qa.b\\E", Some("a\\.b")),
            ("\\101", Some("\\x{41}")),
            ("\\1", None),
            ("\\p{^Greek}", Some("\\P{Greek}")),
        ];
        for (text, expected) in table {
            assert_eq!(translate(text).as_deref(), expected, "{text}");
        }
    }
}

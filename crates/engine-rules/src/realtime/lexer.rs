//! Tokens of expressions.

use std::sync::Arc;

/// A token, and where it starts in the expression, in characters.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(Arc<str>),
    /// Pattern and flags.
    Regex(Arc<str>, Arc<str>),
    /// A name, with its `$` where it is one of a wildcard.
    Name(Arc<str>),
    Mark(&'static str),
}

/// Longest first, so that `===` is not `==` and `=`.
const MARKS: [&str; 24] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "<", ">", "+", "-", "*", "/", "%", "!", "?",
    ":", "(", ")", "[", "]", ",", ".",
];

/// The tokens of an expression with their places, or what is wrong and where.
pub(super) fn tokens(source: &str) -> Result<Vec<(usize, Token)>, (usize, String)> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens: Vec<(usize, Token)> = Vec::new();
    let mut at = 0;
    while let Some(&next) = chars.get(at) {
        if next.is_whitespace() {
            at += 1;
            continue;
        }
        let began = at;
        let token = match next {
            '\'' | '"' => Token::Text(quoted(&chars, &mut at, next)?.into()),
            '0'..='9' => Token::Number(number(&chars, &mut at)?),
            '.' if chars.get(at + 1).is_some_and(char::is_ascii_digit) => {
                Token::Number(number(&chars, &mut at)?)
            }
            '/' if starts_operand(tokens.last().map(|(_, token)| token)) => regex(&chars, &mut at)?,
            '$' | '_' | 'a'..='z' | 'A'..='Z' => {
                let is_part = |c: &&char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '-');
                // A wildcard's name may have a hyphen; any other name ends there.
                let is_name = |c: &&char| is_part(c) && (next == '$' || **c != '-');
                let name: String = chars.iter().skip(at).take_while(is_name).collect();
                at += name.chars().count();
                Token::Name(name.into())
            }
            _ => {
                let rest: String = chars.iter().skip(at).take(3).collect();
                let mark = MARKS.iter().find(|mark| rest.starts_with(**mark));
                let Some(mark) = mark else { return Err((at, format!("Unexpected '{next}'."))) };
                at += mark.len();
                Token::Mark(mark)
            }
        };
        tokens.push((began, token));
    }
    Ok(tokens)
}

/// Whether an operand comes next, so that `/` opens a regular expression and does not divide.
fn starts_operand(before: Option<&Token>) -> bool {
    match before {
        None => true,
        Some(Token::Mark(mark)) => !matches!(*mark, ")" | "]"),
        Some(_) => false,
    }
}

fn quoted(chars: &[char], at: &mut usize, quote: char) -> Result<String, (usize, String)> {
    let began = *at;
    *at += 1;
    let mut text = String::new();
    loop {
        let next = chars.get(*at).copied();
        *at += 1;
        match next {
            None => return Err((began, "This string has no end.".to_owned())),
            Some(next) if next == quote => return Ok(text),
            Some('\\') => {
                let escaped = chars.get(*at).copied();
                *at += 1;
                text.push(match escaped {
                    Some('n') => '\n',
                    Some('r') => '\r',
                    Some('t') => '\t',
                    Some(other) => other,
                    None => return Err((began, "This string has no end.".to_owned())),
                });
            }
            Some(next) => text.push(next),
        }
    }
}

fn number(chars: &[char], at: &mut usize) -> Result<f64, (usize, String)> {
    let began = *at;
    let mut text = String::new();
    while let Some(next) = chars.get(*at) {
        let is_sign = matches!(next, '+' | '-') && text.ends_with(['e', 'E']);
        if !(next.is_ascii_digit() || matches!(next, '.' | 'e' | 'E') || is_sign) {
            break;
        }
        text.push(*next);
        *at += 1;
    }
    text.parse().map_err(|_| (began, format!("'{text}' is no number.")))
}

fn regex(chars: &[char], at: &mut usize) -> Result<Token, (usize, String)> {
    let began = *at;
    *at += 1;
    let mut pattern = String::new();
    let mut in_set = false;
    loop {
        let next = chars.get(*at).copied();
        *at += 1;
        match next {
            None => return Err((began, "This regular expression has no end.".to_owned())),
            Some('/') if !in_set => break,
            Some('\\') => {
                pattern.push('\\');
                let Some(escaped) = chars.get(*at) else { continue };
                pattern.push(*escaped);
                *at += 1;
            }
            Some(next) => {
                in_set = (in_set || next == '[') && next != ']';
                pattern.push(next);
            }
        }
    }
    let flags: String = chars.iter().skip(*at).take_while(|c| c.is_ascii_alphabetic()).collect();
    *at += flags.len();
    Ok(Token::Regex(pattern.into(), flags.into()))
}

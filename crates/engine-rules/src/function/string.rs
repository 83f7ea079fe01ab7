//! Methods of strings.

use std::borrow::Cow;

use regex::{Captures, Regex};

use super::text::utf16_len;
use super::{Args, Builtin, Given, NOTHING, builtin, mismatch};
use crate::error::{Failure, failure, too_large};
use crate::limits::{LIST_MAX, TEXT_MAX_BYTES};
use crate::re2::Pattern;
use crate::value::{Type, Value};

pub(super) const METHODS: &[Builtin] = &[
    builtin("size", NOTHING, Type::Int, size),
    builtin("lower", NOTHING, Type::String, lower),
    builtin("upper", NOTHING, Type::String, upper),
    builtin("trim", NOTHING, Type::String, trim),
    builtin("matches", &[&[Type::String]], Type::Bool, matches),
    builtin("replace", &[&[Type::String, Type::String]], Type::String, replace),
    builtin("split", &[&[Type::String]], Type::List, split),
    builtin("toUtf8", NOTHING, Type::Bytes, to_utf8),
];

fn text<'a>(args: &'a Args<'_, '_>) -> &'a str {
    if let Value::String(text) = args.of { text } else { "" }
}

fn size<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::Int(i64::try_from(utf16_len(text(args))).unwrap_or(i64::MAX)))
}

fn lower<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::text(text(args).to_ascii_lowercase()))
}

fn upper<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::text(text(args).to_ascii_uppercase()))
}

/// Java's: everything up to the space.
fn trim<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::text(text(args).trim_matches(|character| character <= ' ')))
}

fn to_utf8<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::bytes(text(args)))
}

/// The first argument as a regular expression.
fn pattern<'a>(args: &Args<'a, '_>) -> Result<Cow<'a, Pattern>, Failure> {
    match (args.pattern, args.arg(0)) {
        (Some(pattern), _) => Ok(Cow::Borrowed(pattern)),
        (None, Value::String(text)) => Ok(Cow::Owned(Pattern::new(text)?)),
        (None, _) => Err(crate::error::null_value()),
    }
}

fn matches<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    Ok(Value::Bool(pattern(args)?.whole.is_match(text(args))))
}

/// All matches as Java finds them: an empty one may directly follow another.
fn captures<'t>(pattern: &Regex, text: &'t str) -> impl Iterator<Item = Captures<'t>> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let found = pattern.captures_at(text, from?)?;
        let whole = found.get(0)?;
        from = match text.get(whole.end()..).and_then(|rest| rest.chars().next()) {
            _ if !whole.is_empty() => Some(whole.end()),
            Some(next) => Some(whole.end() + next.len_utf8()),
            None => None,
        };
        Some(found)
    })
}

fn replace<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::String(replacement) = args.arg(1) else { return mismatch() };
    let (pattern, text) = (pattern(args)?, text(args));
    let mut out = String::new();
    let mut end = 0;
    for found in captures(&pattern.part, text) {
        let Some(whole) = found.get(0) else { continue };
        out.push_str(text.get(end..whole.start()).unwrap_or_default());
        append(&mut out, &found, replacement)?;
        end = whole.end();
        if out.len() > TEXT_MAX_BYTES {
            return Err(too_large());
        }
    }
    out.push_str(text.get(end..).unwrap_or_default());
    if out.len() > TEXT_MAX_BYTES {
        return Err(too_large());
    }
    Ok(Value::text(out))
}

/// Appends a replacement with its groups: `$1`, `${name}`, and a backslash before what stands for itself.
fn append(out: &mut String, found: &Captures<'_>, replacement: &str) -> Result<(), Failure> {
    let mut rest = replacement.chars().peekable();
    while let Some(character) = rest.next() {
        match (character, rest.peek().copied()) {
            ('\\', Some(next)) => {
                rest.next();
                out.push(next);
            }
            ('$', Some('0'..='9')) => {
                let mut group = 0;
                let mut digits = 0;
                while let Some(digit) = rest.peek().and_then(|next| next.to_digit(10)) {
                    let longer = group * 10 + digit as usize;
                    // Only as many digits as name a group; the first one has to.
                    if digits > 0 && longer >= found.len() {
                        break;
                    }
                    group = longer;
                    digits += 1;
                    rest.next();
                }
                if group >= found.len() {
                    let text = format!("There is no group {group} in the regular expression.");
                    return Err(failure(text));
                }
                out.push_str(found.get(group).map_or("", |group| group.as_str()));
            }
            ('$', Some('{')) => {
                rest.next();
                let name: String = rest.by_ref().take_while(|next| *next != '}').collect();
                out.push_str(found.name(&name).map_or("", |group| group.as_str()));
            }
            _ => out.push(character),
        }
        // What repeats is bounded here, since one replacement may be as long as a text.
        if out.len() > 2 * TEXT_MAX_BYTES {
            return Err(too_large());
        }
    }
    Ok(())
}

/// As Java's: empty parts at the end are dropped, and nothing at all is one empty part.
fn split<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (pattern, text) = (pattern(args)?, text(args));
    let mut parts = Vec::new();
    let mut end = 0;
    for found in captures(&pattern.part, text) {
        let Some(whole) = found.get(0) else { continue };
        parts.push(text.get(end..whole.start()).unwrap_or_default());
        end = whole.end();
        if parts.len() > LIST_MAX {
            return Err(too_large());
        }
    }
    parts.push(text.get(end..).unwrap_or_default());
    while parts.len() > 1 && parts.last().is_some_and(|last| last.is_empty()) {
        parts.pop();
    }
    Ok(Value::list(parts.into_iter().map(Value::text).collect()))
}

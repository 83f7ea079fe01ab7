//! Looking for one text in another, and putting a third in its place.

use base_value::Value;
use memchr::memmem;

use super::function::{Function, Outcome, answer, string, wrong};
use super::pattern;
use super::text::{Chunk, same_kind};
use crate::budget::{CELL, too_large};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("starts_with", (2, 2), |_, args| test(args, |text, it| text.starts_with(it))),
    Function::values("ends_with", (2, 2), |_, args| test(args, |text, it| text.ends_with(it))),
    Function::values("string_contains", (2, 2), |_, args| test(args, |text, it| text.contains(it))),
    Function::values("like", (2, 2), |engine, args| {
        let (text, pattern) = two(args)?;
        answer(Value::Boolean(pattern::like(engine, text, pattern)?))
    }),
    Function::values("regex_contains", (2, 2), |engine, args| {
        let (text, pattern) = two(args)?;
        answer(Value::Boolean(engine.pattern(pattern, text)?.regex.is_match(text)))
    }),
    Function::values("regex_match", (2, 2), |engine, args| {
        let (text, pattern) = two(args)?;
        let whole = engine.pattern(&pattern::whole(pattern), text)?;
        answer(Value::Boolean(whole.regex.is_match(text)))
    }),
    Function::values("regex_find", (2, 2), find),
    Function::values("regex_find_all", (2, 2), find_all),
    Function::values("string_index_of", (2, 2), |_, args| match args {
        [Value::String(text), Value::String(wanted)] => {
            let place = text.split_once(wanted.as_str()).map(|(before, _)| before.chars().count());
            answer(index(place))
        }
        [Value::Bytes(bytes), Value::Bytes(wanted)] => answer(index(memmem::find(bytes, wanted))),
        [text, wanted] => Err(same_kind(text, wanted)),
        _ => Ok(None),
    }),
    Function::values("string_replace_all", (3, 3), |_, args| replace(args, usize::MAX)),
    Function::values("string_replace_one", (3, 3), |_, args| replace(args, 1)),
];

fn two<'v>(args: &[&'v Value]) -> Result<(&'v str, &'v str), PipelineError> {
    match args {
        [first, second] => Ok((string(first)?, string(second)?)),
        _ => Err(PipelineError::invalid("two arguments expected")),
    }
}

fn test(args: &[&Value], of: fn(&str, &str) -> bool) -> Outcome {
    let (text, wanted) = two(args)?;
    answer(Value::Boolean(of(text, wanted)))
}

/// The first group of a match, or where the pattern has none, the whole of it.
fn group<'t>(captures: &regex::Captures<'t>) -> Option<&'t str> {
    let group = if captures.len() > 1 { captures.get(1) } else { captures.get(0) };
    group.map(|found| found.as_str())
}

fn find(engine: &Engine<'_>, args: &[&Value]) -> Outcome {
    let (text, pattern) = two(args)?;
    let pattern = engine.pattern(pattern, text)?;
    let captures = pattern.regex.captures(text);
    let found = captures.as_ref().and_then(group);
    answer(found.map_or(Value::Null, |found| Value::String(found.to_owned())))
}

fn find_all(engine: &Engine<'_>, args: &[&Value]) -> Outcome {
    let (text, pattern) = two(args)?;
    let pattern = engine.pattern(pattern, text)?;
    // An empty match at each place of a long text would be sixty times its size.
    let mut values = Vec::new();
    let mut bytes = 0;
    for captures in pattern.regex.captures_iter(text) {
        // Each match may have looked at all of the rest.
        engine.work_on(text.len())?;
        let Some(found) = group(&captures) else { continue };
        bytes += CELL + found.len();
        if bytes > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        values.push(Value::String(found.to_owned()));
    }
    answer(Value::Array(values))
}

fn index(place: Option<usize>) -> Value {
    Value::Integer(place.and_then(|place| i64::try_from(place).ok()).unwrap_or(-1))
}

/// Puts a text in place of the first so many that are found. Nothing is found of an empty one.
fn replace(args: &[&Value], times: usize) -> Outcome {
    let [text, wanted, by] = args else { return Ok(None) };
    let (text_bytes, wanted_bytes, by_bytes) =
        (Chunk::of(text)?, Chunk::of(wanted)?, Chunk::of(by)?);
    if text_bytes.kind != wanted_bytes.kind {
        return Err(same_kind(text, wanted));
    }
    if text_bytes.kind != by_bytes.kind {
        return Err(wrong(text_bytes.kind, by));
    }
    if wanted_bytes.bytes.is_empty() {
        return answer(Value::clone(text));
    }
    let mut out: Vec<u8> = Vec::new();
    let mut behind = 0;
    let mut write = |bytes: &[u8]| {
        if out.len().saturating_add(bytes.len()) > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        out.extend_from_slice(bytes);
        Ok(())
    };
    for place in memmem::find_iter(text_bytes.bytes, wanted_bytes.bytes).take(times) {
        write(text_bytes.bytes.get(behind..place).unwrap_or_default())?;
        write(by_bytes.bytes)?;
        behind = place + wanted_bytes.bytes.len();
    }
    write(text_bytes.bytes.get(behind..).unwrap_or_default())?;
    text_bytes.again(out)
}

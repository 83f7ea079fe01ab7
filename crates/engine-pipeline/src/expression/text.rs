//! Strings, and where it makes sense bytes: their length, their parts, and what is made of them.

use std::collections::HashSet;

use base_value::Value;
use memchr::memmem;

use super::function::{
    Function, MANY, Outcome, answer, count, integer, length, refuse, string, type_of, wrong,
};
use crate::budget::{CELL, too_large};
use crate::error::PipelineError;
use crate::limits::VALUE_MAX_BYTES;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("byte_length", (1, 1), |_, args| match args {
        [text] => answer(length(Chunk::of(text)?.bytes.len())),
        _ => Ok(None),
    }),
    Function::values("char_length", (1, 1), |_, args| match args {
        [text] => answer(length(string(text)?.chars().count())),
        _ => Ok(None),
    }),
    Function::values("to_lower", (1, 1), |_, args| {
        case(args, str::to_lowercase, u8::to_ascii_lowercase)
    }),
    Function::values("to_upper", (1, 1), |_, args| {
        case(args, str::to_uppercase, u8::to_ascii_uppercase)
    }),
    Function::values("string_concat", (1, MANY), |_, args| concat(args)),
    Function::values("string_reverse", (1, 1), |_, args| reverse(args)),
    Function::values("string_repeat", (2, 2), |_, args| repeat(args)),
    Function::values("substring", (2, 3), |_, args| substring(args)),
    Function::values("trim", (1, 2), |_, args| trim(args, true, true)),
    Function::values("ltrim", (1, 2), |_, args| trim(args, true, false)),
    Function::values("rtrim", (1, 2), |_, args| trim(args, false, true)),
    Function::values("split", (1, 2), |_, args| split(args)),
];

/// The bytes of a string or of bytes.
pub(crate) struct Chunk<'v> {
    /// Which of the two it is.
    pub(crate) kind: &'static str,
    pub(crate) bytes: &'v [u8],
}

impl<'v> Chunk<'v> {
    pub(crate) fn of(value: &'v Value) -> Result<Self, PipelineError> {
        match value {
            Value::String(text) => Ok(Chunk { kind: "string", bytes: text.as_bytes() }),
            Value::Bytes(bytes) => Ok(Chunk { kind: "bytes", bytes }),
            other => Err(wrong("string or bytes", other)),
        }
    }

    /// A value of the same type with these bytes.
    pub(crate) fn again(&self, bytes: Vec<u8>) -> Outcome {
        if self.kind == "bytes" {
            return answer(Value::Bytes(bytes.into()));
        }
        match String::from_utf8(bytes) {
            Ok(text) => answer(Value::String(text)),
            Err(_) => refuse("the result is not UTF-8"),
        }
    }
}

/// The refusal of two values that are not both strings or both bytes.
pub(crate) fn same_kind(left: &Value, right: &Value) -> PipelineError {
    let text = format!(
        "two strings or two bytes expected, found {} and {}",
        type_of(left),
        type_of(right)
    );
    PipelineError::Invalid(text)
}

fn case(args: &[&Value], of: fn(&str) -> String, of_byte: fn(&u8) -> u8) -> Outcome {
    match args {
        [Value::String(text)] => answer(Value::String(of(text))),
        [Value::Bytes(bytes)] => {
            answer(Value::Bytes(bytes.iter().map(of_byte).collect::<Vec<u8>>().into()))
        }
        [other] => Err(wrong("string or bytes", other)),
        _ => Ok(None),
    }
}

/// All strings, one after the other.
pub(crate) fn concat(args: &[&Value]) -> Outcome {
    let mut all = String::new();
    for arg in args {
        let text = string(arg)?;
        if all.len() + text.len() > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        all.push_str(text);
    }
    answer(Value::String(all))
}

/// The code points, or the bytes, from the last to the first.
pub(crate) fn reverse(args: &[&Value]) -> Outcome {
    match args {
        [Value::String(text)] => answer(Value::String(text.chars().rev().collect())),
        [Value::Bytes(bytes)] => {
            answer(Value::Bytes(bytes.iter().rev().copied().collect::<Vec<u8>>().into()))
        }
        [other] => Err(wrong("string, bytes or array", other)),
        _ => Ok(None),
    }
}

fn repeat(args: &[&Value]) -> Outcome {
    let [text, times] = args else { return Ok(None) };
    let chunk = Chunk::of(text)?;
    let times = count("repetitions", times)?;
    if chunk.bytes.len().saturating_mul(times) > VALUE_MAX_BYTES {
        return Err(too_large());
    }
    chunk.again(chunk.bytes.repeat(times))
}

/// So many code points or bytes from a position on, which is counted from the end where it is negative.
fn substring(args: &[&Value]) -> Outcome {
    let [text, position, rest @ ..] = args else { return Ok(None) };
    let position = integer(position)?;
    let wanted = rest.first().map_or(Ok(usize::MAX), |length| count("length", length))?;
    let start = |whole: usize| match usize::try_from(position) {
        Ok(start) => start,
        Err(_) => {
            let back = usize::try_from(position.unsigned_abs()).unwrap_or(usize::MAX);
            whole.saturating_sub(back)
        }
    };
    match text {
        Value::String(text) => {
            let start = start(if position < 0 { text.chars().count() } else { 0 });
            answer(Value::String(text.chars().skip(start).take(wanted).collect()))
        }
        Value::Bytes(bytes) => {
            let part = bytes.iter().skip(start(bytes.len())).take(wanted).copied();
            answer(Value::Bytes(part.collect::<Vec<u8>>().into()))
        }
        other => Err(wrong("string or bytes", other)),
    }
}

/// Takes white space, or the code points or bytes of the second argument, off the ends.
fn trim(args: &[&Value], front: bool, back: bool) -> Outcome {
    match args {
        [Value::String(text), rest @ ..] => {
            let given = rest.first().map(|set| string(set)).transpose()?;
            let given: Option<HashSet<char>> = given.map(|given| given.chars().collect());
            let goes = |char: char| match &given {
                Some(given) => given.contains(&char),
                None => char.is_whitespace(),
            };
            let text = if front { text.trim_start_matches(goes) } else { text };
            let text = if back { text.trim_end_matches(goes) } else { text };
            answer(Value::String(text.to_owned()))
        }
        [Value::Bytes(bytes), rest @ ..] => {
            let given = match rest.first() {
                Some(Value::Bytes(given)) => Some(given),
                Some(other) => return Err(wrong("bytes", other)),
                None => None,
            };
            let given: Option<HashSet<u8>> = given.map(|given| given.iter().copied().collect());
            let goes = |byte: &u8| match &given {
                Some(given) => given.contains(byte),
                None => byte.is_ascii_whitespace(),
            };
            let stays = |byte: &u8| !goes(byte);
            let start = if front { bytes.iter().position(stays).unwrap_or(bytes.len()) } else { 0 };
            let end = if back {
                bytes.iter().rposition(stays).map_or(0, |last| last + 1)
            } else {
                bytes.len()
            };
            let part = bytes.get(start..end.max(start)).unwrap_or_default();
            answer(Value::Bytes(part.to_vec().into()))
        }
        [other, ..] => Err(wrong("string or bytes", other)),
        [] => Ok(None),
    }
}

/// The parts between delimiters, a comma where none is given; every code point or byte where it is empty.
fn split(args: &[&Value]) -> Outcome {
    match args {
        [Value::String(text)] => listed(text.split(','), of_text),
        [Value::String(text), Value::String(delimiter)] if delimiter.is_empty() => {
            listed(text.chars(), |char| Value::String(char.to_string()))
        }
        [Value::String(text), Value::String(delimiter)] => {
            listed(text.split(delimiter.as_str()), of_text)
        }
        [Value::Bytes(bytes), Value::Bytes(delimiter)] if delimiter.is_empty() => {
            listed(bytes.iter(), |byte| of_bytes(&[*byte]))
        }
        [Value::Bytes(bytes), Value::Bytes(delimiter)] => {
            let ends = memmem::find_iter(bytes, delimiter).chain([bytes.len()]);
            let mut start = 0;
            listed(ends, |end| {
                let part = bytes.get(start..end).unwrap_or_default();
                start = end + delimiter.len();
                of_bytes(part)
            })
        }
        [text, delimiter] => Err(same_kind(text, delimiter)),
        [other] => Err(wrong("string", other)),
        _ => Ok(None),
    }
}

/// An array of parts, which are many times as large as the text they are of.
fn listed<P>(parts: impl Iterator<Item = P>, mut of: impl FnMut(P) -> Value) -> Outcome {
    let mut values = Vec::new();
    for part in parts {
        if values.len().saturating_mul(CELL) > VALUE_MAX_BYTES {
            return Err(too_large());
        }
        values.push(of(part));
    }
    answer(Value::Array(values))
}

fn of_text(part: &str) -> Value {
    Value::String(part.to_owned())
}

fn of_bytes(part: &[u8]) -> Value {
    Value::Bytes(part.to_vec().into())
}

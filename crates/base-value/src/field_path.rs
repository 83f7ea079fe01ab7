//! `FieldPath`: how a field is named in masks, filters, orders and transforms.

use std::fmt;

use thiserror::Error;

use crate::limits::FIELD_PATH_MAX_BYTES;
use crate::name_error::is_reserved;
use crate::value::{Fields, Value};

/// Path to a field, through maps. Never empty.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldPath(
    // INVARIANT: at least one segment.
    Vec<String>,
);

/// The path that means a document's own name in queries.
const NAME: &str = "__name__";

impl FieldPath {
    /// Parses the written form, such as ``a.`b c`.d``. A lone `__name__` is [`FieldPath::name`].
    pub fn parse(text: &str) -> Result<Self, PathError> {
        if text.is_empty() {
            return Err(PathError::Empty);
        }
        let segments = split(text).ok_or_else(|| PathError::Syntax(text.to_owned()))?;
        FieldPath::new(segments)
    }

    /// A path of these segments, none of them quoted; refuses reserved names as parsing does.
    pub fn new(segments: Vec<String>) -> Result<Self, PathError> {
        if segments.is_empty() || segments.iter().any(String::is_empty) {
            return Err(PathError::Empty);
        }
        let length = segments.iter().map(|segment| segment.len() + 1).sum::<usize>() - 1;
        if length > FIELD_PATH_MAX_BYTES {
            return Err(PathError::TooLong);
        }
        let path = FieldPath(segments);
        if path.is_name() {
            return Ok(path);
        }
        if path.0.iter().any(|segment| segment == NAME) {
            return Err(PathError::NameMember);
        }
        if path.0.iter().any(|segment| segment == "__key__") {
            return Err(PathError::KeyMember);
        }
        if path.0.iter().any(|segment| is_reserved(segment)) {
            return Err(PathError::Reserved(path.to_string()));
        }
        Ok(path)
    }

    /// The path of one top-level field, taken literally and unchecked.
    pub fn single(name: &str) -> Self {
        FieldPath(vec![name.to_owned()])
    }

    /// The special path `__name__`: the document's own name.
    pub fn name() -> Self {
        FieldPath::single(NAME)
    }

    /// Whether this is the special path `__name__`.
    pub fn is_name(&self) -> bool {
        matches!(self.0.as_slice(), [only] if only == NAME)
    }

    /// The segments, unquoted.
    pub fn segments(&self) -> &[String] {
        &self.0
    }

    /// The first segment: the document's own field that this path is or is inside of.
    pub fn first(&self) -> &str {
        self.0.first().map_or("", String::as_str)
    }

    /// Whether `other` is this field or inside of it.
    pub fn is_prefix_of(&self, other: &FieldPath) -> bool {
        other.0.starts_with(&self.0)
    }

    /// The value at this path.
    pub fn get<'fields>(&self, fields: &'fields Fields) -> Option<&'fields Value> {
        let (last, parents) = self.0.split_last()?;
        let mut map = fields;
        for segment in parents {
            match map.get(segment)? {
                Value::Map(inner) => map = inner,
                _ => return None,
            }
        }
        map.get(last)
    }

    /// Puts a value at this path. Maps on the way are made; anything else on the way is replaced by a map.
    pub fn set(&self, fields: &mut Fields, value: Value) {
        let Some((last, parents)) = self.0.split_last() else { return };
        let mut map = fields;
        for segment in parents {
            // Two look-ups instead of the entry interface: the usual path exists, and needs no owned key then.
            if !matches!(map.get(segment), Some(Value::Map(_))) {
                map.insert(segment.clone(), Value::Map(Fields::new()));
            }
            match map.get_mut(segment) {
                Some(Value::Map(inner)) => map = inner,
                _ => return,
            }
        }
        map.insert(last.clone(), value);
    }

    /// Takes the value at this path away; maps on the way stay, even when they end up empty.
    pub fn remove(&self, fields: &mut Fields) -> Option<Value> {
        let (last, parents) = self.0.split_last()?;
        let mut map = fields;
        for segment in parents {
            match map.get_mut(segment)? {
                Value::Map(inner) => map = inner,
                _ => return None,
            }
        }
        map.remove(last)
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                formatter.write_str(".")?;
            }
            // Reserved names are shown quoted in refusals; a lone `__name__` is not a refusal.
            if is_simple(segment) && (self.is_name() || !is_reserved(segment)) {
                formatter.write_str(segment)?;
            } else {
                formatter.write_str("`")?;
                for character in segment.chars() {
                    if character == '`' || character == '\\' {
                        formatter.write_str("\\")?;
                    }
                    write!(formatter, "{character}")?;
                }
                formatter.write_str("`")?;
            }
        }
        Ok(())
    }
}

impl std::str::FromStr for FieldPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        FieldPath::parse(text)
    }
}

/// Why a field path was refused. Displays the text clients see (INVALID_ARGUMENT).
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PathError {
    /// No text at all.
    #[error("Invalid empty property path string.")]
    Empty,
    /// More than 1500 bytes.
    #[error("property path is longer than 1500 bytes.")]
    TooLong,
    /// Not a path; holds the text.
    #[error(
        "Invalid property path \"{0}\". Unquoted property paths must match regex \
         ([a-zA-Z_][a-zA-Z_0-9]*), and quoted property paths must match regex (`(?:[^`\\\\]|(?:\\\\.))+`)"
    )]
    Syntax(String),
    /// A segment matches `__.*__`; holds the whole path, requoted.
    #[error("invalid reserved name in field path {0}")]
    Reserved(String),
    /// `__name__` beside other segments.
    #[error("the name __key__ is reserved")]
    NameMember,
    /// A segment is the datastore's word for the name.
    #[error("Invalid property path member name \"__key__\".")]
    KeyMember,
}

fn is_simple(segment: &str) -> bool {
    !segment.starts_with(|first: char| first.is_ascii_digit())
        && !segment.is_empty()
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// Splits the written form into unquoted segments; `None` if it is not a path.
fn split(text: &str) -> Option<Vec<String>> {
    let mut segments = Vec::new();
    let mut rest = text;
    loop {
        let after = if let Some(quoted) = rest.strip_prefix('`') {
            let (segment, after) = unquote(quoted)?;
            segments.push(segment);
            after
        } else {
            let end = rest.find('.').unwrap_or(rest.len());
            let (segment, after) = rest.split_at_checked(end)?;
            if !is_simple(segment) {
                return None;
            }
            segments.push(segment.to_owned());
            after
        };
        if after.is_empty() {
            return Some(segments);
        }
        rest = after.strip_prefix('.')?;
    }
}

/// Reads a quoted segment after its opening backtick; answers it and what follows the closing one.
fn unquote(text: &str) -> Option<(String, &str)> {
    let mut segment = String::new();
    let mut characters = text.chars();
    loop {
        match characters.next()? {
            '`' if segment.is_empty() => return None,
            '`' => return Some((segment, characters.as_str())),
            // Of the escapes only those of the two special characters are accepted.
            '\\' => match characters.next()? {
                escaped @ ('`' | '\\') => segment.push(escaped),
                _ => return None,
            },
            character => segment.push(character),
        }
    }
}

#[cfg(test)]
mod tests;

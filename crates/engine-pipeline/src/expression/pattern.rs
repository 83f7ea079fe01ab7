//! Patterns: `like`, and regular expressions of RE2's syntax.

use regex::{Regex, RegexBuilder};

use crate::error::PipelineError;
use crate::limits::REGEX_MAX_BYTES;

/// Compiles a regular expression.
pub(crate) fn compile(pattern: &str) -> Result<Regex, PipelineError> {
    RegexBuilder::new(pattern)
        .size_limit(REGEX_MAX_BYTES)
        .build()
        .map_err(|_| PipelineError::Invalid(format!("invalid regular expression '{pattern}'")))
}

/// The pattern of texts of which the whole matches.
pub(crate) fn whole(pattern: &str) -> String {
    format!("^(?:{pattern})$")
}

/// Whether a text matches a pattern in which `%` stands for any text, `_` for any code point, and `\` takes the
/// meaning of the next one away.
pub(crate) fn like(text: &str, pattern: &str) -> bool {
    let pattern = parts(pattern);
    let text: Vec<char> = text.chars().collect();
    let (mut place, mut at) = (0, 0);
    // Where the last `%` stands, and how much of the text it has taken: it takes more where the rest fails.
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match (pattern.get(place), text.get(at)) {
            (Some(Part::Any), _) => {
                retry = Some((place, at));
                place += 1;
            }
            (Some(Part::One), _) => (place, at) = (place + 1, at + 1),
            (Some(Part::Char(wanted)), Some(found)) if wanted == found => {
                (place, at) = (place + 1, at + 1);
            }
            _ => match &mut retry {
                Some((any, taken)) => {
                    *taken += 1;
                    (place, at) = (*any + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(place).all(|part| matches!(part, Part::Any))
}

enum Part {
    Any,
    One,
    Char(char),
}

fn parts(pattern: &str) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut chars = pattern.chars();
    while let Some(char) = chars.next() {
        parts.push(match char {
            '%' => Part::Any,
            '_' => Part::One,
            '\\' => Part::Char(chars.next().unwrap_or('\\')),
            other => Part::Char(other),
        });
    }
    parts
}

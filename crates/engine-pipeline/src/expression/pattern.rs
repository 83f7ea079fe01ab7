//! Patterns: `like`, and regular expressions of RE2's syntax.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::{REGEX_MAX_BYTES, REGEX_PATTERN_MAX_BYTES, REGEX_STEPS_MAX};

/// A compiled regular expression.
#[derive(Debug)]
pub(crate) struct Pattern {
    pub(crate) regex: Regex,
    /// At how many places of it a match can be at one time.
    places: u64,
}

impl Pattern {
    /// Compiles a regular expression.
    ///
    /// # Errors
    /// It is none, or too large.
    pub(crate) fn compile(pattern: &str) -> Result<Self, PipelineError> {
        if pattern.len() > REGEX_PATTERN_MAX_BYTES {
            let text =
                format!("a regular expression has more than {REGEX_PATTERN_MAX_BYTES} bytes");
            return Err(PipelineError::Invalid(text));
        }
        let invalid = || PipelineError::Invalid(format!("invalid regular expression '{pattern}'"));
        let hir = regex_syntax::parse(pattern).map_err(|_| invalid())?;
        let regex = RegexBuilder::new(pattern).size_limit(REGEX_MAX_BYTES).build();
        Ok(Pattern { regex: regex.map_err(|_| invalid())?, places: places(&hir) })
    }

    /// Checks that a look at the text cannot take too long: at worst every place is looked at for every byte,
    /// and nothing can end that.
    ///
    /// # Errors
    /// It can.
    pub(crate) fn check(&self, text: &str) -> Result<(), PipelineError> {
        let bytes = u64::try_from(text.len()).unwrap_or(u64::MAX);
        if self.places.saturating_mul(bytes) > REGEX_STEPS_MAX {
            let text =
                format!("a regular expression is too large for a text of {} bytes", text.len());
            return Err(PipelineError::Exhausted(text));
        }
        Ok(())
    }
}

/// How many places there are, those of a repetition as often as it may be repeated.
fn places(hir: &Hir) -> u64 {
    let all = |parts: &[Hir]| parts.iter().map(places).fold(0, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => u64::try_from(literal.0.len()).unwrap_or(u64::MAX),
        // A code point has four bytes at most.
        HirKind::Class(_) => 4,
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            places(&repetition.sub).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => places(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
    }
}

/// The pattern of texts of which the whole matches.
pub(crate) fn whole(pattern: &str) -> String {
    format!("^(?:{pattern})$")
}

/// Whether a text matches a pattern in which `%` stands for any text, `_` for any code point, and `\` takes the
/// meaning of the next one away.
///
/// # Errors
/// The pipeline is not to go on: the pattern may have to be tried at every place of the text.
pub(crate) fn like(engine: &Engine<'_>, text: &str, pattern: &str) -> Result<bool, PipelineError> {
    let mut text = text.chars();
    let mut pattern = pattern.chars();
    // What is behind the last `%` of the pattern, and the text it has not taken: it takes more of it where the
    // rest fails.
    let mut retry = None;
    loop {
        engine.tick()?;
        let (before, mut behind) = (text.clone(), pattern.clone());
        let Some(char) = text.next() else { break };
        let fits = match part(&mut behind) {
            Some(Part::Any) => {
                retry = Some((behind.clone(), before.clone()));
                (text, pattern) = (before, behind);
                continue;
            }
            Some(Part::One) => true,
            Some(Part::Char(wanted)) => wanted == char,
            None => false,
        };
        if fits {
            pattern = behind;
            continue;
        }
        let Some((rest, left)) = &mut retry else { return Ok(false) };
        left.next();
        (text, pattern) = (left.clone(), rest.clone());
    }
    while let Some(part) = part(&mut pattern) {
        engine.tick()?;
        if !matches!(part, Part::Any) {
            return Ok(false);
        }
    }
    Ok(true)
}

enum Part {
    Any,
    One,
    Char(char),
}

fn part(pattern: &mut std::str::Chars<'_>) -> Option<Part> {
    Some(match pattern.next()? {
        '%' => Part::Any,
        '_' => Part::One,
        '\\' => Part::Char(pattern.next().unwrap_or('\\')),
        other => Part::Char(other),
    })
}

//! A ruleset: a source that was read, checked and can decide.

use std::sync::Arc;

use crate::check::{self, Checked, Finding, Numbered};
use crate::coverage::{Coverage, Expression};
use crate::diagnostic::{Diagnostic, RulesError, Severity};
use crate::explain::Shape;
use crate::limits::{DIAGNOSTICS_MAX, SOURCE_MAX_BYTES};
use crate::parse;
use crate::position::{Lines, Position, Span};
use crate::tree::{Function, Version};

/// Rules that were read and checked. Cheap to share, never changed.
#[derive(Debug)]
pub struct Ruleset {
    source: Arc<str>,
    lines: Lines,
    version: Version,
    pub(crate) checked: Checked,
    warnings: Vec<Diagnostic>,
}

impl Ruleset {
    /// Reads a source; the error holds everything that is wrong with it.
    ///
    /// # Errors
    /// Where the source is too large, is not of the language, or breaks one of its rules.
    pub fn parse(source: &str) -> Result<Self, RulesError> {
        if source.len() > SOURCE_MAX_BYTES {
            let text = format!(
                "the rules are {} bytes long, and production takes {SOURCE_MAX_BYTES}",
                source.len()
            );
            return Err(whole(text));
        }
        if source.trim().is_empty() {
            return Err(whole("Rules content empty. Compilation aborted.".to_owned()));
        }
        let lines = Lines::new(source);
        let (file, mut complaints) = parse::parse(source);
        let version = file.version;
        complaints.extend(check::check_paths(&file, version));
        if !complaints.is_empty() {
            complaints.sort_by_key(|complaint| complaint.at.start);
            let findings = complaints.into_iter().map(Finding::from);
            return Err(RulesError { diagnostics: diagnostics(source, &lines, findings) });
        }
        let (mut checked, findings) = check::check(file, version);
        let found = diagnostics(source, &lines, findings.into_iter());
        if found.iter().any(|finding| finding.severity == Severity::Error) {
            return Err(RulesError { diagnostics: found });
        }
        for Numbered { meta, span, .. } in &mut checked.expressions {
            meta.start = lines.position(source, span.start);
            meta.end = lines.position(source, span.end);
        }
        Ok(Ruleset { source: Arc::from(source), lines, version, checked, warnings: found })
    }

    /// The source.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What the source is warned of.
    pub fn warnings(&self) -> &[Diagnostic] {
        &self.warnings
    }

    /// Whether the source states version 2.
    pub fn is_version_two(&self) -> bool {
        self.version == Version::Two
    }

    /// Every expression, by number: functions first, then conditions, each in the source's order.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.checked.expressions.iter().map(|one| &one.meta)
    }

    /// Counts for this ruleset's expressions, all zero.
    pub fn coverage(&self) -> Coverage {
        Coverage::new(self.checked.expressions.len(), self.checked.rules.len())
    }

    pub(crate) fn position(&self, span: Span) -> Position {
        self.lines.position(&self.source, span.start)
    }

    pub(crate) fn function(&self, number: u32) -> Option<&Function> {
        self.checked.functions.get(number as usize)
    }

    pub(crate) fn expression_text(&self, id: u32) -> Option<(&Expression, &str)> {
        let Numbered { meta, span, .. } = self.checked.expressions.get(id as usize)?;
        Some((meta, span.text(&self.source)))
    }

    pub(crate) fn shape(&self, id: u32) -> Shape {
        self.checked.shapes.get(id as usize).copied().unwrap_or(Shape::Other)
    }
}

fn whole(text: String) -> RulesError {
    let position = Position::default();
    RulesError { diagnostics: vec![Diagnostic { position, severity: Severity::Error, text }] }
}

fn diagnostics(
    source: &str,
    lines: &Lines,
    findings: impl Iterator<Item = Finding>,
) -> Vec<Diagnostic> {
    let diagnostic = |finding: Finding| Diagnostic {
        position: finding.at.map_or_else(Position::default, |at| lines.position(source, at.start)),
        severity: finding.severity,
        text: finding.text,
    };
    findings.take(DIAGNOSTICS_MAX).map(diagnostic).collect()
}

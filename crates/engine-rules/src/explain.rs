//! Why a condition did not hold: the first part of it that decided, with the values it was given.

use std::fmt::Write;

use crate::eval::Outcome;
use crate::limits::{SHOWN_MAX_CHARS, STEPS_MAX};
use crate::position::Position;
use crate::ruleset::Ruleset;
use crate::value::Value;

/// The part of a condition that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deciding {
    /// Its first character.
    pub start: Position,
    /// Behind its last character.
    pub end: Position,
    /// As it is written in the source.
    pub text: String,
    /// What it came to: a value, or the text of an error.
    pub outcome: Result<String, String>,
    /// What it was made of, in the order of evaluation.
    pub operands: Vec<Operand>,
}

/// A part of the part that decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// As it is written in the source.
    pub text: String,
    /// What it came to: a value, or the text of an error.
    pub outcome: Result<String, String>,
}

/// A value as text, cut where it is long.
pub(crate) fn shown(value: &Value<'_>) -> String {
    let mut cut = Cut { text: String::new(), left: SHOWN_MAX_CHARS };
    if write!(cut, "{value}").is_err() {
        cut.text.push_str("...");
    }
    cut.text
}

/// Takes so many characters and then fails, which ends the writing.
struct Cut {
    text: String,
    left: usize,
}

impl Write for Cut {
    fn write_str(&mut self, text: &str) -> std::fmt::Result {
        for character in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(std::fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// What was evaluated, in order.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    steps: Vec<Step>,
    /// The steps that are not done yet, innermost last.
    open: Vec<usize>,
}

#[derive(Debug)]
struct Step {
    expr: u32,
    parent: Option<usize>,
    outcome: Found,
}

#[derive(Debug)]
enum Found {
    Nothing,
    Truth(bool),
    Other(String),
    Error(String),
}

impl Steps {
    /// Notes that an expression is evaluated; nothing where there are too many.
    pub(crate) fn enter(&mut self, expr: u32) -> Option<usize> {
        if self.steps.len() >= STEPS_MAX {
            return None;
        }
        let step = self.steps.len();
        self.steps.push(Step { expr, parent: self.open.last().copied(), outcome: Found::Nothing });
        self.open.push(step);
        Some(step)
    }

    pub(crate) fn leave(&mut self, step: usize, outcome: &Outcome<'_>) {
        self.open.pop();
        if let Some(step) = self.steps.get_mut(step) {
            step.outcome = match outcome {
                Ok(Value::Bool(truth)) => Found::Truth(*truth),
                Ok(value) => Found::Other(shown(value)),
                Err(failure) => Found::Error(failure.text().to_owned()),
            };
        }
    }

    fn parts(&self, of: usize) -> impl Iterator<Item = (usize, &Step)> {
        self.steps.iter().enumerate().filter(move |(_, step)| step.parent == Some(of))
    }
}

impl Step {
    fn shown(&self) -> Result<String, String> {
        match &self.outcome {
            Found::Nothing => Ok("not evaluated".to_owned()),
            Found::Truth(truth) => Ok(truth.to_string()),
            Found::Other(text) => Ok(text.clone()),
            Found::Error(text) => Err(text.clone()),
        }
    }
}

/// Follows what came to the same end, from the whole condition inward.
///
/// An error leads to the first part with that error, down to where it arose. A false condition leads through
/// `&&`, `||`, `!`, `?:` and calls of functions to the first comparison or value that made it so.
pub(crate) fn explain(ruleset: &Ruleset, steps: &Steps, is_error: bool) -> Option<Deciding> {
    let mut at = 0;
    let mut wanted = !is_error && matches!(steps.steps.first()?.outcome, Found::Truth(true));
    while let Some(next) = step_inward(ruleset, steps, at, &mut wanted) {
        at = next;
    }
    let step = steps.steps.get(at)?;
    let (meta, text) = ruleset.expression_text(step.expr)?;
    let operands = steps
        .parts(at)
        .filter_map(|(_, part)| {
            let (_, text) = ruleset.expression_text(part.expr)?;
            Some(Operand { text: text.to_owned(), outcome: part.shown() })
        })
        .collect();
    Some(Deciding {
        start: meta.start,
        end: meta.end,
        text: text.to_owned(),
        outcome: step.shown(),
        operands,
    })
}

/// The part of a step that made it what it is, where one did. `wanted` is the truth that is explained.
fn step_inward(ruleset: &Ruleset, steps: &Steps, at: usize, wanted: &mut bool) -> Option<usize> {
    let step = steps.steps.get(at)?;
    if let Found::Error(text) = &step.outcome {
        let same = |part: &Step| matches!(&part.outcome, Found::Error(other) if other == text);
        return steps.parts(at).find(|(_, part)| same(part)).map(|(number, _)| number);
    }
    let Found::Truth(_) = step.outcome else { return None };
    match ruleset.shape(step.expr) {
        Shape::Not => {
            *wanted = !*wanted;
            steps.parts(at).next().map(|(number, _)| number)
        }
        Shape::Junction => {
            let same =
                |part: &Step| matches!(part.outcome, Found::Truth(truth) if truth == *wanted);
            steps.parts(at).find(|(_, part)| same(part)).map(|(number, _)| number)
        }
        // What is evaluated last is what it gives: the branch taken, or the function's body.
        Shape::Ternary | Shape::UserCall => steps.parts(at).last().map(|(number, _)| number),
        Shape::Other => None,
    }
}

/// What matters of an expression to an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `&&` or `||`
    Junction,
    Not,
    Ternary,
    UserCall,
    Other,
}

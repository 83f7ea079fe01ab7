//! Counting what expressions came to: optional, without locks.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::EvalError;
use crate::position::Position;
use crate::value::Value;

/// An expression of a ruleset, for reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expression {
    /// Its number, as an [`Observer`] is told it; its place in [`crate::Ruleset::expressions`].
    pub id: u32,
    /// The smallest expression around it; none for a condition, a variable's value and a function's body.
    pub parent: Option<u32>,
    /// Its first character.
    pub start: Position,
    /// Behind its last character.
    pub end: Position,
    /// Whether it is a literal, or made of literals alone.
    pub is_constant: bool,
}

/// Is told what every evaluated expression came to, while requests are decided; from several threads at once.
pub trait Observer: Sync {
    /// The expression of that number came to this.
    fn evaluated(&self, id: u32, outcome: Result<&Value<'_>, &EvalError>);
}

/// How often an expression came to what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// To true.
    pub truths: u64,
    /// To false.
    pub falsehoods: u64,
    /// To another value.
    pub others: u64,
    /// To an error.
    pub errors: u64,
}

impl Counts {
    /// How often it was evaluated.
    pub fn total(&self) -> u64 {
        self.truths + self.falsehoods + self.others + self.errors
    }
}

/// Counts for every expression of one ruleset.
#[derive(Debug)]
pub struct Coverage {
    counts: Box<[[AtomicU64; 4]]>,
}

impl Coverage {
    pub(crate) fn new(expressions: usize) -> Self {
        Coverage { counts: (0..expressions).map(|_| Default::default()).collect() }
    }

    /// The counts of an expression.
    pub fn counts(&self, id: u32) -> Counts {
        let Some(counts) = self.counts.get(id as usize) else { return Counts::default() };
        let [truths, falsehoods, others, errors] =
            counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        Counts { truths, falsehoods, others, errors }
    }
}

impl Observer for Coverage {
    fn evaluated(&self, id: u32, outcome: Result<&Value<'_>, &EvalError>) {
        let Some([truths, falsehoods, others, errors]) = self.counts.get(id as usize) else {
            return;
        };
        let count = match outcome {
            Ok(Value::Bool(true)) => truths,
            Ok(Value::Bool(false)) => falsehoods,
            Ok(_) => others,
            Err(_) => errors,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

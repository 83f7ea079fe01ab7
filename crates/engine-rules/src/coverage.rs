//! Counting what expressions and allow statements came to: without locks, in memory that is known when the source
//! is read.

mod tree;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::EvalError;
use crate::position::Position;
use crate::value::Value;

pub use tree::{Node, Statement, UserFunction};

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
    /// Whether it is a literal of one value, such as a number without a sign.
    pub is_literal: bool,
}

/// Is told what every evaluated expression came to, while requests are decided; from several threads at once.
pub trait Observer: Sync {
    /// The expression of that number came to this.
    fn evaluated(&self, id: u32, outcome: Result<&Value<'_>, &EvalError>);

    /// The allow statement of that number granted or did not, or had no answer.
    fn tried(&self, statement: usize, granted: Option<bool>) {
        let _ = (statement, granted);
    }
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

/// How often an allow statement was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tries {
    /// And granted.
    pub granted: u64,
    /// And was false.
    pub refused: u64,
    /// And had an error.
    pub failed: u64,
}

impl Tries {
    /// How often it was tried.
    pub fn total(&self) -> u64 {
        self.granted + self.refused + self.failed
    }
}

/// Counts for every expression and allow statement of one ruleset.
#[derive(Debug)]
pub struct Coverage {
    counts: Box<[[AtomicU64; 4]]>,
    tries: Box<[[AtomicU64; 3]]>,
}

impl Coverage {
    pub(crate) fn new(expressions: usize, statements: usize) -> Self {
        Coverage {
            counts: (0..expressions).map(|_| Default::default()).collect(),
            tries: (0..statements).map(|_| Default::default()).collect(),
        }
    }

    /// The counts of an expression.
    pub fn counts(&self, id: u32) -> Counts {
        let Some(counts) = self.counts.get(id as usize) else { return Counts::default() };
        let [truths, falsehoods, others, errors] =
            counts.each_ref().map(|count| count.load(Ordering::Relaxed));
        Counts { truths, falsehoods, others, errors }
    }

    /// How often an allow statement was tried, and what came of it.
    pub fn tries(&self, statement: usize) -> Tries {
        let Some(tries) = self.tries.get(statement) else { return Tries::default() };
        let [granted, refused, failed] =
            tries.each_ref().map(|count| count.load(Ordering::Relaxed));
        Tries { granted, refused, failed }
    }

    /// Adds what another one of the same ruleset has counted.
    pub fn absorb(&self, other: &Coverage) {
        add(&self.counts, &other.counts);
        add(&self.tries, &other.tries);
    }
}

fn add<const N: usize>(to: &[[AtomicU64; N]], from: &[[AtomicU64; N]]) {
    for (to, from) in to.iter().flatten().zip(from.iter().flatten()) {
        let counted = from.load(Ordering::Relaxed);
        if counted > 0 {
            to.fetch_add(counted, Ordering::Relaxed);
        }
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

    fn tried(&self, statement: usize, granted: Option<bool>) {
        let Some([grants, refusals, failures]) = self.tries.get(statement) else { return };
        let count = match granted {
            Some(true) => grants,
            Some(false) => refusals,
            None => failures,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }
}

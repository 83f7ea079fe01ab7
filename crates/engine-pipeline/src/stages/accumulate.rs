//! Accumulators: what is computed of all rows of a group.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;

use base_value::Value;
use base_value::codec::Scalar;
use base_value::order;
use engine_query::Numbers;

use crate::budget::{Budget, Held, weight};
use crate::error::PipelineError;
use crate::expression::{Expression, Ordered, Parser, Scope, is_function, type_of};
use crate::term::Term;

/// What is accumulated, and of what.
#[derive(Debug)]
pub(crate) struct Accumulator {
    kind: Kind,
    argument: Option<Expression>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Count,
    CountIf,
    CountDistinct,
    Sum,
    Average,
    Minimum,
    Maximum,
    First,
    Last,
    ArrayAgg,
    ArrayAggDistinct,
}

const KINDS: [(&str, Kind); 11] = [
    ("count", Kind::Count),
    ("count_if", Kind::CountIf),
    ("count_distinct", Kind::CountDistinct),
    ("sum", Kind::Sum),
    ("average", Kind::Average),
    ("minimum", Kind::Minimum),
    ("maximum", Kind::Maximum),
    ("first", Kind::First),
    ("last", Kind::Last),
    ("array_agg", Kind::ArrayAgg),
    ("array_agg_distinct", Kind::ArrayAggDistinct),
];

/// What an accumulator has taken so far.
#[derive(Debug)]
pub(super) enum State {
    Count(i64),
    /// The numbers, and whether their mean is wanted.
    Sum {
        numbers: Numbers,
        is_mean: bool,
    },
    /// The value so far.
    One(Option<Value>),
    /// All values.
    Many(Vec<Value>),
    /// All values, each once, in order, and whether only their number is wanted.
    Set {
        values: BTreeSet<Ordered<Value>>,
        is_count: bool,
    },
}

impl Accumulator {
    /// Whether there is an accumulator of that name.
    pub(crate) fn is_known(name: &str) -> bool {
        KINDS.iter().any(|(known, _)| *known == name)
    }

    /// Reads an accumulator of a request.
    pub(super) fn parse(term: &Term, parser: &mut Parser) -> Result<Self, PipelineError> {
        let Term::Function { name, args, options } = term else {
            return Err(PipelineError::invalid("an accumulator, such as 'count', expected"));
        };
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| known == name) else {
            if is_function(name) {
                let text = format!("function '{name}' is no accumulator");
                return Err(PipelineError::Invalid(text));
            }
            let text = format!("firelet does not have the pipeline accumulator '{name}'");
            return Err(PipelineError::Unimplemented(text));
        };
        if let Some(option) = options.keys().next() {
            let text =
                format!("firelet does not have the option '{option}' of the accumulator '{name}'");
            return Err(PipelineError::Unimplemented(text));
        }
        parser.node()?;
        let argument = match args.as_slice() {
            [] if *kind == Kind::Count => None,
            [argument] => Some(parser.expression(argument)?),
            _ => {
                let text = format!("accumulator '{name}' does not take {} arguments", args.len());
                return Err(PipelineError::Invalid(text));
            }
        };
        Ok(Accumulator { kind: *kind, argument })
    }

    /// What it is computed of.
    pub(crate) fn argument(&self) -> Option<&Expression> {
        self.argument.as_ref()
    }

    pub(super) fn start(&self) -> State {
        match self.kind {
            Kind::Count | Kind::CountIf => State::Count(0),
            Kind::Sum | Kind::Average => {
                State::Sum { numbers: Numbers::default(), is_mean: self.kind == Kind::Average }
            }
            Kind::Minimum | Kind::Maximum | Kind::First | Kind::Last => State::One(None),
            Kind::ArrayAgg => State::Many(Vec::new()),
            Kind::CountDistinct | Kind::ArrayAggDistinct => {
                State::Set { values: BTreeSet::new(), is_count: self.kind == Kind::CountDistinct }
            }
        }
    }

    /// Takes a row in. What is kept of it is held from then on.
    pub(super) fn take(
        &self,
        state: &mut State,
        scope: &Scope<'_>,
        held: &mut Held<&Budget>,
    ) -> Result<(), PipelineError> {
        let value = match &self.argument {
            None => Some(Cow::Owned(Value::Boolean(true))),
            Some(argument) => argument.evaluate(scope)?,
        };
        let is_something = !matches!(value.as_deref(), None | Some(Value::Null));
        match (self.kind, state) {
            (Kind::Count, State::Count(count)) => *count += i64::from(is_something),
            (Kind::CountIf, State::Count(count)) => match value.as_deref() {
                Some(Value::Boolean(truth)) => *count += i64::from(*truth),
                None | Some(Value::Null) => {}
                Some(other) => {
                    let text =
                        format!("accumulator 'count_if' needs a boolean, not {}", type_of(other));
                    return Err(PipelineError::Invalid(text));
                }
            },
            (_, State::Sum { numbers, .. }) => {
                if let Some(scalar) = value.as_deref().and_then(Scalar::of) {
                    numbers.add(scalar);
                }
            }
            (Kind::Minimum, State::One(best)) => better(best, value, Ordering::Less, held)?,
            (Kind::Maximum, State::One(best)) => better(best, value, Ordering::Greater, held)?,
            (Kind::First, State::One(Some(_))) => {}
            (_, State::One(last)) => replace(last, null(value), held)?,
            (_, State::Many(values)) => {
                held.add(weight(value.as_deref().unwrap_or(&Value::Null)))?;
                values.push(null(value).into_owned());
            }
            (_, State::Set { values, is_count }) => {
                let value = Ordered(null(value).into_owned());
                if (is_something || !*is_count) && !values.contains(&value) {
                    held.add(weight(&value.0))?;
                    values.insert(value);
                }
            }
            (_, State::Count(_)) => {}
        }
        Ok(())
    }
}

/// What is absent is null here.
fn null(value: Option<Cow<'_, Value>>) -> Cow<'_, Value> {
    value.unwrap_or(Cow::Owned(Value::Null))
}

/// Keeps the outermost of the values that are something.
fn better(
    best: &mut Option<Value>,
    value: Option<Cow<'_, Value>>,
    wanted: Ordering,
    held: &mut Held<&Budget>,
) -> Result<(), PipelineError> {
    match value {
        Some(value)
            if !matches!(*value, Value::Null)
                && best.as_ref().is_none_or(|best| order::compare(&value, best) == wanted) =>
        {
            replace(best, value, held)
        }
        Some(_) | None => Ok(()),
    }
}

/// Keeps a value in place of another.
fn replace(
    kept: &mut Option<Value>,
    value: Cow<'_, Value>,
    held: &mut Held<&Budget>,
) -> Result<(), PipelineError> {
    held.sub(kept.as_ref().map_or(0, weight));
    held.add(weight(&value))?;
    *kept = Some(value.into_owned());
    Ok(())
}

impl State {
    /// The value of a group whose rows have all been taken in.
    pub(super) fn finish(self) -> Value {
        match self {
            State::Count(count) => Value::Integer(count),
            State::Sum { numbers, .. } if numbers.is_empty() => Value::Null,
            State::Sum { numbers, is_mean: true } => numbers.average(),
            State::Sum { numbers, is_mean: false } => numbers.sum(),
            State::One(value) => value.unwrap_or(Value::Null),
            State::Many(values) => Value::Array(values),
            State::Set { values, is_count: false } => {
                Value::Array(values.into_iter().map(|Ordered(value)| value).collect())
            }
            State::Set { values, is_count: true } => {
                Value::Integer(i64::try_from(values.len()).unwrap_or(i64::MAX))
            }
        }
    }
}

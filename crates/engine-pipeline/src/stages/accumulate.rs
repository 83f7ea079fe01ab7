//! Accumulators: what is computed of all rows of a group.

use std::borrow::Cow;
use std::cmp::Ordering;

use base_value::Value;
use base_value::order;

use crate::budget::weight;
use crate::error::PipelineError;
use crate::expression::{Expression, Parser, Scope, add_number, is_function, type_of};
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
    /// The sum of the numbers, how many there were, and whether their mean is wanted.
    Sum {
        total: Value,
        numbers: i64,
        is_mean: bool,
    },
    /// The value so far.
    One(Option<Value>),
    /// All values.
    Many(Vec<Value>),
    /// All values, each once, in order, and whether only their number is wanted.
    Set {
        values: Vec<Value>,
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
            Kind::Sum | Kind::Average => State::Sum {
                total: Value::Integer(0),
                numbers: 0,
                is_mean: self.kind == Kind::Average,
            },
            Kind::Minimum | Kind::Maximum | Kind::First | Kind::Last => State::One(None),
            Kind::ArrayAgg => State::Many(Vec::new()),
            Kind::CountDistinct | Kind::ArrayAggDistinct => {
                State::Set { values: Vec::new(), is_count: self.kind == Kind::CountDistinct }
            }
        }
    }

    /// Takes a row in.
    pub(super) fn take(&self, state: &mut State, scope: &Scope<'_>) -> Result<(), PipelineError> {
        let value = match &self.argument {
            None => Some(Value::Boolean(true)),
            Some(argument) => argument.evaluate(scope)?.map(Cow::into_owned),
        };
        let is_something = !matches!(value, None | Some(Value::Null));
        match (self.kind, state) {
            (Kind::Count, State::Count(count)) => *count += i64::from(is_something),
            (Kind::CountIf, State::Count(count)) => match value {
                Some(Value::Boolean(truth)) => *count += i64::from(truth),
                None | Some(Value::Null) => {}
                Some(other) => {
                    let text =
                        format!("accumulator 'count_if' needs a boolean, not {}", type_of(&other));
                    return Err(PipelineError::Invalid(text));
                }
            },
            (_, State::Sum { total, numbers, .. }) => {
                if let Some(number @ (Value::Integer(_) | Value::Double(_))) = &value {
                    *total = add_number(total, number)?;
                    *numbers += 1;
                }
            }
            (Kind::Minimum, State::One(best)) => better(best, value, Ordering::Less),
            (Kind::Maximum, State::One(best)) => better(best, value, Ordering::Greater),
            (Kind::First, State::One(first)) => {
                first.get_or_insert(value.unwrap_or(Value::Null));
            }
            (_, State::One(last)) => *last = Some(value.unwrap_or(Value::Null)),
            (_, State::Many(values)) => {
                let value = value.unwrap_or(Value::Null);
                scope.engine.budget.charge(weight(&value))?;
                values.push(value);
            }
            (_, State::Set { values, is_count }) => {
                let value = value.unwrap_or(Value::Null);
                let place = values.binary_search_by(|known| order::compare(known, &value));
                if let Err(place) = place
                    && (is_something || !*is_count)
                {
                    scope.engine.budget.charge(weight(&value))?;
                    values.insert(place, value);
                }
            }
            (_, State::Count(_)) => {}
        }
        Ok(())
    }
}

/// Keeps the outermost of the values that are something.
fn better(best: &mut Option<Value>, value: Option<Value>, wanted: Ordering) {
    match value {
        None | Some(Value::Null) => {}
        Some(value) => {
            if best.as_ref().is_none_or(|best| order::compare(&value, best) == wanted) {
                *best = Some(value);
            }
        }
    }
}

impl State {
    /// The value of a group whose rows have all been taken in.
    pub(super) fn finish(self) -> Value {
        match self {
            State::Count(count) => Value::Integer(count),
            State::Sum { numbers: 0, .. } => Value::Null,
            State::Sum { total, numbers, is_mean: true } => {
                let total = match total {
                    Value::Integer(total) => total as f64,
                    Value::Double(total) => total,
                    _ => 0.0,
                };
                Value::Double(total / numbers as f64)
            }
            State::Sum { total, .. } => total,
            State::One(value) => value.unwrap_or(Value::Null),
            State::Many(values) | State::Set { values, is_count: false } => Value::Array(values),
            State::Set { values, is_count: true } => {
                Value::Integer(i64::try_from(values.len()).unwrap_or(i64::MAX))
            }
        }
    }
}

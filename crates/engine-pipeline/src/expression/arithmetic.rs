//! Numbers: integers stay integers, one double makes the answer a double.

use base_value::Value;
use base_value::codec::Scalar;
use engine_query::Numbers;

use super::function::{Function, MANY, Outcome, answer, double, elements, integer, refuse, wrong};
use crate::engine::Engine;
use crate::error::PipelineError;
use crate::limits::PLACES_MAX;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("abs", (1, 1), |_, args| match args {
        [Value::Integer(number)] => exact(number.checked_abs()),
        [number] => answer(Value::Double(double(number)?.abs())),
        _ => Ok(None),
    }),
    Function::values("add", (2, MANY), |_, args| {
        fold(args, |a, b| Ok(a.checked_add(b)), |a, b| Ok(a + b))
    }),
    Function::values("subtract", (2, 2), |_, args| {
        fold(args, |a, b| Ok(a.checked_sub(b)), |a, b| Ok(a - b))
    }),
    Function::values("multiply", (2, MANY), |_, args| {
        fold(args, |a, b| Ok(a.checked_mul(b)), |a, b| Ok(a * b))
    }),
    Function::values("divide", (2, 2), |_, args| {
        let integers = |a: i64, b| if b == 0 { Err(zero()) } else { Ok(a.checked_div(b)) };
        fold(args, integers, |a, b| Ok(a / b))
    }),
    Function::values("mod", (2, 2), |_, args| {
        let integers = |a: i64, b| if b == 0 { Err(zero()) } else { Ok(Some(a.wrapping_rem(b))) };
        fold(args, integers, |a, b| if b == 0.0 { Err(zero()) } else { Ok(a % b) })
    }),
    Function::values("ceil", (1, 1), |_, args| whole(args, f64::ceil)),
    Function::values("floor", (1, 1), |_, args| whole(args, f64::floor)),
    Function::values("round", (1, 2), |_, args| places(args, f64::round, round_integer)),
    Function::values("trunc", (1, 2), |_, args| places(args, f64::trunc, trunc_integer)),
    Function::values("pow", (2, 2), |_, args| {
        real(args, |base, exponent| {
            if base == 0.0 && exponent < 0.0 {
                return Err(PipelineError::invalid("zero has no negative power"));
            }
            let power = base.powf(exponent);
            if power.is_nan() && !base.is_nan() && !exponent.is_nan() {
                return Err(PipelineError::invalid("a negative number has no fractional power"));
            }
            Ok(power)
        })
    }),
    Function::values("sqrt", (1, 1), |_, args| {
        real(
            args,
            |number, _| {
                if number < 0.0 { Err(domain("at least 0")) } else { Ok(number.sqrt()) }
            },
        )
    }),
    Function::values("exp", (1, 1), |_, args| real(args, |number, _| Ok(number.exp()))),
    Function::values("ln", (1, 1), |_, args| real(args, |number, _| Ok(positive(number)?.ln()))),
    Function::values("log10", (1, 1), |_, args| {
        real(args, |number, _| Ok(positive(number)?.log10()))
    }),
    Function::values("log", (1, 2), |_, args| match args {
        [_, _] => real(args, |number, base| {
            if base == 1.0 {
                return Err(PipelineError::invalid("base must not be 1"));
            }
            Ok(positive(number)?.ln() / positive(base)?.ln())
        }),
        _ => real(args, |number, _| Ok(positive(number)?.ln())),
    }),
    Function::values("rand", (0, 0), |engine: &Engine<'_>, _| {
        answer(Value::Double(engine.random_unit()))
    }),
    Function::values("sum", (1, 1), |_, args| match args {
        [array] => sum(elements(array)?),
        _ => Ok(None),
    }),
];

fn zero() -> PipelineError {
    PipelineError::invalid("divide by zero")
}

fn domain(what: &str) -> PipelineError {
    PipelineError::Invalid(format!("the number must be {what}"))
}

fn positive(number: f64) -> Result<f64, PipelineError> {
    if number <= 0.0 { Err(domain("greater than 0")) } else { Ok(number) }
}

fn exact(number: Option<i64>) -> Outcome {
    match number {
        Some(number) => answer(Value::Integer(number)),
        None => refuse("integer overflow"),
    }
}

/// Adds up what are numbers, as aggregation queries do.
fn sum(values: &[Value]) -> Outcome {
    let mut numbers = Numbers::default();
    values.iter().filter_map(Scalar::of).for_each(|scalar| numbers.add(scalar));
    answer(numbers.sum())
}

/// Joins the arguments from left to right.
fn fold(
    args: &[&Value],
    integers: impl Fn(i64, i64) -> Result<Option<i64>, PipelineError>,
    doubles: impl Fn(f64, f64) -> Result<f64, PipelineError>,
) -> Outcome {
    let Some((first, rest)) = args.split_first() else { return Ok(None) };
    double(first)?;
    let mut result = Value::clone(first);
    for arg in rest {
        result = match (&result, arg) {
            (Value::Integer(left), Value::Integer(right)) => {
                let number = integers(*left, *right)?;
                Value::Integer(number.ok_or_else(|| PipelineError::invalid("integer overflow"))?)
            }
            (left, right) => Value::Double(doubles(double(left)?, double(right)?)?),
        };
    }
    answer(result)
}

/// Leaves integers as they are.
fn whole(args: &[&Value], of: fn(f64) -> f64) -> Outcome {
    match args {
        [Value::Integer(number)] => answer(Value::Integer(*number)),
        [Value::Double(number)] => answer(Value::Double(of(*number))),
        [other] => Err(wrong("number", other)),
        _ => Ok(None),
    }
}

/// A function of reals.
fn real(args: &[&Value], of: impl Fn(f64, f64) -> Result<f64, PipelineError>) -> Outcome {
    let number = |position: usize| args.get(position).map_or(Ok(0.0), |arg| double(arg));
    answer(Value::Double(of(number(0)?, number(1)?)?))
}

/// Rounds to so many decimal places, negative ones being those before the point.
fn places(args: &[&Value], of: fn(f64) -> f64, integers: fn(i128, i128) -> i128) -> Outcome {
    let places = args.get(1).map_or(Ok(0), |places| integer(places))?;
    match args.first() {
        Some(Value::Integer(number)) if places >= 0 => answer(Value::Integer(*number)),
        Some(Value::Integer(number)) => {
            // Beyond 19 digits there is nothing left.
            let unit =
                u32::try_from(-places.max(-PLACES_MAX)).ok().and_then(|p| 10_i128.checked_pow(p));
            let rounded = unit.map_or(0, |unit| integers(i128::from(*number), unit) * unit);
            exact(i64::try_from(rounded).ok())
        }
        Some(Value::Double(number)) => answer(Value::Double(at_places(*number, places, of))),
        Some(other) => Err(wrong("number", other)),
        None => Ok(None),
    }
}

fn at_places(number: f64, places: i64, of: fn(f64) -> f64) -> f64 {
    let places = i32::try_from(places.clamp(-PLACES_MAX, PLACES_MAX)).unwrap_or(0);
    let scale = 10_f64.powi(places.abs());
    let scaled = if places < 0 { number / scale } else { number * scale };
    // A number without that many places is what it is; so are NaN and the infinities.
    if !scaled.is_finite() || scaled.abs() >= 9.0e15 {
        return number;
    }
    if places < 0 { of(scaled) * scale } else { of(scaled) / scale }
}

/// How many units, halves rounded away from zero.
fn round_integer(number: i128, unit: i128) -> i128 {
    let rest = number % unit;
    let whole = number / unit;
    if rest.abs() * 2 >= unit { whole + number.signum() } else { whole }
}

fn trunc_integer(number: i128, unit: i128) -> i128 {
    number / unit
}

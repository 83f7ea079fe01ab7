//! Timestamps.

use base_value::{Timestamp, Value};

use super::function::{Function, Outcome, answer, integer, refuse, string, wrong};
use super::zone;
use crate::error::PipelineError;

const SECOND: i64 = 1_000_000;

pub(crate) const FUNCTIONS: &[Function] = &[
    Function::values("current_timestamp", (0, 0), |engine, _| {
        answer(Value::Timestamp(engine.now()))
    }),
    Function::values("unix_micros_to_timestamp", (1, 1), |_, args| from_unix(args, 1)),
    Function::values("unix_millis_to_timestamp", (1, 1), |_, args| from_unix(args, 1_000)),
    Function::values("unix_seconds_to_timestamp", (1, 1), |_, args| from_unix(args, SECOND)),
    Function::values("timestamp_to_unix_micros", (1, 1), |_, args| to_unix(args, 1)),
    Function::values("timestamp_to_unix_millis", (1, 1), |_, args| to_unix(args, 1_000)),
    Function::values("timestamp_to_unix_seconds", (1, 1), |_, args| to_unix(args, SECOND)),
    Function::values("timestamp_add", (3, 3), |_, args| shift(args, 1)),
    Function::values("timestamp_subtract", (3, 3), |_, args| shift(args, -1)),
    Function::values("timestamp_diff", (3, 3), |_, args| match args {
        [end, start, unit] => {
            let micros = time(end)?.to_micros() - time(start)?.to_micros();
            answer(Value::Integer(micros / micros_of(string(unit)?)?))
        }
        _ => Ok(None),
    }),
    Function::values("timestamp_trunc", (2, 3), |_, args| {
        let [at, unit, rest @ ..] = args else { return Ok(None) };
        let (unit, zone) = (string(unit)?.to_ascii_lowercase(), zone_of(rest)?);
        if let Some(day) = unit.strip_prefix("week(").and_then(|day| day.strip_suffix(')')) {
            return week_of(time(at)?, day, zone);
        }
        match zone::start(&zone::zoned(time(at)?, zone)?, &unit) {
            Some(start) => checked(zone::instant(&start)),
            None => refuse(format!("unknown granularity '{unit}'")),
        }
    }),
    Function::values("timestamp_extract", (2, 3), |_, args| {
        let [at, part, rest @ ..] = args else { return Ok(None) };
        let part = string(part)?.to_ascii_lowercase();
        match zone::part(&zone::zoned(time(at)?, zone_of(rest)?)?, &part) {
            Some(number) => answer(Value::Integer(number)),
            None => refuse(format!("unknown part '{part}'")),
        }
    }),
];

fn time(value: &Value) -> Result<Timestamp, PipelineError> {
    match value {
        Value::Timestamp(time) => Ok(*time),
        other => Err(wrong("timestamp", other)),
    }
}

fn zone_of<'v>(rest: &[&'v Value]) -> Result<Option<&'v str>, PipelineError> {
    rest.first().map(|zone| string(zone)).transpose()
}

fn checked(time: Timestamp) -> Outcome {
    if time.is_valid() {
        answer(Value::Timestamp(time))
    } else {
        refuse("timestamp is out of range")
    }
}

fn from_unix(args: &[&Value], unit: i64) -> Outcome {
    let [number] = args else { return Ok(None) };
    match integer(number)?.checked_mul(unit) {
        Some(micros) => checked(Timestamp::from_micros(micros)),
        None => refuse("timestamp is out of range"),
    }
}

fn to_unix(args: &[&Value], unit: i64) -> Outcome {
    let [at] = args else { return Ok(None) };
    answer(Value::Integer(time(at)?.to_micros().div_euclid(unit)))
}

/// Microseconds of a unit of fixed length.
fn micros_of(unit: &str) -> Result<i64, PipelineError> {
    match unit.to_ascii_lowercase().as_str() {
        "microsecond" => Ok(1),
        "millisecond" => Ok(1_000),
        "second" => Ok(SECOND),
        "minute" => Ok(60 * SECOND),
        "hour" => Ok(3_600 * SECOND),
        "day" => Ok(86_400 * SECOND),
        other => Err(PipelineError::Invalid(format!("unknown unit '{other}'"))),
    }
}

fn shift(args: &[&Value], sign: i64) -> Outcome {
    let [at, unit, amount] = args else { return Ok(None) };
    let at = time(at)?;
    let micros = micros_of(string(unit)?)?
        .checked_mul(integer(amount)?)
        .and_then(|micros| micros.checked_mul(sign))
        .and_then(|micros| at.to_micros().checked_add(micros));
    match micros {
        Some(micros) => checked(Timestamp::from_micros(micros)),
        None => refuse("timestamp is out of range"),
    }
}

/// The start of the week that begins with that day.
fn week_of(at: Timestamp, day: &str, zone: Option<&str>) -> Outcome {
    const DAYS: [&str; 7] =
        ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"];
    let Some(first) = DAYS.iter().position(|name| *name == day) else {
        return refuse(format!("unknown day '{day}'"));
    };
    let zoned = zone::zoned(at, zone)?;
    let weekday = zone::part(&zoned, "dayofweek").unwrap_or(1) - 1;
    let back = (weekday - i64::try_from(first).unwrap_or(0)).rem_euclid(7);
    match zone::days_before(&zoned, back) {
        Some(start) => checked(zone::instant(&start)),
        None => refuse("timestamp is out of range"),
    }
}

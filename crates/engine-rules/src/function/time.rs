//! `timestamp` and `duration`, and the methods of their values.

use super::{Args, Builtin, Given, NOTHING, builtin, mismatch};
use crate::error::failure;
use crate::value::{
    Civil, Duration, Timestamp, Type, Value, checked_timestamp, civil, days_from_civil,
};

const INT: Type = Type::Int;
const DAY_SECONDS: i64 = 86_400;
const NANOS_PER_MILLI: i128 = 1_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;

pub(super) const TIMESTAMP_METHODS: &[Builtin] = &[
    builtin("year", NOTHING, INT, |args| of_time(args, |time| day(time).year)),
    builtin("month", NOTHING, INT, |args| of_time(args, |time| day(time).month)),
    builtin("day", NOTHING, INT, |args| of_time(args, |time| day(time).day)),
    builtin("hours", NOTHING, INT, |args| of_time(args, |time| second(time) / 3_600)),
    builtin("minutes", NOTHING, INT, |args| of_time(args, |time| second(time) / 60 % 60)),
    builtin("seconds", NOTHING, INT, |args| of_time(args, |time| second(time) % 60)),
    builtin("nanos", NOTHING, INT, |args| of_time(args, |time| i64::from(time.nanos))),
    builtin("dayOfWeek", NOTHING, INT, |args| {
        // 1970-01-01 was a Thursday, day 4.
        of_time(args, |time| (days(time) + 3).rem_euclid(7) + 1)
    }),
    builtin("dayOfYear", NOTHING, INT, |args| of_time(args, day_of_year)),
    builtin("toMillis", NOTHING, INT, |args| {
        of_time(args, |time| time.seconds * 1_000 + i64::from(time.nanos / 1_000_000))
    }),
    builtin("date", NOTHING, Type::Timestamp, date_of),
    builtin("time", NOTHING, Type::Duration, time_of),
];

pub(super) const TIMESTAMP_FUNCTIONS: &[Builtin] = &[
    builtin("date", &[&[INT, INT, INT]], Type::Timestamp, date),
    builtin("value", &[&[INT], &[Type::String]], Type::Timestamp, timestamp),
];

pub(super) const DURATION_METHODS: &[Builtin] = &[
    builtin("seconds", NOTHING, INT, |args| of_duration(args, |duration| duration.seconds)),
    builtin("nanos", NOTHING, INT, |args| of_duration(args, |duration| duration.nanos.into())),
];

pub(super) const DURATION_FUNCTIONS: &[Builtin] = &[
    builtin("value", &[&[INT, Type::String]], Type::Duration, duration),
    builtin("time", &[&[INT, INT, INT, INT]], Type::Duration, duration_of_parts),
    builtin("abs", &[&[Type::Duration]], Type::Duration, abs),
];

fn of_time<'e>(args: &Args<'_, 'e>, read: impl Fn(Timestamp) -> i64) -> Given<'e> {
    let Value::Timestamp(time) = args.of else { return mismatch() };
    Ok(Value::Int(read(*time)))
}

fn of_duration<'e>(args: &Args<'_, 'e>, read: impl Fn(Duration) -> i64) -> Given<'e> {
    let Value::Duration(duration) = args.of else { return mismatch() };
    Ok(Value::Int(read(*duration)))
}

fn days(time: Timestamp) -> i64 {
    time.seconds.div_euclid(DAY_SECONDS)
}

fn second(time: Timestamp) -> i64 {
    time.seconds.rem_euclid(DAY_SECONDS)
}

fn day(time: Timestamp) -> Civil {
    civil(days(time))
}

fn day_of_year(time: Timestamp) -> i64 {
    let first = Civil { month: 1, day: 1, ..day(time) };
    days_from_civil(first).map_or(0, |first| days(time) - first + 1)
}

fn date_of<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Timestamp(time) = args.of else { return mismatch() };
    Ok(Value::Timestamp(Timestamp { seconds: days(*time) * DAY_SECONDS, nanos: 0 }))
}

fn time_of<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Timestamp(time) = args.of else { return mismatch() };
    Ok(Value::Duration(Duration { seconds: second(*time), nanos: time.nanos }))
}

fn int(args: &Args<'_, '_>, place: usize) -> i64 {
    if let Value::Int(number) = args.arg(place) { *number } else { 0 }
}

fn date<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let (year, month, day) = (int(args, 0), int(args, 1), int(args, 2));
    if !(1..=9_999).contains(&year) {
        return Err(failure(format!(
            "Timestamp should be between 0001-01-01T00.00.00Z and 9999-12-31T23.59.59Z. year: {year}."
        )));
    }
    let days = days_from_civil(Civil { year, month, day }).ok_or_else(|| {
        failure(format!("Date is not valid. year: {year}, month: {month} day: {day}."))
    })?;
    Ok(Value::Timestamp(Timestamp { seconds: days * DAY_SECONDS, nanos: 0 }))
}

fn timestamp<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let nanos = match args.arg(0) {
        Value::Int(millis) => i128::from(*millis) * NANOS_PER_MILLI,
        // What cannot be read is reported as what cannot be a timestamp.
        Value::String(text) => parse(text).unwrap_or(i128::MAX),
        _ => return mismatch(),
    };
    Ok(Value::Timestamp(checked_timestamp(nanos)?))
}

/// Nanoseconds since 1970 of an RFC 3339 text.
fn parse(text: &str) -> Option<i128> {
    let (date, clock) = text.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let days = days_from_civil(Civil { year, month, day })?;
    let (clock, offset) = match clock.strip_suffix('Z') {
        Some(clock) => (clock, 0),
        None => {
            let at = clock.rfind(['+', '-'])?;
            let (clock, offset) = clock.split_at_checked(at)?;
            let (hours, minutes) = offset.get(1..)?.split_once(':')?;
            let minutes = hours.parse::<i64>().ok()? * 60 + minutes.parse::<i64>().ok()?;
            (clock, if offset.starts_with('-') { -minutes } else { minutes })
        }
    };
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<i64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let in_range =
        (0..24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    if !in_range || fraction.len() > 9 || offset.abs() >= 24 * 60 {
        return None;
    }
    let nanos = format!("{fraction:0<9}").parse::<u32>().ok()?;
    let seconds = days * DAY_SECONDS + hour * 3_600 + minute * 60 + second - offset * 60;
    Some(i128::from(seconds) * NANOS_PER_SECOND + i128::from(nanos))
}

fn duration<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::String(unit) = args.arg(1) else { return mismatch() };
    let unit_nanos = match &**unit {
        "w" => 7 * 86_400 * NANOS_PER_SECOND,
        "d" => 86_400 * NANOS_PER_SECOND,
        "h" => 3_600 * NANOS_PER_SECOND,
        "m" => 60 * NANOS_PER_SECOND,
        "s" => NANOS_PER_SECOND,
        "ms" => NANOS_PER_MILLI,
        "ns" => 1,
        // The product's own, if odd, text.
        other => {
            let text = format!("Invalid regular expression pattern. Pattern: {other}.");
            return Err(failure(text));
        }
    };
    Ok(Value::Duration(Duration::of_nanos(i128::from(int(args, 0)) * unit_nanos)?))
}

fn duration_of_parts<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let seconds = [(0, 3_600), (1, 60), (2, 1)]
        .into_iter()
        .map(|(place, size)| i128::from(int(args, place)) * size)
        .sum::<i128>();
    let nanos = seconds * NANOS_PER_SECOND + i128::from(int(args, 3));
    Ok(Value::Duration(Duration::of_nanos(nanos)?))
}

fn abs<'e>(args: &Args<'_, 'e>) -> Given<'e> {
    let Value::Duration(duration) = args.arg(0) else { return mismatch() };
    Ok(Value::Duration(Duration::of_nanos(duration.in_nanos().abs())?))
}

//! Times as JSON says them: RFC 3339, from the year 1 to the year 9999.

use std::fmt;

use prost::Message;
use prost_reflect::prost_types::Timestamp;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};

use super::place::{Place, quoted, shown};
use super::{Is, refuse};

const TYPE: &str = "type.googleapis.com/google.protobuf.Timestamp";
const NO_ZONE: &str =
    "Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset.";
const OUT_OF_RANGE: &str = "Timestamp value exceeds limits";

const SECONDS_MIN: i64 = -62_135_596_800;
const SECONDS_MAX: i64 = 253_402_300_799;

/// The content of a `google.protobuf.Timestamp`.
pub(super) struct Time<'a> {
    pub(super) place: &'a Place,
    pub(super) out: &'a mut Vec<u8>,
}

impl Time<'_> {
    fn wrong<E: Error>(&self, shown: &str) -> E {
        refuse(self.place, self.place.invalid(TYPE, shown))
    }
}

impl<'de> Visitor<'de> for Time<'_> {
    type Value = Is;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Is, E> {
        let time = parse(text).map_err(|problem| {
            let problem = match problem {
                Problem::Format => format!("Invalid time format: {}", quoted(text)),
                Problem::NoZone => NO_ZONE.to_owned(),
                Problem::OutOfRange => OUT_OF_RANGE.to_owned(),
            };
            refuse(self.place, self.place.invalid_time(&problem))
        })?;
        self.out.extend_from_slice(&time.encode_to_vec());
        Ok(Is::Present)
    }

    fn visit_unit<E: Error>(self) -> Result<Is, E> {
        Ok(Is::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Is, E> {
        Err(self.wrong(&value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Is, E> {
        Err(self.wrong(&value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Is, E> {
        Err(self.wrong(&value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Is, E> {
        Err(self.wrong(&shown(value)))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(self.wrong("{...}"))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Is, A::Error> {
        Err(refuse(self.place, self.place.not_repeating()))
    }
}

/// Why a text is no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Problem {
    Format,
    NoZone,
    OutOfRange,
}

fn parse(text: &str) -> Result<Timestamp, Problem> {
    let (local, offset) = zone(text).ok_or(Problem::NoZone)?;
    let (whole, nanos) = match local.split_once('.') {
        Some((whole, fraction)) => (whole, nanos(fraction)?),
        None => (local, 0),
    };
    let (date, time) = whole.split_once('T').ok_or(Problem::Format)?;
    // A year of five digits is too late rather than no year.
    if date.split('-').next().is_some_and(|year| year.len() > 4) {
        return Err(Problem::OutOfRange);
    }
    let [year, month, day] = numbers(date, '-', [4, 2, 2]).ok_or(Problem::Format)?;
    let [hour, minute, second] = numbers(time, ':', [2, 2, 2]).ok_or(Problem::Format)?;
    if year == 0 {
        return Err(Problem::OutOfRange);
    }
    let in_range = (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !in_range {
        return Err(Problem::Format);
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    let seconds = seconds - offset;
    match (SECONDS_MIN..=SECONDS_MAX).contains(&seconds) {
        true => Ok(Timestamp { seconds, nanos }),
        false => Err(Problem::OutOfRange),
    }
}

/// Takes the zone off: what is before it, and how many seconds it is ahead.
fn zone(text: &str) -> Option<(&str, i64)> {
    if let Some(local) = text.strip_suffix('Z') {
        return Some((local, 0));
    }
    let (local, zone) = text.split_at_checked(text.len().checked_sub(6)?)?;
    let (sign, zone) = match zone.split_at_checked(1)? {
        ("+", zone) => (1, zone),
        ("-", zone) => (-1, zone),
        _ => return None,
    };
    let [hours, minutes] = numbers(zone, ':', [2, 2])?;
    (hours < 24 && minutes < 60).then_some((local, sign * (hours * 3_600 + minutes * 60)))
}

fn nanos(fraction: &str) -> Result<i32, Problem> {
    if fraction.is_empty() || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Problem::Format);
    }
    if fraction.len() > 9 {
        return Err(Problem::OutOfRange);
    }
    format!("{fraction:0<9}").parse().map_err(|_| Problem::Format)
}

/// Numbers of so many digits each.
fn numbers<const N: usize>(text: &str, separator: char, digits: [usize; N]) -> Option<[i64; N]> {
    let mut parts = text.split(separator);
    let mut numbers = [0; N];
    for (number, digits) in numbers.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != digits || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *number = part.parse().ok()?;
    }
    parts.next().is_none().then_some(numbers)
}

fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a day of the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    let before = year - 1;
    let leaps = before / 4 - before / 100 + before / 400;
    let months: i64 = (1..month).map(|month| days_of(year, month)).sum();
    // 719,162 days lie before 1970.
    before * 365 + leaps + months + day - 1 - 719_162
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(i64, i32), Problem>) {
        let parsed = parse(text).map(|time| (time.seconds, time.nanos));
        assert_eq!(parsed, expected, "{text}");
    }

    #[test]
    fn times() {
        check("1970-01-01T00:00:00Z", Ok((0, 0)));
        check("1969-12-31T23:59:59.1Z", Ok((-1, 100_000_000)));
        check("2020-02-29T12:30:45.000000001Z", Ok((1_582_979_445, 1)));
        check("2020-01-01T01:00:00+01:00", Ok((1_577_836_800, 0)));
        check("2019-12-31T23:30:00-00:30", Ok((1_577_836_800, 0)));
        check("0001-01-01T00:00:00Z", Ok((SECONDS_MIN, 0)));
        check("9999-12-31T23:59:59.999999999Z", Ok((SECONDS_MAX, 999_999_999)));
    }

    #[test]
    fn no_times() {
        for text in ["", "yesterday", "2020-01-01T00:00:00", "2020-01-01T00:00:00+1", "\u{e9}:00Zx"]
        {
            check(text, Err(Problem::NoZone));
        }
        for text in [
            "2020-01-01T00:00:60Z",
            "2020-01-01T24:00:00Z",
            "2020-01-01T00:60:00Z",
            "2021-02-29T00:00:00Z",
            "2020-13-01T00:00:00Z",
            "2020-00-01T00:00:00Z",
            "2020-01-00T00:00:00Z",
            "2020-1-01T00:00:00Z",
            "10000-01-01T00:00:00Z",
            "2020-01-01 00:00:00Z",
            "2020-01-01T00:00:00.Z",
            "2020-01-01T00:00:00.+1Z",
            "2020-01-01T00:00Z",
        ] {
            let expected =
                if text.starts_with("10000") { Problem::OutOfRange } else { Problem::Format };
            check(text, Err(expected));
        }
        for text in [
            "0000-01-01T00:00:00Z",
            "2020-01-01T00:00:00.1234567891Z",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
        ] {
            check(text, Err(Problem::OutOfRange));
        }
    }
}

//! Civil time: years, weeks and hours of a time zone.

use base_value::Timestamp;
use jiff::civil::{DateTime, ISOWeekDate, Time, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp as Instant, ToSpan, Zoned};

use crate::error::PipelineError;

/// A time in a time zone, UTC where none is named.
pub(crate) fn zoned(time: Timestamp, zone: Option<&str>) -> Result<Zoned, PipelineError> {
    let zone = match zone {
        None => TimeZone::UTC,
        Some(name) => named(name)?,
    };
    let instant = Instant::new(time.seconds, time.nanos)
        .map_err(|_| PipelineError::invalid("timestamp is out of range"))?;
    Ok(instant.to_zoned(zone))
}

fn named(name: &str) -> Result<TimeZone, PipelineError> {
    if let Ok(zone) = TimeZone::get(name) {
        return Ok(zone);
    }
    // An offset, such as `+02:00` or `-8`.
    let offset = name.trim_start_matches("UTC").trim_start_matches("GMT");
    let sign = match offset.chars().next() {
        Some('+') => 1,
        Some('-') => -1,
        _ => return Err(unknown(name)),
    };
    let mut parts = offset.trim_start_matches(['+', '-']).splitn(2, ':');
    let part = |part: Option<&str>| part.map_or(Ok(0), |part| part.parse::<i32>());
    let (Ok(hours), Ok(minutes)) = (part(parts.next()), part(parts.next())) else {
        return Err(unknown(name));
    };
    if hours > 14 || minutes > 59 {
        return Err(unknown(name));
    }
    let offset = jiff::tz::Offset::from_seconds(sign * (hours * 3600 + minutes * 60));
    offset.map(TimeZone::fixed).map_err(|_| unknown(name))
}

fn unknown(name: &str) -> PipelineError {
    PipelineError::Invalid(format!("unknown time zone '{name}'"))
}

/// The instant of a zoned time.
pub(crate) fn instant(time: &Zoned) -> Timestamp {
    let instant = time.timestamp();
    let (seconds, nanos) = (instant.as_second(), instant.subsec_nanosecond());
    if nanos < 0 {
        return Timestamp { seconds: seconds - 1, nanos: nanos + 1_000_000_000 };
    }
    Timestamp { seconds, nanos }
}

/// The start of the part of time that a time lies in.
pub(crate) fn start(time: &Zoned, unit: &str) -> Option<Zoned> {
    let at = time.datetime();
    let midnight = at.date().to_datetime(Time::midnight());
    let below = |unit: i32| {
        let nanos = at.subsec_nanosecond() / unit * unit;
        at.with().subsec_nanosecond(nanos).build().ok()
    };
    let start: DateTime = match unit {
        "year" => midnight.with().month(1).day(1).build().ok()?,
        "quarter" => {
            let month = (at.month() - 1) / 3 * 3 + 1;
            midnight.with().day(1).month(month).build().ok()?
        }
        "month" => midnight.with().day(1).build().ok()?,
        "isoyear" => {
            let year = at.date().iso_week_date().year();
            let monday = ISOWeekDate::new(year, 1, Weekday::Monday).ok()?;
            monday.date().to_datetime(Time::midnight())
        }
        "week" => return days_before(time, at.weekday().to_sunday_zero_offset().into()),
        "isoweek" => return days_before(time, at.weekday().to_monday_zero_offset().into()),
        "day" => midnight,
        "hour" => at.with().minute(0).second(0).subsec_nanosecond(0).build().ok()?,
        "minute" => at.with().second(0).subsec_nanosecond(0).build().ok()?,
        "second" => at.with().subsec_nanosecond(0).build().ok()?,
        "millisecond" => below(1_000_000)?,
        "microsecond" => below(1_000)?,
        _ => return None,
    };
    start.to_zoned(time.time_zone().clone()).ok()
}

/// The start of the day so many days before.
pub(crate) fn days_before(time: &Zoned, days: i64) -> Option<Zoned> {
    let midnight = time.date().to_datetime(Time::midnight());
    let start = midnight.checked_sub(days.days()).ok()?;
    start.to_zoned(time.time_zone().clone()).ok()
}

/// One number of a time.
pub(crate) fn part(time: &Zoned, part: &str) -> Option<i64> {
    let week = || time.date().iso_week_date();
    Some(match part {
        "year" => time.year().into(),
        "quarter" => i64::from(time.month() - 1) / 3 + 1,
        "month" => time.month().into(),
        "day" => time.day().into(),
        "dayofweek" => time.weekday().to_sunday_one_offset().into(),
        "dayofyear" => time.day_of_year().into(),
        "isoyear" => week().year().into(),
        "isoweek" => week().week().into(),
        "week" => {
            // Week 0 lies before the year's first Sunday.
            let day = i64::from(time.day_of_year());
            (day + 6 - i64::from(time.weekday().to_sunday_zero_offset())) / 7
        }
        "hour" => time.hour().into(),
        "minute" => time.minute().into(),
        "second" => time.second().into(),
        "millisecond" => i64::from(time.subsec_nanosecond()) / 1_000_000,
        "microsecond" => i64::from(time.subsec_nanosecond()) / 1_000,
        _ => return None,
    })
}

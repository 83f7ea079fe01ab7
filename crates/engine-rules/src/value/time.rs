//! Durations, and the calendar of timestamps.

use super::Timestamp;
use crate::error::{Failure, failure};

const SECONDS_MAX: i64 = 315_576_000_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
const TIMESTAMP_SECONDS: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// A span of time: seconds, and nanoseconds of the same sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Duration {
    /// Whole seconds.
    pub seconds: i64,
    /// Nanoseconds beside them, -999,999,999 to 999,999,999.
    pub nanos: i32,
}

impl Duration {
    /// A duration of that many nanoseconds, where it is in the range of durations.
    pub(crate) fn of_nanos(nanos: i128) -> Result<Self, Failure> {
        let seconds = i64::try_from(nanos / NANOS_PER_SECOND).unwrap_or(i64::MAX);
        if !(-SECONDS_MAX..=SECONDS_MAX).contains(&seconds) {
            return Err(failure(
                "Duration is not valid. Seconds must be in range [-315,576,000,000, \
                 +315,576,000,000]. Nanos must be in range [-999,999,999, +999,999,999]. Nanos must \
                 have the same sign as seconds.",
            ));
        }
        Ok(Duration { seconds, nanos: (nanos % NANOS_PER_SECOND) as i32 })
    }

    pub(crate) fn in_nanos(self) -> i128 {
        i128::from(self.seconds) * NANOS_PER_SECOND + i128::from(self.nanos)
    }
}

/// A timestamp of that many nanoseconds since 1970, where it is in the range of timestamps.
pub(crate) fn checked_timestamp(nanos: i128) -> Result<Timestamp, Failure> {
    let seconds = i64::try_from(nanos.div_euclid(NANOS_PER_SECOND)).unwrap_or(i64::MAX);
    if !TIMESTAMP_SECONDS.contains(&seconds) {
        return Err(failure(
            "Timestamp is not valid. Seconds must be in range [-62,135,596,800, +253,402,300,799]. \
             Nanos must be in range [0, +999,999,999].",
        ));
    }
    Ok(Timestamp { seconds, nanos: nanos.rem_euclid(NANOS_PER_SECOND) as i32 })
}

/// A day of the calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Civil {
    pub(crate) year: i64,
    pub(crate) month: i64,
    pub(crate) day: i64,
}

/// The day that many days after 1970-01-01, in the proleptic Gregorian calendar.
pub(crate) fn civil(days: i64) -> Civil {
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    Civil { year: year_of_era + era * 400 + i64::from(month <= 2), month, day }
}

/// Days from 1970-01-01 to a day; `None` where the calendar has no such day. Years 0 to 9999 alone.
pub(crate) fn days_from_civil(date: Civil) -> Option<i64> {
    let Civil { year, month, day } = date;
    if !(0..=9_999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let shifted_year = if month <= 2 { year - 1 } else { year };
    let era = shifted_year.div_euclid(400);
    let year_of_era = shifted_year.rem_euclid(400);
    let shifted_month = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    (civil(days) == date).then_some(days)
}

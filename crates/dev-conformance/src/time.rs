//! Timestamps of answers as microseconds since the epoch.

/// Reads an RFC 3339 UTC time (`2026-01-02T03:04:05.678901Z`). None for anything else.
pub(crate) fn micros(text: &str) -> Option<i64> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.split('-').map(str::parse::<i64>);
    let (year, month, day) = (date.next()?.ok()?, date.next()?.ok()?, date.next()?.ok()?);
    let (whole, fraction) = clock.split_once('.').unwrap_or((clock, ""));
    let mut whole = whole.split(':').map(str::parse::<i64>);
    let (hour, minute, second) = (whole.next()?.ok()?, whole.next()?.ok()?, whole.next()?.ok()?);
    if fraction.len() > 9 || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let fraction: i64 = format!("{fraction:0<9}").parse().ok()?;
    let seconds = days(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(seconds * 1_000_000 + fraction / 1_000)
}

/// Days since 1970-01-01 of a proleptic Gregorian date.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years that begin in March put the leap day last.
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::micros;

    #[test]
    fn reads_times() {
        let check =
            |text: &str, expected: Option<i64>| assert_eq!(micros(text), expected, "{text}");
        check("1970-01-01T00:00:00Z", Some(0));
        check("2020-01-01T00:00:00Z", Some(1_577_836_800_000_000));
        check("2000-02-29T12:00:00.5Z", Some(951_825_600_500_000));
        check("1969-12-31T23:59:59.999999Z", Some(-1));
        check("2026-11-30T13:50:41.251382Z", Some(1_796_046_641_251_382));
        check("yesterday", None);
        check("2020-01-01T00:00:00", None);
    }
}

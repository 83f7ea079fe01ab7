//! Times as clients send them.

use base_env::UnixMicros;
use base_value::Timestamp;

use crate::error::Error;

/// A time that has to name a version exactly, so it may not have digits below the microsecond.
///
/// # Errors
/// Digits below the microsecond, times up to 1970 and times outside the years 1 to 9999.
pub(crate) fn whole_micros(time: prost_types::Timestamp) -> Result<UnixMicros, Error> {
    let time = Timestamp { seconds: time.seconds, nanos: time.nanos };
    if !time.is_valid() {
        return Err(Error::invalid("timestamp is outside of the years 1 to 9999"));
    }
    if time.nanos % 1_000 != 0 {
        return Err(Error::invalid("timestamp cannot have more than microseconds precision"));
    }
    Ok(UnixMicros(time.to_micros()))
}

/// A read time.
///
/// # Errors
/// As [`whole_micros`], and times before 1970.
pub(crate) fn read_time(time: prost_types::Timestamp) -> Result<UnixMicros, Error> {
    let time = whole_micros(time)?;
    if time.0 <= 0 {
        return Err(Error::invalid("Only timestamps past epoch are supported."));
    }
    Ok(time)
}

/// A time after which changes are asked for: digits below the microsecond are dropped, so that nothing
/// after it is left out.
///
/// # Errors
/// Times outside the years 1 to 9999.
pub(crate) fn rounded(time: prost_types::Timestamp) -> Result<UnixMicros, Error> {
    let time = Timestamp { seconds: time.seconds, nanos: time.nanos };
    if !time.is_valid() {
        return Err(Error::invalid("timestamp is outside of the years 1 to 9999"));
    }
    Ok(UnixMicros(time.to_micros()))
}

//! How values are written: in explanations, in the debug log, and by `string()`.

use std::fmt;

use super::{Comparison, Duration, Map, Segment, Status, Timestamp, Value, civil};

/// A double as Java writes it, which is what `string()` gives.
pub(crate) fn java_double(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let size = number.abs();
    if size == 0.0 || (1e-3..1e7).contains(&size) {
        return format!("{number:?}");
    }
    let text = format!("{number:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if digits.contains('.') { "" } else { ".0" };
    format!("{digits}{point}E{exponent}")
}

impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Null => f.write_str("null"),
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            Value::Float(value) => f.write_str(&java_double(*value)),
            Value::String(text) => quoted(f, text),
            Value::Bytes(bytes) => {
                f.write_str("bytes(")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(")")
            }
            Value::Timestamp(time) => write!(f, "timestamp({})", utc(*time)),
            Value::Duration(duration) => {
                write!(f, "duration({duration})")
            }
            Value::LatLng(latitude, longitude) => {
                write!(f, "latlng({}, {})", java_double(*latitude), java_double(*longitude))
            }
            Value::Path(path) => {
                f.write_str("path(")?;
                path.segments().iter().try_for_each(|segment| match segment {
                    Segment::Text(text) => write!(f, "/{}", &**text),
                    Segment::Capture(name) => write!(f, "/{{{}}}", &**name),
                    Segment::Glob(name) => write!(f, "/{{{}=**}}", &**name),
                })?;
                f.write_str(")")
            }
            Value::List(list) => {
                f.write_str("[")?;
                separated(f, list.iter(), |f, item| write!(f, "{item}"))?;
                f.write_str("]")
            }
            Value::Set(items) => {
                f.write_str("set[")?;
                let mut texts: Vec<_> = items.iter().map(Value::to_string).collect();
                texts.sort_unstable();
                separated(f, texts.iter(), |f, text| f.write_str(text))?;
                f.write_str("]")
            }
            Value::Map(entries) => map(f, entries),
            Value::MapDiff(diff) => {
                f.write_str("diff{")?;
                separated(f, diff.keys.iter(), |f, (key, status)| {
                    quoted(f, key)?;
                    f.write_str(match status {
                        Status::Added => ": added",
                        Status::Removed => ": removed",
                        Status::Changed => ": changed",
                        Status::Unchanged => ": unchanged",
                    })
                })?;
                f.write_str("}")
            }
            Value::Vector(numbers) => {
                f.write_str("vector[")?;
                separated(f, numbers.iter(), |f, number| f.write_str(&java_double(*number)))?;
                f.write_str("]")
            }
            Value::Constraint(constraint) => {
                f.write_str("constraint(")?;
                separated(f, constraint.parts().iter(), |f, (comparison, value)| {
                    let symbol = match comparison {
                        Comparison::Equal => "==",
                        Comparison::NotEqual => "!=",
                        Comparison::Less => "<",
                        Comparison::LessOrEqual => "<=",
                        Comparison::Greater => ">",
                        Comparison::GreaterOrEqual => ">=",
                        Comparison::Contains => "contains",
                    };
                    write!(f, "{symbol} {}", Value::stored(value))
                })?;
                f.write_str(")")
            }
        }
    }
}

fn map(f: &mut fmt::Formatter<'_>, map: &Map<'_>) -> fmt::Result {
    f.write_str("{")?;
    separated(f, map.entries().into_iter(), |f, (key, value)| {
        quoted(f, &key)?;
        write!(f, ": {value}")
    })?;
    f.write_str("}")
}

fn separated<T>(
    f: &mut fmt::Formatter<'_>,
    items: impl Iterator<Item = T>,
    mut each: impl FnMut(&mut fmt::Formatter<'_>, T) -> fmt::Result,
) -> fmt::Result {
    for (number, item) in items.enumerate() {
        if number > 0 {
            f.write_str(", ")?;
        }
        each(f, item)?;
    }
    Ok(())
}

fn quoted(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("'")?;
    for character in text.chars() {
        match character {
            '\\' => f.write_str("\\\\")?,
            '\'' => f.write_str("\\'")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            ' '..='~' => write!(f, "{character}")?,
            other => {
                let mut buffer = [0; 2];
                for unit in other.encode_utf16(&mut buffer) {
                    write!(f, "\\u{unit:04x}")?;
                }
            }
        }
    }
    f.write_str("'")
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.seconds < 0 || self.nanos < 0 { "-" } else { "" };
        let nanos = fraction(self.nanos.unsigned_abs());
        write!(f, "{sign}{}{nanos}s", self.seconds.unsigned_abs())
    }
}

/// A point in time as the protocols of Google write it: in UTC, with as many digits as it takes.
pub fn utc(time: Timestamp) -> String {
    let day = civil(time.seconds.div_euclid(86_400));
    let second = time.seconds.rem_euclid(86_400);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z",
        day.year,
        day.month,
        day.day,
        second / 3_600,
        second / 60 % 60,
        second % 60,
        fraction(time.nanos.unsigned_abs())
    )
}

/// Nanoseconds as a fraction of 3, 6 or 9 digits; nothing for none.
fn fraction(nanos: u32) -> String {
    if nanos == 0 {
        String::new()
    } else if nanos.is_multiple_of(1_000_000) {
        format!(".{:03}", nanos / 1_000_000)
    } else if nanos.is_multiple_of(1_000) {
        format!(".{:06}", nanos / 1_000)
    } else {
        format!(".{nanos:09}")
    }
}

//! Timestamps at their edges, and sameness of values.

use super::*;

#[test]
fn micros_round_trip_toward_the_past() {
    let cases = [
        (0, 0, 0),
        (1, 0, 1_000),
        (-1, -1, 999_999_000),
        (-1_000_000, -1, 0),
        (1_700_000_000_123_456, 1_700_000_000, 123_456_000),
    ];
    for (micros, seconds, nanos) in cases {
        let timestamp = Timestamp { seconds, nanos };
        assert_eq!(Timestamp::from_micros(micros), timestamp, "{micros}");
        assert_eq!(timestamp.to_micros(), micros, "{micros}");
    }
    assert_eq!(Timestamp { seconds: -1, nanos: 999_999_999 }.to_micros(), -1);
    assert_eq!(Timestamp { seconds: i64::MAX, nanos: 0 }.to_micros(), i64::MAX);
}

#[test]
fn truncation_drops_the_finer_digits() {
    let timestamp = Timestamp { seconds: -5, nanos: 123_456_789 };
    assert_eq!(timestamp.truncated_to_micros(), Timestamp { seconds: -5, nanos: 123_456_000 });
    assert_eq!(timestamp.truncated_to_millis(), Timestamp { seconds: -5, nanos: 123_000_000 });
}

#[test]
fn validity_covers_years_1_to_9999() {
    let cases = [
        (TIMESTAMP_SECONDS_MIN, 0, true),
        (TIMESTAMP_SECONDS_MIN - 1, 999_999_999, false),
        (TIMESTAMP_SECONDS_MAX, 999_999_999, true),
        (TIMESTAMP_SECONDS_MAX + 1, 0, false),
        (0, 1_000_000_000, false),
        (0, -1, false),
    ];
    for (seconds, nanos, valid) in cases {
        assert_eq!(Timestamp { seconds, nanos }.is_valid(), valid, "{seconds}.{nanos}");
    }
}

#[test]
fn sameness_is_stricter_than_equality_of_queries() {
    let other_nan = f64::from_bits(f64::NAN.to_bits() ^ 1);
    assert_eq!(Value::Double(f64::NAN), Value::Double(other_nan));
    assert_eq!(Value::Vector(vec![f64::NAN]), Value::Vector(vec![other_nan]));
    assert_ne!(Value::Double(0.0), Value::Double(-0.0));
    assert_ne!(Value::Integer(1), Value::Double(1.0));
    assert_ne!(Value::String("a".into()), Value::Reference("a".into()));
    assert_ne!(Value::Vector(vec![1.0]), Value::Array(vec![Value::Double(1.0)]));
}

//! The encoding byte for byte, what else decodes, and what does not.

use bytes::Bytes;

use super::*;
use crate::field_path::FieldPath;
use crate::order;
use crate::value::{Fields, Timestamp, Value};

fn map<const N: usize>(entries: [(&str, Value); N]) -> Fields {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn check_bytes(value: &Value, expected: &[u8]) {
    assert_eq!(encode_value(value), expected, "{value:?}");
    assert_eq!(decode_value(expected).as_ref(), Ok(value));
}

#[test]
fn every_type_byte_for_byte() {
    let timestamp = |seconds, nanos| Value::Timestamp(Timestamp { seconds, nanos });
    check_bytes(&Value::Null, b"\x58\x00");
    check_bytes(&Value::Boolean(false), b"\x08\x00");
    check_bytes(&Value::Boolean(true), b"\x08\x01");
    check_bytes(&Value::Integer(0), b"\x10\x00");
    check_bytes(&Value::Integer(300), b"\x10\xac\x02");
    check_bytes(&Value::Integer(-1), b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    check_bytes(&Value::Double(1.0), b"\x19\0\0\0\0\0\0\xf0\x3f");
    check_bytes(&Value::Double(-0.0), b"\x19\0\0\0\0\0\0\0\x80");
    check_bytes(&Value::Double(f64::NAN), b"\x19\0\0\0\0\0\0\xf8\x7f");
    check_bytes(&timestamp(0, 0), b"\x52\x00");
    check_bytes(&timestamp(1, 5), b"\x52\x04\x08\x01\x10\x05");
    check_bytes(&timestamp(-1, 0), b"\x52\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    check_bytes(&Value::String("hi".to_owned()), b"\x8a\x01\x02hi");
    check_bytes(&Value::String(String::new()), b"\x8a\x01\x00");
    check_bytes(&Value::Bytes(Bytes::from_static(b"\xff")), b"\x92\x01\x01\xff");
    check_bytes(&Value::Reference("r".to_owned()), b"\x2a\x01r");
    check_bytes(&Value::GeoPoint { latitude: 0.0, longitude: 0.0 }, b"\x42\x00");
    check_bytes(
        &Value::GeoPoint { latitude: 1.0, longitude: -0.0 },
        b"\x42\x12\x09\0\0\0\0\0\0\xf0\x3f\x11\0\0\0\0\0\0\0\x80",
    );
    check_bytes(&Value::Array(vec![]), b"\x4a\x00");
    check_bytes(
        &Value::Array(vec![Value::Integer(1), Value::Null]),
        b"\x4a\x08\x0a\x02\x10\x01\x0a\x02\x58\x00",
    );
    check_bytes(&Value::Map(map([])), b"\x32\x00");
    check_bytes(
        &Value::Map(map([("b", Value::Null), ("a", Value::Integer(1))])),
        b"\x32\x12\x0a\x07\x0a\x01a\x12\x02\x10\x01\x0a\x07\x0a\x01b\x12\x02\x58\x00",
    );
    check_bytes(
        &Value::Vector(vec![1.0]),
        b"\x32\x33\x0a\x19\x0a\x08__type__\x12\x0d\x8a\x01\x0a__vector__\
          \x0a\x16\x0a\x05value\x12\x0d\x4a\x0b\x0a\x09\x19\0\0\0\0\0\0\xf0\x3f",
    );
}

#[test]
fn fields_are_entries_of_a_document() {
    let fields = map([("b", Value::Boolean(true)), ("a", Value::Map(map([("x", Value::Null)])))]);
    let expected = b"\x12\x10\x0a\x01a\x12\x0b\x32\x09\x0a\x07\x0a\x01x\x12\x02\x58\x00\
                     \x12\x07\x0a\x01b\x12\x02\x08\x01";
    assert_eq!(encode_fields(&fields), expected.as_slice());
    assert_eq!(decode_fields(expected), Ok(fields));
    assert_eq!(encode_fields(&Fields::new()), b"".as_slice());
}

#[test]
fn long_bodies_need_long_lengths() {
    let long = Value::Array(vec![Value::Map(map([("k", Value::String("x".repeat(20_000)))])); 3]);
    assert_eq!(decode_value(&encode_value(&long)), Ok(long));
}

#[test]
fn other_spellings_decode() {
    let integer = |value| Ok(Value::Integer(value));
    // The last type set wins; unknown fields are passed over.
    assert_eq!(decode_value(b"\x58\x00\x10\x07"), integer(7));
    assert_eq!(decode_value(b"\x10\x07\xfa\x01\x01z"), integer(7));
    assert_eq!(decode_value(b"\x10\x87\x80\x00"), integer(7));
    // The value of an entry in front of its key, no key at all, equal names.
    assert_eq!(
        decode_fields(b"\x12\x07\x12\x02\x10\x01\x0a\x01a"),
        Ok(map([("a", Value::Integer(1))]))
    );
    assert_eq!(decode_fields(b"\x12\x04\x12\x02\x10\x01"), Ok(map([("", Value::Integer(1))])));
    assert_eq!(
        decode_fields(b"\x12\x07\x0a\x01a\x12\x02\x10\x01\x12\x07\x0a\x01a\x12\x02\x10\x02"),
        Ok(map([("a", Value::Integer(2))]))
    );
    // A vector whose entries come in the other order.
    let swapped = b"\x32\x33\x0a\x16\x0a\x05value\x12\x0d\x4a\x0b\x0a\x09\x19\0\0\0\0\0\0\xf0\x3f\
                    \x0a\x19\x0a\x08__type__\x12\x0d\x8a\x01\x0a__vector__";
    assert_eq!(decode_value(swapped), Ok(Value::Vector(vec![1.0])));
    // Components that are no doubles leave it a map, for validation to name.
    let mut no_vector = map([("value", Value::Array(vec![Value::Integer(1)]))]);
    no_vector.insert("__type__".to_owned(), Value::String("__vector__".to_owned()));
    let no_vector = Value::Map(no_vector);
    assert_eq!(decode_value(&encode_value(&no_vector)), Ok(no_vector));
}

#[test]
fn refusals() {
    let cases: [(&[u8], &str); 17] = [
        (b"", "Cannot convert firestore.v1.Value with type unset."),
        (b"\xfa\x01\x01z", "Cannot convert firestore.v1.Value with type unset."),
        (b"\x9a\x01\x01a", "Value type is not supported: FIELD_REFERENCE_VALUE"),
        (b"\xa2\x01\x00", "Value type is not supported: FUNCTION_VALUE"),
        (b"\xaa\x01\x00", "Value type is not supported: PIPELINE_VALUE"),
        (b"\x8a\x01\x01\xff", "string field contains invalid UTF-8"),
        (b"\x8a\x01\x02a", "Payload isn't valid for request."),
        (b"\x10", "Payload isn't valid for request."),
        (b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "Payload isn't valid for request."),
        (b"\x12\x00", "Payload isn't valid for request."),
        (b"\x00\x00", "Payload isn't valid for request."),
        (b"\x13\x14", "Payload isn't valid for request."),
        (b"\x19\0\0", "Payload isn't valid for request."),
        (b"\x4a\x02\x0a\x00", "Cannot convert firestore.v1.Value with type unset."),
        (b"\x32\x05\x0a\x03\x0a\x01a", "Cannot convert firestore.v1.Value with type unset."),
        (b"\x52\x05", "Payload isn't valid for request."),
        (
            b"\x52\x06\x10\x80\x94\xeb\xdc\x03",
            "timestamp is out of range: seconds must lie in years 1 to 9999, nanos in 0 to 999999999",
        ),
    ];
    for (bytes, message) in cases {
        let error = decode_value(bytes).expect_err("refused");
        assert_eq!(error.to_string(), message, "{bytes:?}");
        assert!(scalar(bytes).is_none(), "{bytes:?}");
    }
}

#[test]
fn depth_is_bounded() {
    let nested =
        |levels: usize| (1..levels).fold(Value::Null, |value, _| Value::Array(vec![value]));
    assert!(decode_value(&encode_value(&nested(100))).is_ok());
    assert_eq!(decode_value(&encode_value(&nested(101))), Err(DecodeError::TooDeep));
}

#[test]
fn one_field_is_found() {
    let vector = Value::Vector(vec![1.0]);
    let fields = map([
        ("a", Value::Integer(1)),
        ("m", Value::Map(map([("n", Value::Map(map([("o", Value::Integer(2))]))), ("z", vector)]))),
        ("s", Value::String("text".to_owned())),
    ]);
    let encoded = encode_fields(&fields);
    for path in
        ["a", "m", "m.n", "m.n.o", "m.z", "m.z.value", "s", "s.t", "b", "zz", "m.a", "m.n.o.p"]
    {
        let path = FieldPath::parse(path).unwrap();
        assert_eq!(find(&encoded, &path).as_ref(), path.get(&fields), "{path}");
        let raw = find_raw(&encoded, &path).map(|raw| decode_value(raw).unwrap());
        assert_eq!(raw.as_ref(), path.get(&fields), "{path}");
    }
    let names: Vec<&str> = entries(&encoded).map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "m", "s"]);
    // An entry with its value in front of its key.
    let odd = b"\x12\x07\x12\x02\x10\x01\x0a\x01a";
    assert_eq!(find(odd, &FieldPath::single("a")), Some(Value::Integer(1)));
}

#[test]
fn scalars_borrow_what_decoding_copies() {
    for value in [
        Value::Null,
        Value::Boolean(true),
        Value::Integer(-5),
        Value::Double(2.5),
        Value::Timestamp(Timestamp { seconds: 3, nanos: 4_000 }),
        Value::String("text".to_owned()),
        Value::Bytes(Bytes::from_static(b"raw")),
        Value::Reference("projects/p/databases/d/documents/c/d".to_owned()),
        Value::GeoPoint { latitude: 1.0, longitude: 2.0 },
    ] {
        let encoded = encode_value(&value);
        let borrowed = scalar(&encoded).expect("a scalar");
        let owned = Scalar::of(&value).expect("a scalar");
        assert!(order::compare_scalars(borrowed, owned).is_eq(), "{value:?}");
    }
    for value in [Value::Array(vec![]), Value::Map(map([])), Value::Vector(vec![1.0])] {
        assert!(scalar(&encode_value(&value)).is_none());
        assert!(Scalar::of(&value).is_none());
    }
}

//! Documents as the REST API spells them, for the corpus. Values that are longer than anybody wants to read are
//! `{"repeated": ["ab", 3]}`.

use std::collections::BTreeMap;

use base_value::{DocumentPath, Fields, Timestamp, Value};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::Value as Json;

/// Documents by path, out of an object whose keys are paths and whose values are objects of fields.
pub(crate) fn documents(json: &Json) -> BTreeMap<DocumentPath, Fields> {
    let documents = json.as_object().unwrap().iter();
    documents.map(|(path, json)| (DocumentPath::parse(path).unwrap(), fields(json))).collect()
}

fn fields(json: &Json) -> Fields {
    let fields = json.as_object().unwrap().iter();
    fields.map(|(name, json)| (name.clone(), value(json))).collect()
}

fn value(json: &Json) -> Value {
    let mut members = json.as_object().unwrap().iter();
    let (kind, json) = members.next().unwrap();
    assert!(members.next().is_none(), "{json}");
    let text = || json.as_str().unwrap().to_owned();
    match kind.as_str() {
        "nullValue" => Value::Null,
        "booleanValue" => Value::Boolean(json.as_bool().unwrap()),
        "integerValue" => Value::Integer(text().parse().unwrap()),
        "doubleValue" => Value::Double(double(json)),
        "timestampValue" => Value::Timestamp(timestamp(&text())),
        "stringValue" => Value::String(text()),
        "bytesValue" => Value::Bytes(BASE64_STANDARD.decode(text()).unwrap().into()),
        "referenceValue" => Value::Reference(text()),
        "geoPointValue" => {
            let (latitude, longitude) = (double(&json["latitude"]), double(&json["longitude"]));
            Value::GeoPoint { latitude, longitude }
        }
        "arrayValue" => {
            let values = json["values"].as_array().into_iter().flatten();
            Value::Array(values.map(value).collect())
        }
        "mapValue" => map(fields(json.get("fields").unwrap_or(&Json::Object(Default::default())))),
        "repeated" => {
            let times = usize::try_from(json[1].as_u64().unwrap()).unwrap();
            Value::String(json[0].as_str().unwrap().repeat(times))
        }
        other => panic!("no kind of value: {other}"),
    }
}

/// A map, or the vector that is spelled as one.
fn map(fields: Fields) -> Value {
    let (mark, value) = (fields.get("__type__"), fields.get("value"));
    match (mark, value) {
        (Some(Value::String(mark)), Some(Value::Array(components))) if mark == "__vector__" => {
            let double = |component: &Value| match component {
                Value::Double(double) => *double,
                other => panic!("no component: {other:?}"),
            };
            Value::Vector(components.iter().map(double).collect())
        }
        _ => Value::Map(fields),
    }
}

fn double(json: &Json) -> f64 {
    json.as_f64().unwrap_or_else(|| match json.as_str() {
        Some("NaN") => f64::NAN,
        Some("Infinity") => f64::INFINITY,
        Some("-Infinity") => f64::NEG_INFINITY,
        _ => panic!("no double: {json}"),
    })
}

/// `2026-01-02T03:04:05.678901Z`.
fn timestamp(text: &str) -> Timestamp {
    let number = |from: usize, to: usize| text.get(from..to).unwrap().parse::<i64>().unwrap();
    let (year, month, day) = (number(0, 4), number(5, 7), number(8, 10));
    // Years that begin in March end with the leap day.
    let (year, month) = if month < 3 { (year - 1, month + 9) } else { (year, month - 3) };
    let leap_days = year / 4 - year / 100 + year / 400;
    let days = year * 365 + leap_days + (month * 153 + 2) / 5 + day - 719_469;
    let seconds = days * 86_400 + number(11, 13) * 3_600 + number(14, 16) * 60 + number(17, 19);
    let fraction = text.get(19..).unwrap().trim_end_matches('Z').trim_start_matches('.');
    let nanos = format!("{fraction:0<9}").parse().unwrap();
    Timestamp { seconds, nanos }
}

#[test]
fn times_are_read() {
    let table = [
        ("1970-01-01T00:00:00Z", 0, 0),
        ("1969-12-31T23:59:59.999999Z", -1, 999_999_000),
        ("2024-02-29T12:34:56.5Z", 1_709_210_096, 500_000_000),
        ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799, 999_999_000),
    ];
    for (text, seconds, nanos) in table {
        assert_eq!(timestamp(text), Timestamp { seconds, nanos }, "{text}");
    }
}

//! Values of expressions as the official emulator writes them, in reports of coverage and in its feed of requests.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use engine_rules::{Comparison, Map, Path, Segment, Status, Value, utc};
use serde_json::{Map as Members, Value as Json, json};

/// How deep values nest that are written: deeper than documents and claims do.
const DEPTH_MAX: usize = 40;

/// What a value, its name and its type take beside its own text.
const AROUND_BYTES: usize = 16;

/// A value as JSON; none where it takes about more bytes than it may.
pub(super) fn json(value: &Value<'_>, bytes_max: usize) -> Option<Json> {
    Writer { left: bytes_max, depth: 0 }.value(value)
}

struct Writer {
    left: usize,
    depth: usize,
}

impl Writer {
    fn take(&mut self, bytes: usize) -> Option<()> {
        self.left = self.left.checked_sub(bytes.saturating_add(AROUND_BYTES))?;
        Some(())
    }

    fn text(&mut self, text: &str) -> Option<Json> {
        self.take(text.len())?;
        Some(Json::String(text.to_owned()))
    }

    fn value(&mut self, value: &Value<'_>) -> Option<Json> {
        self.take(0)?;
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return None;
        }
        let json = match value {
            Value::Null => json!({"nullValue": null}),
            Value::Bool(truth) => json!({"boolValue": truth}),
            Value::Int(number) => json!({"intValue": number.to_string()}),
            Value::Float(number) => json!({"floatValue": float(*number)}),
            Value::String(text) => json!({"stringValue": self.text(text)?}),
            Value::Bytes(bytes) => {
                self.take(bytes.len().saturating_mul(4) / 3)?;
                json!({"bytesValue": STANDARD.encode(&**bytes)})
            }
            Value::Timestamp(time) => json!({"timestampValue": utc(*time)}),
            Value::Duration(span) => json!({"durationValue": span.to_string()}),
            Value::LatLng(latitude, longitude) => {
                json!({"latlngValue": {"latitude": float(*latitude), "longitude": float(*longitude)}})
            }
            Value::Path(path) => json!({"pathValue": self.path(path)?}),
            Value::List(list) => json!({"listValue": self.values(list.iter())?}),
            Value::Set(items) => json!({"setValue": self.values(items.iter().cloned())?}),
            Value::Map(map) => json!({"mapValue": self.map(map)?}),
            Value::MapDiff(diff) => {
                let mut statuses = Members::new();
                for (key, status) in &diff.keys {
                    self.take(key.len())?;
                    let status = match status {
                        Status::Added => "ADDED",
                        Status::Removed => "REMOVED",
                        Status::Changed => "CHANGED",
                        Status::Unchanged => "UNCHANGED",
                    };
                    statuses.insert(key.to_string(), Json::from(status));
                }
                json!({"mapDiffValue": {"keyStatuses": statuses}})
            }
            Value::Vector(numbers) => {
                self.take(numbers.len().saturating_mul(AROUND_BYTES))?;
                let values = numbers.iter().map(|number| json!({"floatValue": float(*number)}));
                json!({"listValue": {"values": values.collect::<Vec<_>>()}})
            }
            Value::Constraint(constraint) => {
                let mut parts = Vec::new();
                for (comparison, value) in constraint.parts() {
                    let comparator = match comparison {
                        Comparison::Equal => "EQ",
                        Comparison::NotEqual => "NEQ",
                        Comparison::Less => "LT",
                        Comparison::LessOrEqual => "LTE",
                        Comparison::Greater => "GT",
                        Comparison::GreaterOrEqual => "GTE",
                        Comparison::Contains => "LIST_CONTAINS",
                    };
                    let value = self.value(&Value::stored(value))?;
                    parts.push(json!({"comparator": comparator, "value": value}));
                }
                json!({"constraintValue": {"simpleConstraints": parts}})
            }
        };
        self.depth -= 1;
        Some(json)
    }

    fn values<'e>(&mut self, items: impl Iterator<Item = Value<'e>>) -> Option<Json> {
        let mut values = Vec::new();
        for item in items {
            values.push(self.value(&item)?);
        }
        Some(if values.is_empty() { json!({}) } else { json!({ "values": values }) })
    }

    fn map(&mut self, map: &Map<'_>) -> Option<Json> {
        let mut fields = Members::new();
        for (name, value) in map.entries() {
            self.take(name.len())?;
            fields.insert(name.to_string(), self.value(&value)?);
        }
        Some(if fields.is_empty() { json!({}) } else { json!({ "fields": fields }) })
    }

    fn path(&mut self, path: &Path<'_>) -> Option<Json> {
        let mut segments = Vec::new();
        for segment in path.segments() {
            segments.push(match segment {
                Segment::Text(text) => json!({"simple": self.text(text)?}),
                Segment::Capture(name) => json!({"capture": {"variableName": self.text(name)?}}),
                Segment::Glob(name) => json!({"globCapture": {"variableName": self.text(name)?}}),
            });
        }
        Some(json!({ "segments": segments }))
    }
}

/// A double; those that are no numbers in JSON are text.
fn float(number: f64) -> Json {
    match number {
        number if number.is_finite() => Json::from(number),
        number if number.is_nan() => Json::from("NaN"),
        number if number > 0.0 => Json::from("Infinity"),
        _ => Json::from("-Infinity"),
    }
}

#[cfg(test)]
mod tests {
    use base_value::{Fields, Timestamp, Value as Stored};
    use engine_rules::Duration;

    use super::*;

    #[test]
    fn values_are_written_as_the_official_emulator_does() {
        fn check(value: Value<'_>, expected: Json) {
            assert_eq!(json(&value, 1_000), Some(expected), "{value}");
        }
        check(Value::Null, json!({"nullValue": null}));
        check(Value::Bool(true), json!({"boolValue": true}));
        check(Value::Int(-7), json!({"intValue": "-7"}));
        check(Value::Float(1.25), json!({"floatValue": 1.25}));
        check(Value::Float(f64::NAN), json!({"floatValue": "NaN"}));
        check(Value::Float(f64::NEG_INFINITY), json!({"floatValue": "-Infinity"}));
        check(Value::text("a"), json!({"stringValue": "a"}));
        check(Value::bytes([1, 2, 255]), json!({"bytesValue": "AQL/"}));
        let time = Timestamp { seconds: 1_700_000_000, nanos: 5_000_000 };
        check(Value::Timestamp(time), json!({"timestampValue": "2023-11-14T22:13:20.005Z"}));
        let span = Duration { seconds: -3, nanos: -500_000_000 };
        check(Value::Duration(span), json!({"durationValue": "-3.500s"}));
        check(Value::LatLng(1.0, 2.5), json!({"latlngValue": {"latitude": 1.0, "longitude": 2.5}}));
        check(Value::list(Vec::new()), json!({"listValue": {}}));
        check(
            Value::list(vec![Value::Int(1)]),
            json!({"listValue": {"values": [{"intValue": "1"}]}}),
        );
        check(Value::Path(Path::of(&["a"])), json!({"pathValue": {"segments": [{"simple": "a"}]}}));
        check(Value::Map(Map::Stored(&Fields::new())), json!({"mapValue": {}}));
        let fields: Fields = [("k".to_owned(), Stored::Boolean(false))].into_iter().collect();
        check(
            Value::Map(Map::Stored(&fields)),
            json!({"mapValue": {"fields": {"k": {"boolValue": false}}}}),
        );
    }

    #[test]
    fn what_is_too_long_or_too_deep_is_not_written() {
        assert_eq!(json(&Value::text("x".repeat(100)), 100), None);
        let mut nested = Value::Null;
        for _ in 0..100_000 {
            nested = Value::list(vec![nested]);
            if matches!(json(&nested, usize::MAX), None) {
                return;
            }
        }
        panic!("nesting has no end");
    }
}

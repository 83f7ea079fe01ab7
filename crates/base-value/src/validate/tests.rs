//! What can be stored, with the text of each refusal, and sizes by the formula.

use bytes::Bytes;

use super::*;
use crate::value::Timestamp;

fn name(path: &str) -> DocumentName {
    DocumentName::parse(&format!("projects/p/databases/(default)/documents/{path}")).unwrap()
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(fields(entries))
}

fn fields<const N: usize>(entries: [(&str, Value); N]) -> Fields {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn array<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

fn text(length: usize) -> Value {
    Value::String("x".repeat(length))
}

fn reference(path: &str) -> Value {
    Value::Reference(format!("projects/p/databases/(default)/documents/{path}"))
}

fn mark(mark: &str) -> Value {
    Value::String(mark.to_owned())
}

/// So many maps around a value.
fn nested(levels: usize, inner: Value) -> Value {
    (0..levels).fold(inner, |value, _| map([("a", value)]))
}

const ONE: Value = Value::Integer(1);
const NESTED: &str = "Property f contains an invalid nested entity.";

fn check(value: Value, message: &str) {
    check_all(fields([("f", value)]), message);
}

/// An empty message means that the fields are accepted.
fn check_all(fields: Fields, message: &str) {
    let answer = check_fields(&fields, &name("c/d"), LimitPolicy::Production)
        .err()
        .map(|error| error.to_string());
    assert_eq!(answer.unwrap_or_default(), message);
}

#[test]
fn names_of_fields() {
    check_all(fields([("____", ONE)]), "");
    check_all(fields([("a.b `c", ONE)]), "");
    check_all(fields([("", ONE)]), "The property.name is the empty string.");
    check_all(fields([("__x__", ONE)]), "field name __x__ is reserved");
    check_all(fields([("__name__", ONE)]), "field name __name__ is reserved");
    check_all(fields([("_____", ONE)]), "field name _____ is reserved");
    check_all(fields([(&"n".repeat(1_500), ONE)]), "");
    check_all(fields([(&"n".repeat(1_501), ONE)]), "The property.name is longer than 1500 bytes.");
    check(map([("", ONE)]), NESTED);
    check(map([("__x__", ONE)]), "field name '__x__' is reserved.");
    check(array([map([("g", map([("__id7__", ONE)]))])]), "field name '__id7__' is reserved.");
    check(map([(&"n".repeat(1_501), ONE)]), NESTED);
}

#[test]
fn lengths_of_values() {
    let too_long = "The value of property \"f\" is longer than 1048487 bytes.";
    check(text(1_048_487), "");
    check(text(1_048_488), too_long);
    check(Value::Bytes(Bytes::from(vec![0; 1_048_488])), too_long);
    check(array([text(1_048_488)]), too_long);
    check(map([("g", text(1_048_488))]), NESTED);
    check(array([map([("g", text(1_048_488))])]), NESTED);
}

#[test]
fn nesting() {
    check(nested(20, ONE), "");
    check(nested(21, ONE), NESTED);
    check(nested(20, array([])), "");
    check(nested(20, array([ONE])), NESTED);
    check(nested(19, array([ONE])), "");
    check(nested(20, map([])), NESTED);
    check(nested(20, Value::Vector(vec![1.0])), "");
    check(nested(21, Value::Vector(vec![1.0])), NESTED);
    let alternating = (0..10).fold(ONE, |value, _| array([map([("a", value)])]));
    check(alternating.clone(), "");
    check(map([("a", alternating)]), NESTED);
    check(array([array([])]), "Cannot convert an array value in an array value.");
    check(nested(25, array([array([])])), "Cannot convert an array value in an array value.");
    check(nested(25, map([("__x__", ONE)])), "field name '__x__' is reserved.");
}

#[test]
fn vectors() {
    let vector = |value: Value| map([("__type__", mark("__vector__")), ("value", value)]);
    check(Value::Vector(vec![1.0, f64::INFINITY]), "");
    check(Value::Vector(vec![0.0; 2_048]), "");
    check(Value::Vector(vec![]), "Cannot have a zero length vector.");
    check(Value::Vector(vec![f64::NAN; 2_049]), "Vectors must be at most 2048 dimensions.");
    check(Value::Vector(vec![f64::NAN]), "Vector cannot contain NaN values.");
    check(array([Value::Vector(vec![1.0])]), "Cannot convert a vector value in an array value.");
    check(vector(array([ONE])), "Vector must only contain values of type 'double'");
    check(array([vector(array([ONE]))]), "Vector must only contain values of type 'double'");
    check(vector(ONE), "Vector Value type must be an array.");
    check(map([("__type__", mark("__vector__"))]), "Vector map is missing key 'value'.");
    let extra =
        |value: Value| map([("__type__", mark("__vector__")), ("value", value), ("x", ONE)]);
    check(extra(array([ONE])), "Vector Value map has extraneous entries.");
    check(extra(ONE), "Vector Value type must be an array.");
    check(map([("__type__", ONE)]), "Field __type__ is not a string.");
    check(map([("__type__", mark("x"))]), NESTED);
    check(map([("__type__", mark("x")), ("__y__", ONE)]), NESTED);
    check(array([map([("g", map([("__type__", mark("x"))]))])]), NESTED);
    check_all(
        fields([("__type__", mark("__vector__")), ("value", array([Value::Double(1.0)]))]),
        "field name __type__ is reserved",
    );
}

#[test]
fn geo_points() {
    for (latitude, longitude, message) in [
        (90.0, -180.0, ""),
        (91.0, 0.0, "Geo point latitude '91.0' outside permitted range -90.0 to 90.0."),
        (0.0, -180.5, "Geo point longitude '-180.5' outside permitted range -180.0 to 180.0."),
        (f64::NAN, 0.0, "Geo point latitude 'NaN' outside permitted range -90.0 to 90.0."),
        (
            f64::INFINITY,
            0.0,
            "Geo point latitude 'Infinity' outside permitted range -90.0 to 90.0.",
        ),
        (1e10, 0.0, "Geo point latitude '1.0E10' outside permitted range -90.0 to 90.0."),
        (
            12_345_678.9,
            0.0,
            "Geo point latitude '1.23456789E7' outside permitted range -90.0 to 90.0.",
        ),
        (100.0, 200.0, "Geo point latitude '100.0' outside permitted range -90.0 to 90.0."),
    ] {
        check(Value::GeoPoint { latitude, longitude }, message);
        check(array([map([("g", Value::GeoPoint { latitude, longitude })])]), message);
    }
}

#[test]
fn references() {
    check(reference("c/d"), "");
    check(Value::Reference("projects/o/databases/x/documents/c/d".to_owned()), "");
    let collection = "Document parent name \"projects/p/databases/(default)/documents/c\" lacks \"/\" at index 42.";
    check(reference("c"), collection);
    check(map([("g", array([reference("c")]))]), collection);
    let long = format!("c/{}", "d".repeat(1_501));
    check(reference(&long), "The key path element name is longer than 1500 bytes.");
    check(array([reference(&long)]), "The key path element name is longer than 1500 bytes.");
    check(map([("g", reference(&long))]), NESTED);
}

#[test]
fn what_is_wrong_comes_before_what_is_too_long() {
    let wrong = Value::GeoPoint { latitude: 91.0, longitude: 0.0 };
    check_all(
        fields([("a", text(1_048_488)), ("b", wrong)]),
        "Geo point latitude '91.0' outside permitted range -90.0 to 90.0.",
    );
}

#[test]
fn a_single_value_is_checked_like_a_field() {
    assert_eq!(check_value("f", &array([ONE]), LimitPolicy::Production), Ok(()));
    assert_eq!(
        check_value("f", &array([array([])]), LimitPolicy::Production),
        Err(ValueError::ArrayInArray)
    );
    assert_eq!(
        check_value("f", &text(1_048_488), LimitPolicy::Production),
        Err(ValueError::ValueTooLong("f".to_owned()))
    );
}

#[test]
fn the_name_of_the_document_is_checked_too() {
    let long = name(&format!("c/{}", "d".repeat(1_501)));
    let error = check_fields(&Fields::new(), &long, LimitPolicy::Production).unwrap_err();
    assert_eq!(error.to_string(), "The key path element name is longer than 1500 bytes.");
}

#[test]
fn sizes_of_values() {
    let empty = document_size(&Fields::new(), &name("c/d"));
    assert_eq!(empty, 2 + 2 + 16 + 32);
    for (value, size) in [
        (Value::Null, 1),
        (Value::Boolean(true), 1),
        (Value::Integer(i64::MAX), 8),
        (Value::Double(0.0), 8),
        (Value::Timestamp(Timestamp::default()), 8),
        (Value::GeoPoint { latitude: 0.0, longitude: 0.0 }, 16),
        (text(0), 1),
        (text(3), 4),
        (Value::String("\u{e9}".to_owned()), 3),
        (Value::Bytes(Bytes::from_static(b"abc")), 3),
        (Value::Bytes(Bytes::new()), 0),
        (reference("c/d"), 20),
        (reference("cc/ddd/e/f"), 27),
        (reference("c/__id123456789__"), 26),
        (Value::Reference("projects/other/databases/abcdefgh/documents/c/d".to_owned()), 20),
        (array([]), 1),
        (array([ONE, ONE]), 16),
        (array([text(1), text(2)]), 5),
        (array([map([])]), 1),
        (Value::Vector(vec![1.0, 2.0]), 16),
        (map([]), 1),
        (map([("a", ONE)]), 10),
        (map([("a", map([]))]), 3),
        (map([("a", array([]))]), 3),
    ] {
        let context = format!("{value:?}");
        let fields = fields([("f", value)]);
        assert_eq!(
            check_fields(&fields, &name("c/d"), LimitPolicy::Production),
            Ok(empty + 2 + size),
            "{context}"
        );
    }
    assert_eq!(document_size(&Fields::new(), &name("c/__id123456789__")), empty + 6);
    assert_eq!(document_size(&Fields::new(), &name("cc/ddd/e/f")), empty + 7);
}

#[test]
fn a_document_may_be_one_mebibyte() {
    let document = |length: usize| fields([("p", text(500_000)), ("q", text(length - 500_000))]);
    assert_eq!(
        check_fields(&document(1_048_518), &name("c/d"), LimitPolicy::Production),
        Ok(1_048_576)
    );
    let error =
        check_fields(&document(1_048_519), &name("c/d"), LimitPolicy::Production).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Document 'projects/p/databases/(default)/documents/c/d' cannot be written because its size \
         (1,048,577 bytes) exceeds the maximum allowed size of 1,048,576 bytes."
    );
}

#[test]
fn normalizing_truncates_timestamps_everywhere() {
    let fine = || Value::Timestamp(Timestamp { seconds: -1, nanos: 123_456_789 });
    let coarse = || Value::Timestamp(Timestamp { seconds: -1, nanos: 123_456_000 });
    let mut given = fields([("a", fine()), ("b", array([map([("c", fine())])])), ("d", ONE)]);
    normalize(&mut given);
    assert_eq!(
        given,
        fields([("a", coarse()), ("b", array([map([("c", coarse())])])), ("d", ONE)])
    );
}

#[test]
fn commas_between_three_digits() {
    for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_077_976, "1,077,976")] {
        assert_eq!(thousands(number), text);
    }
}

#[test]
fn sizes_and_depths_are_free_where_limits_are_off() {
    let free = [
        fields([("f", text(3_000_000))]),
        fields([("f", nested(60, ONE))]),
        fields([("f", Value::Vector(vec![0.5; 5_000]))]),
    ];
    for fields in free {
        assert!(check_fields(&fields, &name("c/d"), LimitPolicy::Off).is_ok());
        assert!(check_fields(&fields, &name("c/d"), LimitPolicy::Production).is_err());
    }
    let bound = [
        fields([("__x__", ONE)]),
        fields([("f", array([array([])]))]),
        fields([(&"n".repeat(1_501), ONE)]),
        fields([("f", Value::Vector(Vec::new()))]),
    ];
    for fields in bound {
        assert!(check_fields(&fields, &name("c/d"), LimitPolicy::Off).is_err());
    }
}

//! prost-reflect is the oracle for what is read; what is refused, and in which words, stands here.

use super::*;
use crate::test_pool::pool;

fn all() -> MessageDescriptor {
    pool().get_message_by_name("library.v1.All").unwrap()
}

/// Our encoding says what the oracle reads.
fn check(json: &str) {
    let ours =
        decode(&all(), json.as_bytes(), "").unwrap_or_else(|error| panic!("{json}: {error}"));
    let ours = DynamicMessage::decode(all(), ours.as_slice()).unwrap();
    let mut reader = serde_json::Deserializer::from_str(json);
    let oracle = DynamicMessage::deserialize(all(), &mut reader).unwrap();
    let text = |message: &DynamicMessage| serde_json::to_value(message).unwrap();
    assert_eq!(text(&ours), text(&oracle), "{json}");
}

#[test]
fn reads_what_the_oracle_reads() {
    let table = [
        "{}",
        r#"{"double":1.5,"float":0.5,"int32":-1,"int64":"-9223372036854775808","uint32":4294967295,"uint64":"18446744073709551615"}"#,
        r#"{"sint32":-2147483648,"sint64":"-9223372036854775808","fixed32":7,"fixed64":"8","sfixed32":-7,"sfixed64":"-8"}"#,
        r#"{"int64":5,"uint64":18446744073709551615,"int32":"7","double":"1.5"}"#,
        r#"{"double":1e3,"int64":1e3,"int32":2.0}"#,
        r#"{"bool":true,"string":"a\"\\\n\u0000\u00fc\ud83d\ude00/","bytes":"AAEC/w==","order":"UP"}"#,
        r#"{"bytes":"__8"}"#,
        r#"{"order":77,"orders":["UP","DOWN",5,"ORDER_UNSPECIFIED"]}"#,
        r#"{"double":"NaN","float":"-Infinity","doubles":[1,"Infinity",-0.0,1e300,5e-324,123456789.125]}"#,
        r#"{"numbers":[0,-1,2147483647],"strings":["","a"],"zigzags":["-1","1"],"fixed":[0,4294967295]}"#,
        r#"{"child":{"child":{"child":{}}},"children":[{},{"int32":1},{"children":[{}]}]}"#,
        r#"{"byName":{"":"0","b":"2","a":"1"},"byNumber":{"-5":{},"7":{"int32":7}},"byBool":{"true":"t","false":""},"byLong":{"-1":"AA=="}}"#,
        r#"{"by_name":{"a":"1"},"any_value":null}"#,
        r#"{"yes":false}"#,
        r#"{"count":"0"}"#,
        r#"{"nothing":null}"#,
        r#"{"text":null,"child":null,"children":null,"byName":null,"at":null,"wrapped":null,"perhaps":null}"#,
        r#"{"ratio":-0.0}"#,
        r#"{"mask":{}}"#,
        r#"{"perhaps":0}"#,
        r#"{"at":"2020-02-29T12:30:45Z","lasts":"-1.5s","fields":"a.b,c","wrapped":"5","empty":{}}"#,
        r#"{"times":["0001-01-01T00:00:00Z","9999-12-31T23:59:59.999999999Z","1969-12-31T23:59:59.100Z","2020-01-01T00:00:00.000001Z"]}"#,
        r#"{"struct":{"a":[1,null,"x",{"b":true}],"c":{}},"anyValue":[1,{}]}"#,
        r#"{"any":{"@type":"type.googleapis.com/library.v1.Book","name":"n"}}"#,
    ];
    for json in table {
        check(json);
    }
}

fn check_error(json: &str, expected: &str) {
    assert_eq!(decode(&all(), json.as_bytes(), "").unwrap_err(), expected, "{json}");
}

#[test]
fn names_and_numbers_that_do_not_fit_are_told_in_googles_words() {
    let table = [
        ("[]", place::ROOT),
        ("null", place::ROOT),
        ("\"x\"", place::ROOT),
        (r#"{"x":1}"#, "Invalid JSON payload received. Unknown name \"x\": Cannot find field."),
        (
            r#"{"children":[{},{"it's":1}]}"#,
            "Invalid JSON payload received. Unknown name \"it's\" at 'children[1]': Cannot find field.",
        ),
        (
            r#"{"int64":"9223372036854775808"}"#,
            "Invalid value at 'int64_' (TYPE_INT64), \"9223372036854775808\"",
        ),
        (
            r#"{"int64":"-9223372036854775809"}"#,
            "Invalid value at 'int64_' (TYPE_INT64), \"-9223372036854775809\"",
        ),
        (
            r#"{"int64":-9223372036854775809}"#,
            "Invalid value at 'int64_' (TYPE_INT64), -9.223372036854776e+18",
        ),
        (r#"{"int64":"+1"}"#, "Invalid value at 'int64_' (TYPE_INT64), \"+1\""),
        (r#"{"int64":" 1"}"#, "Invalid value at 'int64_' (TYPE_INT64), \" 1\""),
        (r#"{"int64":""}"#, "Invalid value at 'int64_' (TYPE_INT64), \"\""),
        (r#"{"int32":1.5}"#, "Invalid value at 'int32_' (TYPE_INT32), 1.5"),
        (r#"{"int32":"2.0"}"#, "Invalid value at 'int32_' (TYPE_INT32), \"2.0\""),
        (r#"{"int32":true}"#, "Invalid value at 'int32_' (TYPE_INT32), true"),
        (
            r#"{"int32":{}}"#,
            "Invalid value at 'int32_' (TYPE_INT32), Starting an object on a scalar field",
        ),
        (
            r#"{"child":{"int32":[1]}}"#,
            "Invalid JSON payload received. Unknown name \"int32_\" at 'child': Proto field is not repeating, cannot start list.",
        ),
        (r#"{"uint32":-1}"#, "Invalid value at 'uint32_' (TYPE_UINT32), -1"),
        (r#"{"double":"1e400"}"#, "Invalid value at 'double_' (TYPE_DOUBLE), \"1e400\""),
        (r#"{"double":"inf"}"#, "Invalid value at 'double_' (TYPE_DOUBLE), \"inf\""),
        (r#"{"double":1e400}"#, "Invalid value at 'double_', the number is out of range"),
        (r#"{"float":1e300}"#, "Invalid value at 'float_' (TYPE_FLOAT), 1e+300"),
    ];
    for (json, expected) in table {
        check_error(json, expected);
    }
}

#[test]
fn what_is_of_another_kind_is_told_in_googles_words() {
    let table = [
        (r#"{"string":5}"#, "Invalid value at 'string_' (TYPE_STRING), 5"),
        (r#"{"bool":1}"#, "Invalid value at 'bool_' (TYPE_BOOL), 1"),
        (r#"{"bool":"yes"}"#, "Invalid value at 'bool_' (TYPE_BOOL), \"yes\""),
        (
            r#"{"bytes":"!"}"#,
            "Invalid value at 'bytes_' (TYPE_BYTES), Base64 decoding failed for \"!\"",
        ),
        (
            r#"{"order":"SIDEWAYS"}"#,
            "Invalid value at 'order' (type.googleapis.com/library.v1.Order), \"SIDEWAYS\"",
        ),
        (
            r#"{"yes":true,"count":1}"#,
            "Invalid value (oneof), oneof field 'choice' is already set. Cannot set 'count'",
        ),
        (
            r#"{"text":"a","text":"b"}"#,
            "Invalid value (oneof), oneof field 'choice' is already set. Cannot set 'text'",
        ),
        (
            r#"{"child":"x"}"#,
            "Invalid value at 'child' (type.googleapis.com/library.v1.All), \"x\"",
        ),
        (
            r#"{"children":"x"}"#,
            "Invalid value at 'children' (type.googleapis.com/library.v1.All), \"x\"",
        ),
        (
            r#"{"children":[null]}"#,
            "Invalid value at 'children[0]' (type.googleapis.com/library.v1.All), null",
        ),
        (r#"{"byNumber":{"x":{}}}"#, "Invalid value at 'by_number[0]' (TYPE_INT32), \"x\""),
        (
            r#"{"byNumber":{"1":{},"2":{"int32":"x"}}}"#,
            "Invalid value at 'by_number[1].value.int32_' (TYPE_INT32), \"x\"",
        ),
        (r#"{"wrapped":"x"}"#, "Invalid value at 'wrapped.value' (TYPE_INT64), \"x\""),
        (
            r#"{"at":"yesterday"}"#,
            "Invalid value at 'at' (type.googleapis.com/google.protobuf.Timestamp), Field 'at', Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone offset.",
        ),
        (
            r#"{"at":"10000-01-01T00:00:00Z"}"#,
            "Invalid value at 'at' (type.googleapis.com/google.protobuf.Timestamp), Field 'at', Timestamp value exceeds limits",
        ),
        ("{", "Invalid JSON payload received. Unexpected end of string. Expected a value.\n\n^"),
        (
            "{} x",
            "Invalid JSON payload received. Unexpected token (trailing characters at line 1 column 4).\n{} x\n   ^",
        ),
    ];
    for (json, expected) in table {
        check_error(json, expected);
    }
}

#[test]
fn names_are_read_in_any_case_and_wrappers_as_objects() {
    let read = |json: &str| {
        let bytes = decode(&all(), json.as_bytes(), "").unwrap();
        let message = DynamicMessage::decode(all(), bytes.as_slice()).unwrap();
        serde_json::to_string(&message).unwrap()
    };
    assert_eq!(read(r#"{"order":"up","bool":"true"}"#), read(r#"{"order":"UP","bool":true}"#));
    assert_eq!(read(r#"{"wrapped":{"value":"5"}}"#), read(r#"{"wrapped":5}"#));
    assert_eq!(read(r#"{"order":"1"}"#), read(r#"{"order":"UP"}"#));
    assert_eq!(read(r#"{"order":"order-unspecified"}"#), read(r#"{"order":0}"#));
    assert_eq!(read(r#"{"int32":null,"int32":6,"int32":7}"#), read(r#"{"int32":7}"#));
}

#[test]
fn long_texts_are_not_repeated() {
    let long = "x".repeat(10_000);
    for json in [format!(r#"{{"{long}":1}}"#), format!(r#"{{"int32":"{long}"}}"#), long.clone()] {
        let error = decode(&all(), json.as_bytes(), "").unwrap_err();
        assert!(error.len() < 1_000, "{error}");
    }
    let deep = format!("{}1{}", r#"{"child":"#.repeat(1_000), "}".repeat(1_000));
    let error = decode(&all(), deep.as_bytes(), "").unwrap_err();
    assert!(error.starts_with("Invalid JSON payload received. Message too deep."), "{error}");
}

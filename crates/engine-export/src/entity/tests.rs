//! Documents as messages: each kind of value with its bytes, what other writers do, and what is refused.

use base_value::{DatabaseName, DocumentPath, Fields, Timestamp, Value};

use super::*;
use crate::documents::Document;
use crate::error::{FormatError, Unwritable};
use crate::limits::{DEPTH_MAX, RECORD_MAX_BYTES};
use crate::wire::push_varint;

/// Bytes as hexadecimal digits, with texts in quotes, and parentheses around what has its length in front.
fn bytes(text: &str) -> Vec<u8> {
    let mut open = vec![Vec::new()];
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        let out = open.last_mut().unwrap();
        match char {
            '(' => open.push(Vec::new()),
            ')' => {
                let content = open.pop().unwrap();
                let out = open.last_mut().unwrap();
                push_varint(out, content.len() as u64);
                out.extend_from_slice(&content);
            }
            '\'' => out.extend(chars.by_ref().take_while(|char| *char != '\'').map(|c| c as u8)),
            ' ' => {}
            high => {
                let digits = [high, chars.next().unwrap()];
                let [high, low] = digits.map(|digit| digit.to_digit(16).unwrap() as u8);
                out.push(high << 4 | low);
            }
        }
    }
    open.pop().unwrap()
}

fn encoded_in(database: &DatabaseName, path: &str, fields: &Fields) -> Result<Vec<u8>, Unwritable> {
    let mut record = Vec::new();
    let path = DocumentPath::parse(path).unwrap();
    Encoder::new(database).encode(&path, fields, &mut record)?;
    Ok(record)
}

fn encoded(fields: &Fields) -> Result<Vec<u8>, Unwritable> {
    encoded_in(&DatabaseName::new("p", "(default)"), "a/b", fields)
}

fn decoded(record: &[u8]) -> Result<Document, FormatError> {
    decode(record, &mut Databases::default()).map_err(|error| error.fault.reason)
}

/// The record of the document `a/b` with properties in between.
fn record(properties: &str) -> Vec<u8> {
    let key = "6a(6a('dev~p') 72(0b 12('a') 22('b') 0c))";
    bytes(&format!("{key} {properties} 8201(0b 12('a') 22('b') 0c)"))
}

fn one(value: Value) -> Fields {
    Fields::from([("f".to_owned(), value)])
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn reference(database: &str, path: &str) -> Value {
    Value::Reference(format!("projects/p/databases/{database}/documents/{path}"))
}

/// A whole record, byte by byte.
#[test]
fn a_document_has_known_bytes() {
    let fields = Fields::from([("test".to_owned(), text("test"))]);
    let expected = bytes(
        "6a1e 6a0b'dev~default' 720f 0b 1205'hello' 2204'test' 0c \
         7a10 1a04'test' 2000 2a06 1a04'test' \
         82010f 0b 1205'hello' 2204'test' 0c",
    );
    assert_eq!(expected.len(), 68);
    let database = DatabaseName::new("default", "(default)");
    assert_eq!(encoded_in(&database, "hello/test", &fields).unwrap(), expected);
}

/// Each kind of value as the field `f`: its bytes are these, and they are read as it.
#[test]
fn each_kind_of_value_has_known_bytes() {
    let timestamp = |seconds, nanos| Value::Timestamp(Timestamp { seconds, nanos });
    let table = [
        (Value::Null, "7a(1a('f') 2000 2a())"),
        (Value::Boolean(true), "7a(1a('f') 2000 2a(1001))"),
        (Value::Boolean(false), "7a(1a('f') 2000 2a(1000))"),
        (Value::Integer(10), "7a(1a('f') 2000 2a(080a))"),
        (Value::Integer(-1), "7a(1a('f') 2000 2a(08ffffffffffffffffff01))"),
        (Value::Double(1.5), "7a(1a('f') 2000 2a(21000000000000f83f))"),
        (Value::Double(-0.0), "7a(1a('f') 2000 2a(210000000000000080))"),
        (Value::Double(f64::NAN), "7a(1a('f') 2000 2a(21000000000000f87f))"),
        (timestamp(0, 7_000), "7a(0807 1a('f') 2000 2a(0807))"),
        (timestamp(-1, 999_999_000), "7a(0807 1a('f') 2000 2a(08ffffffffffffffffff01))"),
        (text("abc"), "7a(1a('f') 2000 2a(1a('abc')))"),
        (text(""), "7a(1a('f') 2000 2a(1a()))"),
        (Value::Bytes(vec![0, 0xFF].into()), "7a(080e 1a('f') 2000 2a(1a(00ff)))"),
        (
            Value::GeoPoint { latitude: 1.5, longitude: -2.0 },
            "7a(0809 1a('f') 2000 2a(2b 31000000000000f83f 3900000000000000c0 2c))",
        ),
        (
            reference("(default)", "a/b"),
            "7a(1a('f') 2000 2a(63 6a('dev~p') 73 7a('a') 8a01('b') 74 64))",
        ),
        (
            reference("db2", "a/__id9__/c/__id-7__"),
            "7a(1a('f') 2000 2a(63 6a('dev~p') 73 7a('a') 800109 74 \
             73 7a('c') 8001f9ffffffffffffffff01 74 ba01('db2') 64))",
        ),
        (Value::Map(Fields::new()), "7a(0813 1a('f') 2000 2a(1a(6a(6a()72()) 8201())))"),
        (
            Value::Map(one(Value::Null)),
            "7a(0813 1a('f') 2000 2a(1a(6a(6a()72()) 7a(1a('f') 2000 2a()) 8201())))",
        ),
        (Value::Array(Vec::new()), "72(0818 1a('f') 2000 2a())"),
        (Value::Array(vec![Value::Null]), "7a(1a('f') 2001 2a())"),
        (
            Value::Array(vec![Value::Integer(1), Value::Map(Fields::new())]),
            "7a(1a('f') 2001 2a(0801)) 7a(0813 1a('f') 2001 2a(1a(6a(6a()72()) 8201())))",
        ),
        (
            Value::Vector(vec![1.0, f64::INFINITY]),
            "7a(081f 1a('f') 2001 2a(21000000000000f03f)) \
             7a(081f 1a('f') 2001 2a(21000000000000f07f))",
        ),
    ];
    for (value, properties) in table {
        let fields = one(value);
        assert_eq!(encoded(&fields).unwrap(), record(properties), "{fields:?}");
        assert_eq!(decoded(&record(properties)).unwrap().fields, fields);
    }
}

#[test]
fn properties_are_sorted_behind_the_empty_arrays() {
    let fields = ["b", "", "\u{e9}", "a.`b"].map(|name| (name.to_owned(), Value::Null));
    let mut fields = Fields::from(fields);
    fields.insert("c".to_owned(), Value::Array(Vec::new()));
    let expected = "72(0818 1a('c') 2000 2a()) 7a(1a() 2000 2a()) 7a(1a('a.`b') 2000 2a()) \
                    7a(1a('b') 2000 2a()) 7a(1a(c3a9) 2000 2a())";
    assert_eq!(encoded(&fields).unwrap(), record(expected));
    assert_eq!(decoded(&record(expected)).unwrap().fields, fields);
}

#[test]
fn names_have_known_bytes() {
    let table = [
        (
            "(default)",
            "a/b/c/d",
            "6a(6a('dev~p') 72(0b 12('a') 22('b') 0c 0b 12('c') 22('d') 0c)) \
             8201(0b 12('a') 22('b') 0c)",
        ),
        (
            "db2",
            "a/__id7__",
            "6a(6a('dev~p') 72(0b 12('a') 1807 0c) ba01('db2')) 8201(0b 12('a') 1807 0c)",
        ),
        (
            "(default)",
            "a/__id-7__",
            "6a(6a('dev~p') 72(0b 12('a') 18f9ffffffffffffffff01 0c)) \
             8201(0b 12('a') 18f9ffffffffffffffff01 0c)",
        ),
        (
            "(default)",
            "a/~ ",
            "6a(6a('dev~p') 72(0b 12('a') 22('~ ') 0c)) 8201(0b 12('a') 22('~ ') 0c)",
        ),
    ];
    for (database, path, expected) in table {
        let database = DatabaseName::new("p", database);
        let record = encoded_in(&database, path, &Fields::new()).unwrap();
        assert_eq!(record, bytes(expected), "{path}");
        let name = database.document(DocumentPath::parse(path).unwrap());
        assert_eq!(decoded(&record).unwrap().name, name);
    }
}

/// The mark in front of the project, where the database says that it is the default one, and unknown fields.
#[test]
fn names_of_other_writers_are_read() {
    let table = [
        ("6a('e~p')", "p"),
        ("6a('s~p-1')", "p-1"),
        ("6a('p')", "p"),
        ("6a('dev~example.com:p')", "example.com:p"),
        ("6a('dev~p') ba01('(default)') a201() 4005", "p"),
    ];
    for (reference, project) in table {
        let record = bytes(&format!("6a({reference} 72(0b 12('a') 22('b') 0c)) 2007 2a('x')"));
        let name = DatabaseName::new(project, "(default)");
        let name = name.document(DocumentPath::parse("a/b").unwrap());
        assert_eq!(decoded(&record).unwrap().name, name, "{reference}");
    }
}

/// What other writers of the format do, and Datastore.
#[test]
fn values_of_other_writers_are_read() {
    let component = "21000000000000f03f";
    let vector = Value::Vector(vec![1.0, 1.0]);
    let listed = format!(
        "7a(1a('__vector__') 2001 2a({component})) 7a(1a('__vector__') 2001 2a({component}))"
    );
    let mapped = format!(
        "7a(1a('__type__') 2000 2a(1a('__vector__'))) \
         7a(1a('value') 2001 2a({component})) 7a(1a('value') 2001 2a({component}))"
    );
    let mixed = format!("7a(1a('__vector__') 2001 2a({component})) 7a(1a('a') 2000 2a())");
    let array = Value::Array(vec![Value::Double(1.0)]);
    let map = Fields::from([(VECTOR_MARK.to_owned(), array), ("a".to_owned(), Value::Null)]);
    let table = [
        (format!("7a(0813 1a('f') 2000 2a(1a(6a(6a()72()) {listed} 8201())))"), vector.clone()),
        (format!("7a(0813 1a('f') 2000 2a(1a({mapped})))"), vector.clone()),
        (format!("7a(0813 1a('f') 2001 2a(1a({listed})))"), Value::Array(vec![vector])),
        (format!("7a(0813 1a('f') 2000 2a(1a({mixed})))"), Value::Map(map)),
        // Indexed properties, and an empty array that is none.
        ("72(1a('f') 2000 2a())".to_owned(), Value::Null),
        ("7a(0818 1a('f') 2000 2a())".to_owned(), Value::Array(Vec::new())),
        ("72(0818 1a('f') 2001 2a())".to_owned(), Value::Array(Vec::new())),
        // One array's elements apart from each other, some of them indexed.
        (
            "72(1a('f') 2001 2a(0801)) 7a(1a('f') 2001 2a(0802))".to_owned(),
            Value::Array(vec![Value::Integer(1), Value::Integer(2)]),
        ),
        // Meanings of Datastore: a long text, short bytes, a link, and an unknown one over bytes.
        ("7a(080f 1a('f') 2000 2a(1a('a')))".to_owned(), text("a")),
        ("7a(0810 1a('f') 2000 2a(1a('a')))".to_owned(), Value::Bytes(vec![0x61].into())),
        ("7a(0802 1a('f') 2000 2a(1a('a')))".to_owned(), text("a")),
        ("7a(0863 1a('f') 2000 2a(1a(ff)))".to_owned(), Value::Bytes(vec![0xFF].into())),
        // A point without its meaning, and a number whose meaning changes nothing.
        (
            "7a(1a('f') 2000 2a(2b 310000000000000000 390000000000000080 2c))".to_owned(),
            Value::GeoPoint { latitude: 0.0, longitude: -0.0 },
        ),
        ("7a(080d 1a('f') 2000 2a(0805))".to_owned(), Value::Integer(5)),
        // Unknown fields beside known ones, `multiple` left out, another order.
        ("7a(2a(080a 4001) 7a('x') 1a('f'))".to_owned(), Value::Integer(10)),
    ];
    for (properties, expected) in table {
        let read = decoded(&record(&properties)).map(|document| document.fields);
        assert_eq!(read, Ok(one(expected)), "{properties}");
    }
}

#[test]
fn what_cannot_be_read_is_told() {
    let field = || "f".to_owned();
    let unknown = |number| FormatError::UnknownValue { field: field(), number };
    let table = [
        ("7a(1a('f') 2000)", FormatError::Malformed("a property without name or value")),
        ("7a(2a())", FormatError::Malformed("a property without name or value")),
        ("7801", FormatError::Malformed("a field of another type")),
        ("7a(1803 2a())", FormatError::Malformed("a field of another type")),
        ("7a(1a('f') 2a(0a()))", FormatError::Malformed("a field of another type")),
        ("7a(1a('f') 2a(2a()))", FormatError::Malformed("a field of another type")),
        ("7a(1a(ff) 2a())", FormatError::Utf8),
        ("7a(1a('f') 2a(1a(ff)))", FormatError::Utf8),
        ("7a(1a('f') 2a(43 44))", unknown(8)),
        ("7a(1a('f') 2a(3801))", unknown(7)),
        ("7a(0807 1a('f') 2a(08ffffffffffffffff7f))", FormatError::Timestamp(field())),
        ("7a(081f 1a('f') 2001 2a(0801))", FormatError::VectorComponent(field())),
        ("7a(1a('f') 2a()) 7a(1a('f') 2a())", FormatError::Duplicate(field())),
        ("7a(1a('f') 2a()) 7a(1a('f') 2001 2a())", FormatError::Duplicate(field())),
        ("7a(1a('f') 2001 2a()) 7a(1a('f') 2000 2a())", FormatError::Duplicate(field())),
        (
            "7a(1a('f') 2a()) 7a(081f 1a('f') 2001 2a(210000000000000000))",
            FormatError::Duplicate(field()),
        ),
        (
            "7a(1a('f') 2a(2b 310000000000000000 2c))",
            FormatError::Malformed("a point without one of its coordinates"),
        ),
        ("7a(1a('f') 2a(63 6a('dev~p') 64))", FormatError::IncompleteKey),
        ("7a(1a('f') 2a(63 73 7a('a') 8a01('b') 74 64))", FormatError::NoProject),
        ("7a(1a('f') 2a(63 6a('dev~p') 73 7a('a') 74 64))", FormatError::IncompleteKey),
        ("7a(0813 1a('f') 2a(1a(08)))", FormatError::Malformed("an end inside of a field")),
    ];
    for (properties, reason) in table {
        assert_eq!(decoded(&record(properties)), Err(reason), "{properties}");
    }
}

#[test]
fn names_that_no_document_has_are_told() {
    let table = [
        ("6a('dev~p')", "the key is incomplete"),
        ("6a('dev~p') 72()", "the key is incomplete"),
        ("6a('dev~p') 72(0b 12('a') 0c)", "the key is incomplete"),
        ("6a('dev~p') 72(0b 12('a') 1800 0c)", "the key is incomplete"),
        ("6a('dev~p') 72(0b 22('b') 0c)", "the key is incomplete"),
        ("6a('dev~') 72(0b 12('a') 22('b') 0c)", "the name has no project"),
        (
            "6a('dev~p') a201('n') 72(0b 12('a') 22('b') 0c)",
            "the name is in the Datastore namespace `n`, and Firestore has none",
        ),
        (
            "6a('dev~p') 72(0b 12('__a__') 22('b') 0c)",
            "Collection id \"__a__\" is invalid because it is reserved.",
        ),
        (
            "6a('dev~p') 72(0b 12('a') 22('b/c') 0c)",
            "Resource id \"b/c\" is invalid because it contains \"/\".",
        ),
        ("6a('dev~p') 72(0b 12('a') 22() 0c)", "Resource id \"\" is invalid because it is empty."),
        ("6a('dev~p') 72(0b 12('a') 22(ff) 0c)", "a text is not UTF-8"),
        ("6a('dev~p') 7001", "not a message of the format: a field of another type"),
    ];
    for (key, reason) in table {
        let error = decoded(&bytes(&format!("6a({key})"))).unwrap_err();
        assert_eq!(error.to_string(), reason, "{key}");
    }
    assert_eq!(decoded(b""), Err(FormatError::NoKey));
}

/// The fault names the byte and, once that is read, the document.
#[test]
fn faults_have_a_place() {
    let broken = record("7a(1a('f') 2000 2a(1a(ff)))");
    let error = decode(&broken, &mut Databases::default()).unwrap_err();
    assert_eq!(error.document.as_deref(), Some("a/b"));
    assert_eq!(broken.get(error.fault.at), Some(&0xFF));
    let nested = record("7a(0813 1a('f') 2000 2a(1a(7a(1a('g') 2000 2a(1a(fe))))))");
    let error = decode(&nested, &mut Databases::default()).unwrap_err();
    assert_eq!(nested.get(error.fault.at), Some(&0xFE));
}

#[test]
fn what_cannot_be_written_is_told() {
    let field = || "f".to_owned();
    let table = [
        (Value::Array(vec![Value::Array(Vec::new())]), Unwritable::ArrayInArray(field())),
        (Value::Array(vec![Value::Vector(vec![1.0])]), Unwritable::ArrayInArray(field())),
        (Value::Map(one(Value::Vector(Vec::new()))), Unwritable::VectorEmpty(field())),
        (nested_maps(DEPTH_MAX + 1), Unwritable::TooDeep),
        (Value::String("x".repeat(RECORD_MAX_BYTES)), Unwritable::TooLong),
    ];
    for (value, reason) in table {
        assert_eq!(encoded(&one(value)), Err(reason));
    }
    let error = encoded(&one(Value::Reference("x".to_owned())));
    assert_eq!(
        error.unwrap_err().to_string(),
        "field `f`: Document parent name \"x\" lacks \"projects\" at index 0."
    );
}

fn nested_maps(levels: usize) -> Value {
    (0..levels).fold(Value::Null, |value, _| Value::Map(one(value)))
}

/// As deep as may be is written and read, and what is written can be read by the protocol's own decoder.
#[test]
fn depth_is_bounded_alike_in_both_directions() {
    let deepest = one(nested_maps(DEPTH_MAX));
    let record = encoded(&deepest).unwrap();
    let fields = decoded(&record).unwrap().fields;
    assert_eq!(fields, deepest);
    let stored = base_value::codec::encode_fields(&fields);
    assert_eq!(base_value::codec::decode_fields(&stored), Ok(fields));

    let levels = DEPTH_MAX + 1;
    let open = "7a(0813 1a('f') 2000 2a(1a(".repeat(levels);
    let message = self::record(&format!("{open}7a(1a('f') 2a()){}", ")))".repeat(levels)));
    assert_eq!(decoded(&message), Err(FormatError::TooDeep));
}

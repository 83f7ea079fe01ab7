//! prost-reflect is the oracle; what it does otherwise (the order of maps, the layout) is checked by hand.

use prost::Message;
use prost_reflect::DynamicMessage;

use super::*;
use crate::test_pool::pool;

fn all() -> MessageDescriptor {
    pool().get_message_by_name("library.v1.All").unwrap()
}

fn encode(json: &str) -> Vec<u8> {
    let mut json = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(all(), &mut json).unwrap().encode_to_vec()
}

/// Our JSON, in both layouts, is the oracle's JSON.
fn check(json: &str) {
    let bytes = encode(json);
    let oracle = DynamicMessage::decode(all(), bytes.as_slice()).unwrap();
    let oracle = serde_json::to_value(&oracle).unwrap();
    for style in [Style::Compact, Style::Pretty] {
        let ours = write(&all(), &bytes, style).unwrap();
        let ours: Json = serde_json::from_slice(&ours).unwrap();
        assert_eq!(ours, oracle, "{json}");
    }
}

#[test]
fn agrees_with_the_oracle() {
    let table = [
        "{}",
        r#"{"double":1.5,"float":0.5,"int32":-1,"int64":"-9223372036854775808","uint32":4294967295,"uint64":"18446744073709551615"}"#,
        r#"{"sint32":-2147483648,"sint64":"-9223372036854775808","fixed32":7,"fixed64":"8","sfixed32":-7,"sfixed64":"-8"}"#,
        r#"{"bool":true,"string":"a\"\\\n\u0000\u00fc\ud83d\ude00/","bytes":"AAEC/w==","order":"UP"}"#,
        r#"{"order":77,"orders":["UP","DOWN",5,"ORDER_UNSPECIFIED"]}"#,
        r#"{"double":"NaN","float":"-Infinity","doubles":[1,"Infinity",-0.0,1e300,5e-324,123456789.125]}"#,
        r#"{"numbers":[0,-1,2147483647],"strings":["","a"],"zigzags":["-1","1"],"fixed":[0,4294967295]}"#,
        r#"{"child":{"child":{"child":{}}},"children":[{},{"int32":1},{"children":[{}]}]}"#,
        r#"{"byName":{"":"0","b":"2","a":"1"},"byNumber":{"-5":{},"7":{"int32":7}},"byBool":{"true":"t","false":""},"byLong":{"-1":"AA=="}}"#,
        r#"{"yes":false}"#,
        r#"{"count":"0"}"#,
        r#"{"nothing":null}"#,
        r#"{"text":""}"#,
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

#[test]
fn map_entries_keep_their_order() {
    let entry = |key: &str| encode(&format!(r#"{{"byName":{{"{key}":"1"}}}}"#));
    let bytes = [entry("b"), entry("a"), entry("c")].concat();
    let json = write(&all(), &bytes, Style::Compact).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), r#"{"byName":{"b":"1","a":"1","c":"1"}}"#);
}

#[test]
fn split_messages_are_merged_and_unknown_fields_left_out() {
    let parts = [
        encode(r#"{"child":{"int32":1,"string":"x"}}"#),
        encode(r#"{"child":{"int32":2}}"#),
        // Field 1000, varint.
        vec![0xc0, 0x3e, 0x01],
    ];
    let json = write(&all(), &parts.concat(), Style::Compact).unwrap();
    let json = String::from_utf8(json).unwrap();
    assert_eq!(json, r#"{"child":{"int32":2,"string":"x"}}"#);
}

#[test]
fn the_pretty_layout() {
    let bytes =
        encode(r#"{"child":{},"numbers":[1,2],"children":[{"text":"a"},{}],"byName":{"k":"1"}}"#);
    let expected = r#"{
  "child": {
  },
  "numbers": [1, 2],
  "children": [{
    "text": "a"
  }, {
  }],
  "byName": {
    "k": "1"
  }
}"#;
    let json = write(&all(), &bytes, Style::Pretty).unwrap();
    assert_eq!(String::from_utf8(json).unwrap(), expected);
    assert_eq!(write(&all(), &[], Style::Pretty).unwrap(), b"{\n}");
    assert_eq!(write(&all(), &[], Style::Compact).unwrap(), b"{}");
}

#[test]
fn malformed_bytes_are_errors() {
    let table: &[(&str, &[u8])] = &[
        ("a length past the end", &[0x72, 0x05, b'x']),
        ("a length past everything", &[0x72, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        ("half a double", &[0x09, 0, 0]),
        ("half a float", &[0x15, 0]),
        ("a varint without end", &[0x18, 0xff, 0xff]),
        (
            "a varint too long",
            &[0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ),
        ("a group", &[0x1b]),
        ("text that is not UTF-8", &[0x72, 0x01, 0xff]),
        ("a string as a number", &[0x70, 0x01]),
        ("a message as a number", &[0x88, 0x01, 0x01]),
        ("a map as a number", &[0xc8, 0x01, 0x01]),
        ("a broken timestamp", &[0x9a, 0x02, 0x02, 0x08, 0xff]),
        ("half a packed number", &[0x92, 0x01, 0x01, 0xff]),
    ];
    for (what, bytes) in table {
        assert!(write(&all(), bytes, Style::Compact).is_err(), "{what}");
    }
}

#[test]
fn nesting_is_bounded() {
    // child = field 17, length-delimited.
    let mut bytes: Vec<u8> = Vec::new();
    for _ in 0..limits::JSON_DEPTH_MAX + 1 {
        let mut outer = vec![0x8a, 0x01];
        prost::encoding::varint::encode_varint(bytes.len() as u64, &mut outer);
        outer.extend(&bytes);
        bytes = outer;
    }
    assert!(write(&all(), &bytes, Style::Pretty).is_err());
}

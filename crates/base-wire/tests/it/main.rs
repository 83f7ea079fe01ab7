//! What base-wire promises: the spliced messages and the patched one are wire-equal to Google's descriptors.

use base_wire::google::firestore::v1::{
    BatchGetDocumentsResponse, CommitRequest, GetDocumentRequest, batch_get_documents_response,
    get_document_request, write,
};
use base_wire::{WireDocument, WireDocumentChange, WireValue, descriptor_pool};
use bytes::Bytes;
use prost::Message;
use prost_reflect::{DynamicMessage, Kind, Value};
use prost_types::Timestamp;

fn dynamic(name: &str, json: &str) -> DynamicMessage {
    let descriptor = descriptor_pool().get_message_by_name(name).expect("a known message");
    let mut json = serde_json::Deserializer::from_str(json);
    DynamicMessage::deserialize(descriptor, &mut json).expect("valid JSON of the message")
}

fn decode_dynamic(name: &str, bytes: &[u8]) -> DynamicMessage {
    let descriptor = descriptor_pool().get_message_by_name(name).expect("a known message");
    DynamicMessage::decode(descriptor, bytes).expect("well-formed bytes")
}

/// Encodes by descriptor, decodes spliced, encodes again, and compares by descriptor.
fn check_round_trip<M: Message + Default>(name: &str, json: &str) -> M {
    let original = dynamic(name, json);
    let bytes = original.encode_to_vec();
    let spliced = M::decode(bytes.as_slice()).expect("our type reads it");
    let again = spliced.encode_to_vec();
    assert_eq!(again.len(), spliced.encoded_len());
    // Compared as JSON trees: there NaN equals NaN, and the order of map entries does not count.
    let tree = |message: &DynamicMessage| serde_json::to_value(message).expect("valid JSON");
    let seen = tree(&decode_dynamic(name, &again));
    assert_eq!(seen, tree(&original));
    spliced
}

const DOCUMENT: &str = "google.firestore.v1.Document";
const VALUE: &str = "google.firestore.v1.Value";

#[test]
fn documents_pass_through() {
    let table = [
        r#"{}"#,
        r#"{"name":"projects/p/databases/d/documents/c/d"}"#,
        r#"{"name":"n","fields":{"a":{"integerValue":"-1"}}}"#,
        r#"{"fields":{"a":{},"b":{"nullValue":null},"":{"doubleValue":"NaN"}}}"#,
        r#"{"name":"n","fields":{"a":{"mapValue":{"fields":{"b":{"arrayValue":{"values":[{"stringValue":"x"}]}}}}}},
            "createTime":"2020-01-01T00:00:00.000001Z","updateTime":"1969-01-01T00:00:00Z"}"#,
    ];
    for json in table {
        check_round_trip::<WireDocument>(DOCUMENT, json);
    }
}

#[test]
fn changes_pass_through() {
    const CHANGE: &str = "google.firestore.v1.DocumentChange";
    let table = [
        (r#"{"document":{}}"#, 0, 0),
        (
            r#"{"document":{"name":"n","fields":{"a":{"integerValue":"-1"}}},"targetIds":[2,-1]}"#,
            2,
            0,
        ),
        (
            r#"{"document":{"name":"n","updateTime":"2020-01-01T00:00:00.000001Z"},"targetIds":[1],
                "removedTargetIds":[2147483647,3]}"#,
            1,
            2,
        ),
    ];
    for (json, inside, left) in table {
        let change = check_round_trip::<WireDocumentChange>(CHANGE, json);
        assert_eq!((change.target_ids.len(), change.removed_target_ids.len()), (inside, left));
        let document = change.decoded().expect("a document");
        assert_eq!(document.encode_to_vec(), change.document);
    }
}

#[test]
fn values_pass_through() {
    let table = [
        r#"{}"#,
        r#"{"nullValue":null}"#,
        r#"{"booleanValue":false}"#,
        r#"{"integerValue":"-9223372036854775808"}"#,
        r#"{"doubleValue":-0.0}"#,
        r#"{"timestampValue":"2020-01-01T00:00:00Z"}"#,
        r#"{"stringValue":""}"#,
        r#"{"bytesValue":"AAEC"}"#,
        r#"{"referenceValue":"projects/p/databases/d/documents/c/d"}"#,
        r#"{"geoPointValue":{"latitude":1.5,"longitude":-2}}"#,
        r#"{"arrayValue":{}}"#,
        r#"{"mapValue":{"fields":{"k":{"arrayValue":{"values":[{"mapValue":{}}]}}}}}"#,
    ];
    for json in table {
        check_round_trip::<WireValue>(VALUE, json);
    }
}

#[test]
fn a_value_keeps_the_order_in_which_its_members_came() {
    let first = dynamic(VALUE, r#"{"integerValue":"7"}"#).encode_to_vec();
    let second = dynamic(VALUE, r#"{"stringValue":"x"}"#).encode_to_vec();
    let both = [first, second].concat();
    assert_eq!(WireValue::decode(both.as_slice()).unwrap().raw, Bytes::from(both));
}

#[test]
fn many_fields_keep_their_order_and_unknown_ones_go() {
    let mut fields = Vec::new();
    for number in 0..2_000 {
        let key = format!("k{number}");
        let entry = dynamic(DOCUMENT, &format!(r#"{{"fields":{{"{key}":{{"integerValue":1}}}}}}"#));
        fields.extend(entry.encode_to_vec());
    }
    // Field 15, varint: no such member.
    let bytes = [fields.as_slice(), &[0x78, 0x01]].concat();
    let document = WireDocument::decode(bytes.as_slice()).unwrap();
    assert_eq!(document.fields, Bytes::from(fields));
    assert_eq!(document.encode_to_vec(), document.fields);
}

#[test]
fn nested_in_requests_and_responses() {
    let commit: CommitRequest = check_round_trip(
        "google.firestore.v1.CommitRequest",
        r#"{"database":"projects/p/databases/d","transaction":"AAA=","writes":[
            {"update":{"name":"n","fields":{"a":{"stringValue":"x"}}},"updateMask":{"fieldPaths":["a"]},
             "currentDocument":{"exists":true},
             "updateTransforms":[{"fieldPath":"b","increment":{"integerValue":"1"}},
                                 {"fieldPath":"c","appendMissingElements":{"values":[{"nullValue":null}]}}]},
            {"delete":"n"},{"verify":"v"},{}]}"#,
    );
    assert_eq!(commit.transaction, Bytes::from_static(&[0, 0]));
    let operations: Vec<_> = commit.writes.iter().map(|write| write.operation.as_ref()).collect();
    assert!(matches!(operations[0], Some(write::Operation::Update(update)) if update.name == "n"));
    assert!(matches!(operations[1], Some(write::Operation::Delete(name)) if name == "n"));
    assert!(matches!(operations[2], Some(write::Operation::Verify(name)) if name == "v"));
    assert!(operations[3].is_none());

    let found: BatchGetDocumentsResponse = check_round_trip(
        "google.firestore.v1.BatchGetDocumentsResponse",
        r#"{"found":{"name":"n","createTime":"2020-01-01T00:00:00Z"},"readTime":"2020-01-01T00:00:00Z"}"#,
    );
    let Some(batch_get_documents_response::Result::Found(document)) = found.result else {
        panic!("a found document");
    };
    assert_eq!(document.create_time, Some(Timestamp { seconds: 1_577_836_800, nanos: 0 }));

    let get: GetDocumentRequest = check_round_trip(
        "google.firestore.v1.GetDocumentRequest",
        r#"{"name":"n","transaction":""}"#,
    );
    let empty = get_document_request::ConsistencySelector::Transaction(Bytes::new());
    assert_eq!(get.consistency_selector, Some(empty));
}

#[test]
fn malformed_bytes_are_errors() {
    let table: &[(&str, &[u8])] = &[
        ("a length past the end", &[0x12, 0x05, 0x01]),
        ("a huge length", &[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]),
        ("a varint without end", &[0x12, 0xff]),
        ("fields as a number", &[0x10, 0x01]),
        ("a name that is not UTF-8", &[0x0a, 0x01, 0xff]),
        ("field zero", &[0x00, 0x00]),
        ("an end without a start", &[0x7c]),
        ("a time with a length past the end", &[0x1a, 0x09, 0x08]),
    ];
    for (what, bytes) in table {
        assert!(WireDocument::decode(*bytes).is_err(), "document: {what}");
        // The same bytes as an element of a list: the error must come through nesting too.
        let nested = [&[0x0a, u8::try_from(bytes.len()).unwrap()], *bytes].concat();
        let list = base_wire::google::firestore::v1::ListDocumentsResponse::decode(&*nested);
        assert!(list.is_err(), "nested document: {what}");
    }
    let table: &[(&str, &[u8])] = &[
        ("a string past the end", &[0x8a, 0x01, 0x05, b'x']),
        ("half a double", &[0x19, 0, 0, 0, 0]),
        ("half a fixed32", &[0x1d, 0, 0]),
        ("a varint without end", &[0x10, 0x80]),
    ];
    for (what, bytes) in table {
        assert!(WireValue::decode(*bytes).is_err(), "value: {what}");
    }
}

#[test]
fn the_pool_has_services_options_and_the_unpublished_member() {
    let pool = descriptor_pool();
    let service = pool.get_service_by_name("google.firestore.v1.Firestore").expect("the service");
    assert_eq!(service.methods().len(), 17);

    let http = pool.get_extension_by_name("google.api.http").expect("the annotation");
    let get = service.methods().find(|method| method.name() == "GetDocument").unwrap();
    let options = get.options();
    let Value::Message(rule) = options.get_extension(&http).into_owned() else {
        panic!("an HttpRule");
    };
    let path = rule.get_field_by_name("get").unwrap().into_owned();
    assert_eq!(path, Value::String("/v1/{name=projects/*/databases/*/documents/*/**}".to_owned()));

    let write = pool.get_message_by_name("google.firestore.v1.Write").unwrap();
    let verify = write.get_field_by_name("verify").expect("the added member");
    assert_eq!((verify.number(), verify.kind()), (5, Kind::String));
    assert_eq!(verify.containing_oneof().unwrap().name(), "operation");
}

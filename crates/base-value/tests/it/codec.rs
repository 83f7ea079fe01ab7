//! Encoding and decoding: round trips, one field out of many, and bytes that mean nothing.

use base_value::codec::{
    decode_fields, decode_value, encode_fields, encode_value, entries, find, find_raw, scalar,
    type_class,
};
use base_value::{FieldPath, order};
use proptest::prelude::*;

use crate::strategies::{fields, value};

proptest! {
    #[test]
    fn values_round_trip(value in value()) {
        let encoded = encode_value(&value);
        prop_assert_eq!(decode_value(&encoded), Ok(value.clone()));
        prop_assert_eq!(type_class(&encoded), Some(order::type_class(&value)));
    }

    #[test]
    fn fields_round_trip(fields in fields()) {
        let encoded = encode_fields(&fields);
        let decoded = decode_fields(&encoded);
        prop_assert_eq!(decoded.as_ref(), Ok(&fields));
        let names: Vec<&str> = entries(&encoded).map(|(name, _)| name).collect();
        prop_assert_eq!(names, fields.keys().collect::<Vec<_>>());
    }

    #[test]
    fn equal_fields_are_equal_bytes(left in fields(), right in fields()) {
        prop_assert_eq!(encode_fields(&left) == encode_fields(&right), left == right);
    }

    #[test]
    fn finding_is_decoding_and_getting(
        fields in fields(),
        path in prop::collection::vec("[ab]{1,2}", 1..4),
        value in value(),
        set in any::<bool>(),
    ) {
        let path = FieldPath::new(path).expect("no reserved name in the alphabet");
        let mut fields = fields;
        if set {
            path.set(&mut fields, value);
        }
        let encoded = encode_fields(&fields);
        prop_assert_eq!(find(&encoded, &path), path.get(&fields).cloned());
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        read_everything(&bytes);
    }

    #[test]
    fn damaged_bytes_never_panic(fields in fields(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut encoded = encode_fields(&fields).to_vec();
        if !encoded.is_empty() {
            let at = at.index(encoded.len());
            if let Some(target) = encoded.get_mut(at) {
                *target = byte;
            }
            read_everything(&encoded);
            encoded.truncate(at);
            read_everything(&encoded);
        }
    }

    /// However a value is nested, it is decoded or refused, on the stack of a test's thread.
    #[test]
    fn depth_never_overflows(levels in 0_usize..2_000, arrays in any::<bool>()) {
        let mut body = vec![0x58, 0x00];
        for _ in 0..levels {
            let mut outer = Vec::with_capacity(body.len() + 24);
            if arrays {
                push_delimited(&mut outer, 0x0A, &body);
            } else {
                let mut entry = Vec::new();
                push_delimited(&mut entry, 0x12, &body);
                push_delimited(&mut outer, 0x0A, &entry);
            }
            body.clear();
            push_delimited(&mut body, if arrays { 0x4A } else { 0x32 }, &outer);
        }
        prop_assert_eq!(decode_value(&body).is_ok(), levels < 100);
    }
}

fn read_everything(bytes: &[u8]) {
    let path = FieldPath::parse("a.b").expect("a path");
    let _ = (decode_value(bytes), decode_fields(bytes), find(bytes, &path), find_raw(bytes, &path));
    let _ = (scalar(bytes).is_some(), type_class(bytes), entries(bytes).count());
}

fn push_delimited(out: &mut Vec<u8>, tag: u8, body: &[u8]) {
    out.push(tag);
    let mut length = body.len();
    while length >= 0x80 {
        out.push((length & 0x7F) as u8 | 0x80);
        length >>= 7;
    }
    out.push(length as u8);
    out.extend_from_slice(body);
}

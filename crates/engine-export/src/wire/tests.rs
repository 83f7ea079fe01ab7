//! Messages taken apart, whole and broken, and put together.

use super::*;

/// Walks a message to its end and tells each field.
fn walk(bytes: &[u8]) -> Result<Vec<String>, Fault> {
    let mut fields = Span::whole(bytes).fields();
    let mut told = Vec::new();
    while let Some(field) = fields.next()? {
        told.push(match field.payload {
            Payload::Varint(value) => format!("{}: {value}", field.number),
            Payload::Fixed64(bits) => format!("{}: f64 {bits:x}", field.number),
            Payload::Delimited(span) => format!("{}: {:?}@{}", field.number, span.bytes, span.at),
            Payload::Group(span) => format!("{}: {{{:?}}}@{}", field.number, span.bytes, span.at),
            Payload::Fixed32 => format!("{}: f32", field.number),
        });
    }
    Ok(told)
}

#[test]
fn messages_are_walked() {
    let table: [(&[u8], &[&str]); 10] = [
        (b"", &[]),
        (b"\x08\x00", &["1: 0"]),
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", &["1: 18446744073709551615"]),
        (b"\x80\x01\x07\x1a\x02ab", &["16: 7", "3: [97, 98]@5"]),
        (b"\x21\x01\x00\x00\x00\x00\x00\x00\x80", &["4: f64 8000000000000001"]),
        (b"\x25\x01\x00\x00\x80", &["4: f32"]),
        (b"\x0b\x0c", &["1: {[]}@1"]),
        (b"\x0b\x12\x01x\x0c\x08\x05", &["1: {[18, 1, 120]}@1", "1: 5"]),
        // A group in a group, and one whose bytes look like the end of it.
        (b"\x0b\x13\x08\x01\x14\x0c", &["1: {[19, 8, 1, 20]}@1"]),
        (b"\x0b\x12\x01\x0c\x08\x0c\x0c", &["1: {[18, 1, 12, 8, 12]}@1"]),
    ];
    for (bytes, told) in table {
        assert_eq!(walk(bytes).unwrap(), told, "{bytes:x?}");
    }
}

#[test]
fn broken_messages_are_refused_where_they_break() {
    let mut deep = vec![0x0B; GROUP_DEPTH_MAX + 1];
    deep.extend(vec![0x0C; GROUP_DEPTH_MAX + 1]);
    let table: [(&[u8], usize, &str); 14] = [
        (b"\x00", 0, "a field of no number"),
        (b"\x07\x00", 0, "a field of no number"),
        (b"\xf8\xff\xff\xff\x7f\x00", 0, "a field of no number"),
        (b"\x0e", 0, "a tag of no type"),
        (b"\x0c", 0, "a tag of no type"),
        (b"\x08", 1, "an end inside of a field"),
        (b"\x08\x80", 2, "an end inside of a field"),
        (b"\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 1, "a number of more than 64 bits"),
        (b"\x1a\x03ab", 1, "a length beyond the end"),
        (b"\x1a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 1, "a length beyond the end"),
        (b"\x21\x01", 1, "an end inside of a field"),
        (b"\x0b\x08\x01", 3, "an end inside of a field"),
        (b"\x0b\x08\x01\x14", 3, "a group in disorder"),
        (&deep, GROUP_DEPTH_MAX, "a group in disorder"),
    ];
    for (bytes, at, what) in table {
        let fault = Fault { at, reason: FormatError::Malformed(what) };
        assert_eq!(walk(bytes), Err(fault), "{bytes:x?}");
    }
}

#[test]
fn what_is_written_is_read() {
    let mut out = Vec::new();
    push_number(&mut out, 1, 300);
    push_number(&mut out, 16, u64::MAX);
    push_bytes(&mut out, 3, b"ab");
    push_double(&mut out, 4, -0.0);
    push_double(&mut out, 4, f64::from_bits(0xFFF8_0000_0000_0001));
    let told = [
        "1: 300",
        "16: 18446744073709551615",
        "3: [97, 98]@17",
        "4: f64 8000000000000000",
        "4: f64 7ff8000000000000",
    ];
    assert_eq!(walk(&out).unwrap(), told);
}

#[test]
fn lengths_of_numbers_are_those_written() {
    for shift in 0..64 {
        for value in [1_u64 << shift, (1 << shift) - 1, u64::MAX >> shift] {
            let mut out = Vec::new();
            push_varint(&mut out, value);
            assert_eq!(varint_length(value), out.len(), "{value}");
        }
    }
}

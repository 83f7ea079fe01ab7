//! One field out of encoded fields, without decoding the others: the hot path of queries.

use super::decode::decode_value;
use super::wire::{Payload, Reader, VECTOR_MARK, number, split_entry};
use crate::field_path::FieldPath;
use crate::value::Value;

/// The value at a path of canonical fields bytes; the path leads through maps. `None` where there is none.
pub fn find(fields: &[u8], path: &FieldPath) -> Option<Value> {
    decode_value(find_raw(fields, path)?).ok()
}

/// The bytes of the `Value` message at a path of canonical fields bytes.
///
/// Relies on the canonical order to stop early; bytes as a client sent them may hide a field from it.
pub fn find_raw<'fields>(fields: &'fields [u8], path: &FieldPath) -> Option<&'fields [u8]> {
    let (first, inner) = path.segments().split_first()?;
    let mut value = entry(fields, number::DOCUMENT_FIELDS, first)?;
    for segment in inner {
        value = entry(map_body(value)?, number::ITEMS, segment)?;
    }
    Some(value)
}

/// The entries of fields bytes in their order: name and bytes of the `Value` message. Stops where the bytes
/// are no encoding.
pub fn entries(fields: &[u8]) -> impl Iterator<Item = (&str, &[u8])> {
    let mut reader = Reader::new(fields);
    std::iter::from_fn(move || {
        while let Ok(Some((number, payload))) = reader.field() {
            if let (number::DOCUMENT_FIELDS, Payload::Delimited(entry)) = (number, payload) {
                let (name, value) = split_entry(entry).ok()?;
                return Some((str::from_utf8(name).ok()?, value?));
            }
        }
        None
    })
}

fn entry<'bytes>(bytes: &'bytes [u8], field: u64, name: &str) -> Option<&'bytes [u8]> {
    let mut reader = Reader::new(bytes);
    while let Some((number, payload)) = reader.field().ok()? {
        let Payload::Delimited(entry) = payload else { continue };
        if number != field {
            continue;
        }
        let mut inner = Reader::new(entry);
        // A key that does not come first is legal protobuf, if not what we write.
        let (key, value) = match inner.field().ok()? {
            Some((number::ENTRY_KEY, Payload::Delimited(key))) => (key, None),
            _ => split_entry(entry).ok()?,
        };
        match key.cmp(name.as_bytes()) {
            std::cmp::Ordering::Less => {}
            std::cmp::Ordering::Equal if value.is_some() => return value,
            std::cmp::Ordering::Equal => return split_entry(entry).ok()?.1,
            std::cmp::Ordering::Greater => return None,
        }
    }
    None
}

/// Body of a map; `None` for other values, vectors included: nothing can be reached inside of one.
fn map_body(value: &[u8]) -> Option<&[u8]> {
    match Reader::new(value).field().ok()?? {
        (number::MAP, Payload::Delimited(body)) if !body.starts_with(VECTOR_MARK) => Some(body),
        _ => None,
    }
}

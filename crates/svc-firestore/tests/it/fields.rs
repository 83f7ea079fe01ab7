//! Fields of documents as short texts: `n=1 s=x`.

use base_value::{Fields, Value, codec};
use base_wire::WireValue;
use bytes::Bytes;

/// Encoded fields from words such as `n=1`; what is no integer is text.
pub(crate) fn parse<'a>(words: impl IntoIterator<Item = &'a str>) -> Bytes {
    let field = |word: &str| {
        let (name, value) = word.split_once('=').unwrap_or_else(|| panic!("no field: {word}"));
        (name.to_owned(), value_of(value))
    };
    codec::encode_fields(&words.into_iter().map(field).collect::<Fields>())
}

/// The text of encoded fields.
pub(crate) fn render(fields: &[u8]) -> String {
    let fields = codec::decode_fields(fields).expect("fields that were stored");
    let words: Vec<_> =
        fields.iter().map(|(name, value)| format!("{name}={}", text(value))).collect();
    words.join(" ")
}

/// The value of a word.
pub(crate) fn value_of(word: &str) -> Value {
    word.parse().map_or_else(|_| Value::String(word.to_owned()), Value::Integer)
}

/// The same, encoded.
pub(crate) fn wire_value(word: &str) -> WireValue {
    WireValue::from(codec::encode_value(&value_of(word)))
}

fn text(value: &Value) -> String {
    match value {
        Value::Integer(number) => number.to_string(),
        Value::String(text) => text.clone(),
        other => format!("{other:?}"),
    }
}

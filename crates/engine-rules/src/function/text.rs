//! Strings by their UTF-16 code units, as the product counts them.

use crate::error::{Failure, out_of_bounds};

/// How many code units a text has.
pub(crate) fn utf16_len(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.encode_utf16().count() }
}

/// The code unit at an index. Half of a pair shows as a question mark, as it does in the product.
pub(crate) fn index(text: &str, index: i64) -> Result<String, Failure> {
    let size = utf16_len(text);
    let place = usize::try_from(index).ok().filter(|place| *place < size);
    let place = place.ok_or_else(|| out_of_bounds(index, size))?;
    Ok(slice(text, place, place + 1))
}

/// The code units from one index to before another.
pub(crate) fn slice(text: &str, from: usize, to: usize) -> String {
    if text.is_ascii() {
        return text.get(from..to).unwrap_or_default().to_owned();
    }
    let units = text.encode_utf16().skip(from).take(to.saturating_sub(from));
    char::decode_utf16(units).map(|unit| unit.unwrap_or('?')).collect()
}

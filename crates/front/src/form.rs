//! Query strings and form bodies: names and values, percent-encoded.

use percent_encoding::percent_decode_str;

/// The pairs of a text, decoded, in their order; in place of one that is not UTF-8 then, the name or value that is not.
/// One by one: a form may have tens of millions of them.
pub(crate) fn pairs(text: &str) -> impl Iterator<Item = Result<(String, String), String>> {
    let pairs = text.split('&').filter(|pair| !pair.is_empty());
    pairs.map(|pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        Ok((decode(name)?, decode(value)?))
    })
}

fn decode(text: &str) -> Result<String, String> {
    let text = text.replace('+', " ");
    match percent_decode_str(&text).decode_utf8() {
        Ok(decoded) => Ok(decoded.into_owned()),
        Err(_) => Err(text),
    }
}

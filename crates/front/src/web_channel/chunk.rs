//! The framing of everything a client reads: a length, a newline, and so much JSON.

use bytes::Bytes;

/// A chunk. Its length counts UTF-16 units, which is how JavaScript counts.
pub(super) fn chunk(json: &str) -> Bytes {
    Bytes::from(format!("{}\n{json}", utf16_len(json.as_bytes())))
}

/// The length of a UTF-8 text in UTF-16 units: every character begins with one byte that continues nothing, and
/// those of four bytes are two units.
fn utf16_len(utf8: &[u8]) -> usize {
    let units = utf8.iter().map(|byte| match byte {
        0x80..=0xbf => 0,
        0xf0..=0xff => 2,
        _ => 1,
    });
    units.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_those_of_javascript() {
        fn check(json: &str) {
            let expected = json.encode_utf16().count();
            assert_eq!(chunk(json), format!("{expected}\n{json}"), "{json}");
        }
        check("");
        check(r#"[[1,["noop"]]]"#);
        check("\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}");
        check("\u{fc}\u{20ac}\u{1f525}e\u{301}\u{1f468}\u{200d}\u{1f469}");
        for char in (0..=0x10_ffff).step_by(97).filter_map(char::from_u32) {
            check(&char.to_string());
        }
    }
}

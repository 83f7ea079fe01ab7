//! Numbers, ids and text that follow from where they are used: no state, so everything can be made again in any order.

/// A well-spread number of `place` and `index`.
pub(crate) fn number(place: &str, index: u64) -> u64 {
    let seed = place.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    });
    mix(seed ^ mix(index))
}

/// The finaliser of SplitMix64.
fn mix(number: u64) -> u64 {
    let number = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

const ALPHABET: [u8; 62] = *b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// An id as the SDKs make them: twenty letters and digits.
pub(crate) fn id(place: &str, index: u64) -> String {
    let half = |salt: u64| {
        let mut left = number(place, index) ^ mix(salt);
        (0..10).map(move |_| {
            let letter = ALPHABET.get(usize::try_from(left % 62).unwrap_or_default());
            left /= 62;
            letter.copied().map_or('A', char::from)
        })
    };
    half(1).chain(half(2)).collect()
}

const WORDS: [&str; 32] = [
    "the", "house", "of", "a", "river", "and", "market", "is", "under", "light", "stone", "to",
    "garden", "in", "winter", "letter", "with", "morning", "paper", "on", "bridge", "salt", "for",
    "window", "was", "harbour", "by", "green", "at", "thread", "from", "clock",
];

/// So many words, from the start of a line of their own.
pub(crate) fn text(place: &str, index: u64, words: u64) -> String {
    let mut out = String::with_capacity(usize::try_from(words).unwrap_or_default() * 6);
    let mut bits = number(place, index);
    for word in 0..words {
        if word % 12 == 11 {
            bits = mix(bits);
        }
        let at = usize::try_from((bits >> (word % 12 * 5)) % 32).unwrap_or_default();
        if word > 0 {
            out.push(' ');
        }
        out.push_str(WORDS.get(at).copied().unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_and_texts_look_like_what_they_stand_for() {
        let ids: std::collections::HashSet<_> = (0..10_000).map(|index| id("x", index)).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id.len() == 20 && id.is_ascii()));
        assert_eq!(text("x", 1, 40).split(' ').count(), 40);
        assert_ne!(text("x", 1, 40), text("x", 2, 40));
        assert_ne!(number("x", 1), number("y", 1));
    }
}

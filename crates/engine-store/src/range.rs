//! Ranges of keys.

use std::ops::Bound;

use bytes::Bytes;

/// The keys from `start` up to, and without, `end`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct KeyRange {
    /// The first key that may be in the range.
    pub start: Bytes,
    /// The first key after the range; `None` means that the range goes on to the last key.
    pub end: Option<Bytes>,
}

impl KeyRange {
    /// The keys in `start..end`.
    pub fn new(start: Bytes, end: Bytes) -> KeyRange {
        KeyRange { start, end: Some(end) }
    }

    /// Every key.
    pub fn all() -> KeyRange {
        KeyRange { start: Bytes::new(), end: None }
    }

    /// The keys that begin with `prefix`.
    pub fn prefix(prefix: Bytes) -> KeyRange {
        // The successor of a prefix: the last byte that can grow, grown; without one nothing is greater.
        let grows = prefix.iter().rposition(|byte| *byte != u8::MAX);
        let end = grows.map(|last| {
            let mut end: Vec<u8> = prefix.iter().take(last + 1).copied().collect();
            if let Some(byte) = end.last_mut() {
                *byte += 1;
            }
            Bytes::from(end)
        });
        KeyRange { start: prefix, end }
    }

    /// Whether `key` is in the range.
    pub fn contains(&self, key: &[u8]) -> bool {
        key >= self.start.as_ref() && self.end.as_ref().is_none_or(|end| key < end.as_ref())
    }

    /// Whether no key can be in the range.
    pub fn is_empty(&self) -> bool {
        self.end.as_ref().is_some_and(|end| *end <= self.start)
    }

    /// Whether some key could be in both ranges.
    pub fn overlaps(&self, other: &KeyRange) -> bool {
        let starts_before =
            |one: &KeyRange, two: &KeyRange| two.end.as_ref().is_none_or(|end| one.start < *end);
        !self.is_empty()
            && !other.is_empty()
            && starts_before(self, other)
            && starts_before(other, self)
    }

    pub(crate) fn bounds(&self) -> (Bound<&[u8]>, Bound<&[u8]>) {
        let end = self.end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_ref()));
        (Bound::Included(self.start.as_ref()), end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: &'static [u8], end: Option<&'static [u8]>) -> KeyRange {
        KeyRange { start: Bytes::from_static(start), end: end.map(Bytes::from_static) }
    }

    #[test]
    fn a_prefix_ends_where_no_key_can_begin_with_it() {
        #[track_caller]
        fn check(prefix: &'static [u8], end: Option<&'static [u8]>) {
            assert_eq!(KeyRange::prefix(Bytes::from_static(prefix)), range(prefix, end));
        }
        check(b"", None);
        check(b"a", Some(b"b"));
        check(b"a\xff", Some(b"b"));
        check(b"a\xff\x01", Some(b"a\xff\x02"));
        check(b"\xff\xff", None);
    }

    #[test]
    fn the_start_is_in_and_the_end_is_out() {
        let range = range(b"b", Some(b"d"));
        let inside: Vec<bool> =
            [&b"a"[..], b"b", b"c\xff", b"d"].iter().map(|key| range.contains(key)).collect();
        assert_eq!(inside, [false, true, true, false]);
    }

    #[test]
    fn overlapping_is_sharing_a_possible_key() {
        #[track_caller]
        fn check(one: KeyRange, two: KeyRange, expected: bool) {
            assert_eq!(one.overlaps(&two), expected, "{one:?} {two:?}");
            assert_eq!(two.overlaps(&one), expected, "{two:?} {one:?}");
        }
        check(range(b"a", Some(b"c")), range(b"b", Some(b"d")), true);
        check(range(b"a", Some(b"c")), range(b"c", Some(b"d")), false);
        check(range(b"a", None), range(b"x", None), true);
        check(range(b"a", None), range(b"0", Some(b"a")), false);
        check(range(b"b", Some(b"b")), range(b"a", Some(b"c")), false);
        check(range(b"d", Some(b"b")), KeyRange::all(), false);
    }
}

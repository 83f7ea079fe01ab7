//! Walking two sorted sources as one.

use std::cmp::Ordering;

/// Which way a range is walked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Ascending,
    Descending,
}

/// Which of two sources has the next key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// The upper one alone.
    Upper,
    /// The lower one alone.
    Lower,
    /// Both have the same, and the upper one's counts.
    Both,
    /// Neither has one.
    Neither,
}

/// Whose turn it is, by the next key of each source.
pub(crate) fn turn(upper: Option<&[u8]>, lower: Option<&[u8]>, direction: Direction) -> Turn {
    let (upper, lower) = match (upper, lower) {
        (None, None) => return Turn::Neither,
        (Some(_), None) => return Turn::Upper,
        (None, Some(_)) => return Turn::Lower,
        (Some(upper), Some(lower)) => (upper, lower),
    };
    let order = match direction {
        Direction::Ascending => upper.cmp(lower),
        Direction::Descending => lower.cmp(upper),
    };
    match order {
        Ordering::Less => Turn::Upper,
        Ordering::Equal => Turn::Both,
        Ordering::Greater => Turn::Lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearer_key_comes_first() {
        #[track_caller]
        fn check(upper: Option<&str>, lower: Option<&str>, ascending: Turn, descending: Turn) {
            let turn =
                |direction| turn(upper.map(str::as_bytes), lower.map(str::as_bytes), direction);
            assert_eq!(turn(Direction::Ascending), ascending);
            assert_eq!(turn(Direction::Descending), descending);
        }
        check(None, None, Turn::Neither, Turn::Neither);
        check(Some("a"), None, Turn::Upper, Turn::Upper);
        check(None, Some("a"), Turn::Lower, Turn::Lower);
        check(Some("a"), Some("b"), Turn::Upper, Turn::Lower);
        check(Some("b"), Some("a"), Turn::Lower, Turn::Upper);
        check(Some("a"), Some("a"), Turn::Both, Turn::Both);
    }
}

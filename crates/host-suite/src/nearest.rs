//! The nearest known word to a mistyped one, for "did you mean" hints.

/// The known word closest to `word`, if one is close enough to be what was meant.
pub(crate) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    // One slip in a short word, about one in three letters in a longer one.
    let limit = (word.chars().count() / 3).max(1);
    known
        .into_iter()
        .map(|candidate| (distance(&word, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// The number of single letters to insert, remove, replace or swap with their neighbour.
fn distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.chars().collect();
    let right: Vec<char> = right.chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    let mut previous: Option<char> = None;
    for (row, a) in left.iter().copied().enumerate() {
        let mut current = vec![row + 1];
        for (column, b) in right.iter().copied().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let mut best = (at(&last, column + 1) + 1)
                .min(at(&current, column) + 1)
                .min(at(&last, column) + usize::from(a != b));
            let swapped = column
                .checked_sub(1)
                .filter(|before| right.get(*before) == Some(&a) && previous == Some(b));
            if let Some(before) = swapped {
                best = best.min(at(&before_last, before).saturating_add(1));
            }
            current.push(best);
        }
        before_last = last;
        last = current;
        previous = Some(a);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_word_is_one_that_was_plausibly_meant() {
        const KNOWN: [&str; 5] = ["project", "only", "config", "firestore", "host"];
        for (word, expected) in [
            ("projet", Some("project")),
            ("Project", Some("project")),
            ("firesotre", Some("firestore")),
            ("hots", Some("host")),
            ("onyl", Some("only")),
            ("fire", None),
            ("x", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, KNOWN), expected, "{word}");
        }
    }
}

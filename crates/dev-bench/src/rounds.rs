//! Who is measured when: in every round each side has its turn, and the order rotates, so that a machine
//! that gets slower or faster does so for all sides alike, and none always follows the same other one.

/// The order of the sides in one round, as indices.
pub(crate) fn order(sides: usize, round: u64) -> impl Iterator<Item = usize> {
    let first = match u64::try_from(sides) {
        Ok(count @ 1..) => usize::try_from(round % count).unwrap_or_default(),
        _ => 0,
    };
    (first..sides).chain(0..first)
}

/// Whether something that is to happen `times` times in `rounds` rounds happens in this one; the times
/// are spread evenly, beginning with the first round.
pub(crate) fn is_due(round: u64, rounds: u64, times: u64) -> bool {
    let done = |round: u64| (round * times).div_ceil(rounds.max(1));
    done(round + 1) > done(round)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_side_has_its_turn_and_leads_in_turn() {
        let rounds: Vec<Vec<usize>> = (0..4).map(|round| order(3, round).collect()).collect();
        assert_eq!(rounds, [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 1, 2]]);
        assert_eq!(order(0, 5).count(), 0);
    }

    #[test]
    fn rare_turns_are_spread() {
        fn check(rounds: u64, times: u64, expected: &[u64]) {
            let due: Vec<_> = (0..rounds).filter(|round| is_due(*round, rounds, times)).collect();
            assert_eq!(due, expected, "{times} of {rounds}");
        }
        check(6, 6, &[0, 1, 2, 3, 4, 5]);
        check(6, 3, &[0, 2, 4]);
        check(5, 1, &[0]);
        check(4, 0, &[]);
    }
}

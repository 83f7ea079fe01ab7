//! Points in time, and the two clocks that give them: the machine's, which can be moved ahead, and one that only
//! a test moves.

use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A point in time: microseconds since 1970-01-01T00:00:00Z, the precision Firestore's times have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixMicros(pub i64);

impl UnixMicros {
    /// The point `duration` later, at most the largest representable one.
    pub fn plus(self, duration: Duration) -> UnixMicros {
        let micros = i64::try_from(duration.as_micros()).unwrap_or(i64::MAX);
        UnixMicros(self.0.saturating_add(micros))
    }

    /// How long ago `earlier` was; zero when it is not earlier.
    pub fn since(self, earlier: UnixMicros) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// Where an [`crate::Env`] reads its time from.
#[derive(Debug)]
pub(crate) enum Clock {
    /// The machine's time and so many microseconds.
    System {
        ahead: AtomicI64,
    },
    Simulated(AtomicI64),
}

impl Clock {
    pub(crate) fn now(&self) -> UnixMicros {
        match self {
            Clock::System { ahead } => {
                UnixMicros(machine().0.saturating_add(ahead.load(Ordering::Acquire)))
            }
            Clock::Simulated(micros) => UnixMicros(micros.load(Ordering::Acquire)),
        }
    }

    /// Moves the clock forward. That of the machine goes on from there.
    pub(crate) fn advance(&self, by: Duration) {
        let (Clock::System { ahead: moved } | Clock::Simulated(moved)) = self;
        // The closure always answers, so this does too.
        let _before = moved.fetch_update(Ordering::AcqRel, Ordering::Acquire, |micros| {
            Some(UnixMicros(micros).plus(by).0)
        });
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
fn machine() -> UnixMicros {
    UnixMicros(match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
        Err(before) => -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_simulated_clock_moves_only_when_told() {
        let clock = Clock::Simulated(AtomicI64::new(1_000_000));
        assert_eq!(clock.now(), UnixMicros(1_000_000));
        clock.advance(Duration::from_millis(5));
        assert_eq!(clock.now(), UnixMicros(1_005_000));
    }

    #[test]
    fn the_machine_s_clock_goes_on_from_where_it_was_moved_to() {
        let clock = Clock::System { ahead: AtomicI64::new(0) };
        let before = clock.now();
        clock.advance(Duration::from_secs(3_600));
        clock.advance(Duration::from_secs(3_600));
        let after = clock.now();
        assert!(after.since(before) >= Duration::from_secs(7_200));
        assert!(after.since(machine()) <= Duration::from_secs(7_200));
        clock.advance(Duration::MAX);
        assert_eq!(clock.now(), UnixMicros(i64::MAX));
    }

    #[test]
    fn differences_never_go_below_zero() {
        assert_eq!(UnixMicros(5).since(UnixMicros(9)), Duration::ZERO);
        assert_eq!(UnixMicros(9).since(UnixMicros(5)), Duration::from_micros(4));
        assert_eq!(UnixMicros(i64::MAX).plus(Duration::from_secs(1)), UnixMicros(i64::MAX));
    }
}

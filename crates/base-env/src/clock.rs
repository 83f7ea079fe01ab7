//! Points in time, and the two clocks that give them: the machine's and one a test moves.

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
    System,
    Simulated(AtomicI64),
}

impl Clock {
    #[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
    pub(crate) fn now(&self) -> UnixMicros {
        match self {
            Clock::System => {
                let micros = match SystemTime::now().duration_since(UNIX_EPOCH) {
                    Ok(after) => i64::try_from(after.as_micros()).unwrap_or(i64::MAX),
                    Err(before) => {
                        -i64::try_from(before.duration().as_micros()).unwrap_or(i64::MAX)
                    }
                };
                UnixMicros(micros)
            }
            Clock::Simulated(micros) => UnixMicros(micros.load(Ordering::Acquire)),
        }
    }

    /// Moves a simulated clock forward; the machine's clock stays as it is.
    pub(crate) fn advance(&self, by: Duration) {
        if let Clock::Simulated(micros) = self {
            let next = UnixMicros(micros.load(Ordering::Acquire)).plus(by);
            micros.store(next.0, Ordering::Release);
        }
    }
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
    fn differences_never_go_below_zero() {
        assert_eq!(UnixMicros(5).since(UnixMicros(9)), Duration::ZERO);
        assert_eq!(UnixMicros(9).since(UnixMicros(5)), Duration::from_micros(4));
        assert_eq!(UnixMicros(i64::MAX).plus(Duration::from_secs(1)), UnixMicros(i64::MAX));
    }
}

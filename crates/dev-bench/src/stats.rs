//! From single durations to the numbers of a cell.

use std::time::Duration;

use serde::Serialize;

/// What was measured in one cell of a table.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    each: Vec<Duration>,
    wall: Duration,
}

impl Samples {
    /// Adds one turn: the duration of every request, and of the turn as a whole. They differ where
    /// requests run at once.
    pub fn turn(&mut self, each: impl IntoIterator<Item = Duration>, wall: Duration) {
        self.each.extend(each);
        self.wall += wall;
    }

    /// Adds one duration that is a turn of its own.
    pub fn single(&mut self, duration: Duration) {
        self.turn([duration], duration);
    }

    /// The numbers; `None` when nothing was measured.
    #[must_use]
    pub fn summary(mut self) -> Option<Summary> {
        self.each.sort_unstable();
        let count = self.each.len();
        let seconds = self.wall.as_secs_f64();
        Some(Summary {
            samples: count,
            p50_us: micros(percentile(&self.each, 50)?),
            p99_us: micros(percentile(&self.each, 99)?),
            max_us: micros(*self.each.last()?),
            per_second: if seconds > 0.0 { count_as_f64(count) / seconds } else { 0.0 },
        })
    }
}

/// The numbers of one cell.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// How many durations there were.
    pub samples: usize,
    /// The median, in microseconds.
    pub p50_us: f64,
    /// The 99th percentile, in microseconds.
    pub p99_us: f64,
    /// The longest, in microseconds.
    pub max_us: f64,
    /// Requests per second of time spent measuring.
    pub per_second: f64,
}

/// What a side has in one cell of a table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Cell {
    /// Durations of something that was done again and again.
    Times(Summary),
    /// One number.
    Amount(Amount),
    /// Why there is no number.
    Failed {
        /// In two or three words.
        failed: String,
    },
}

impl Cell {
    /// Says why there is no number.
    #[must_use]
    pub fn failed(why: &str) -> Self {
        Self::Failed { failed: why.to_owned() }
    }

    /// A duration that was measured once.
    #[must_use]
    pub fn seconds(duration: Duration) -> Self {
        Self::Amount(Amount { amount: duration.as_secs_f64(), unit: Unit::Seconds })
    }

    /// Bytes of memory or of a disk.
    #[must_use]
    pub fn mebibytes(bytes: u64) -> Self {
        let kib = u32::try_from(bytes / 1024).map_or(f64::INFINITY, f64::from);
        Self::Amount(Amount { amount: kib / 1024.0, unit: Unit::Mebibytes })
    }
}

impl From<Summary> for Cell {
    fn from(summary: Summary) -> Self {
        Self::Times(summary)
    }
}

/// One number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Amount {
    /// How much.
    pub amount: f64,
    /// Of what.
    pub unit: Unit,
}

/// What an [`Amount`] counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// MiB.
    Mebibytes,
}

/// The nearest-rank percentile of a sorted list: the smallest value that at least `percent` of all do
/// not exceed. It is always a value that was measured.
fn percentile(sorted: &[Duration], percent: usize) -> Option<Duration> {
    let rank = (sorted.len() * percent).div_ceil(100).max(1);
    sorted.get(rank - 1).copied()
}

fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

fn count_as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::INFINITY, f64::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_measured_values() {
        fn check(values: &[u64], percent: usize, expected: Option<u64>) {
            let sorted: Vec<_> = values.iter().copied().map(Duration::from_micros).collect();
            let expected = expected.map(Duration::from_micros);
            assert_eq!(percentile(&sorted, percent), expected, "p{percent} of {values:?}");
        }
        let hundred: Vec<u64> = (1..=100).collect();
        let two_hundred: Vec<u64> = (1..=200).collect();
        check(&[], 50, None);
        check(&[7], 50, Some(7));
        check(&[7], 99, Some(7));
        check(&[1, 2, 3], 50, Some(2));
        check(&[1, 2, 3, 4], 50, Some(2));
        check(&hundred, 50, Some(50));
        check(&hundred, 99, Some(99));
        check(&hundred, 100, Some(100));
        check(&two_hundred, 99, Some(198));
    }

    #[test]
    fn a_summary_counts_time_at_once_only_once() {
        let mut samples = Samples::default();
        let ten = Duration::from_millis(10);
        samples.turn([ten; 8], ten);
        samples.turn([ten; 8], ten);
        let summary = samples.summary().unwrap();
        assert_eq!(summary.samples, 16);
        assert!((summary.p50_us - 10_000.0).abs() < 1e-6, "{summary:?}");
        assert!((summary.per_second - 800.0).abs() < 1e-6, "{summary:?}");
        assert_eq!(Samples::default().summary(), None);
    }
}

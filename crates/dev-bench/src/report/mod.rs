//! What comes out: tables with ratios, as Markdown for people and as JSON for programs.

mod json;
mod markdown;

use serde_json::Value;

use crate::machine::Machine;
use crate::profile::Profile;
use crate::stats::{Cell, Summary};

/// What one workload measured, a cell for every side that took part.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The workload.
    pub name: String,
    /// The sides by name; `None` where a side has no such thing.
    pub cells: Vec<(&'static str, Option<Cell>)>,
}

impl Row {
    /// A row of these cells, in the order of the sides.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        cells: impl IntoIterator<Item = (&'static str, Option<impl Into<Cell>>)>,
    ) -> Self {
        let cells = cells.into_iter().map(|(side, cell)| (side, cell.map(Into::into)));
        Self { name: name.into(), cells: cells.collect() }
    }

    fn cell(&self, side: &str) -> Option<&Cell> {
        self.cells.iter().find(|(name, _)| *name == side).and_then(|(_, cell)| cell.as_ref())
    }
}

/// The number of a cell that a column is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The median.
    P50,
    /// The 99th percentile.
    P99,
    /// Requests per second.
    PerSecond,
    /// The one number of an amount.
    Amount,
}

impl Measure {
    fn of(self, cell: &Cell) -> Option<f64> {
        let of_times = |summary: &Summary| match self {
            Self::P50 => Some(summary.p50_us),
            Self::P99 => Some(summary.p99_us),
            Self::PerSecond => Some(summary.per_second),
            Self::Amount => None,
        };
        match cell {
            Cell::Times(summary) => of_times(summary),
            Cell::Amount(amount) => (self == Self::Amount).then_some(amount.amount),
            Cell::Failed { .. } => None,
        }
    }
}

/// A column that divides one side by another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// The column's head.
    pub head: &'static str,
    /// The side that is divided.
    pub over: &'static str,
    /// The side it is divided by.
    pub under: &'static str,
    /// Which of their numbers.
    pub measure: Measure,
}

impl Ratio {
    fn of(&self, row: &Row) -> Option<f64> {
        let over = self.measure.of(row.cell(self.over)?)?;
        let under = self.measure.of(row.cell(self.under)?)?;
        (under > 0.0).then(|| over / under)
    }
}

/// What the cells of a table show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Median and 99th percentile, in milliseconds.
    Latency,
    /// Requests per second.
    Rate,
    /// Median and 99th percentile, in microseconds.
    Micros,
    /// Whatever unit each row has.
    Amounts,
}

/// One table of a report.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Its heading.
    pub title: &'static str,
    /// The sides, in the order of the columns.
    pub sides: Vec<&'static str>,
    /// What their cells show.
    pub show: Show,
    /// The ratios behind them.
    pub ratios: &'static [Ratio],
    /// The workloads.
    pub rows: Vec<Row>,
}

/// Everything one run found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// How much was measured.
    pub profile: Profile,
    /// Where.
    pub machine: Machine,
    /// The version of firelet.
    pub firelet: &'static str,
    /// The official emulator's name and version, or why it is not in the tables.
    pub official: Result<String, String>,
    /// The tables.
    pub tables: Vec<Table>,
}

impl Report {
    /// For people.
    #[must_use]
    pub fn markdown(&self) -> String {
        markdown::report(self)
    }

    /// For programs.
    #[must_use]
    pub fn json(&self) -> Value {
        json::report(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_need_both_sides() {
        let cell = |p50_us| {
            let summary =
                Summary { samples: 1, p50_us, p99_us: 3.0, max_us: 3.0, per_second: 10.0 };
            Some(Cell::Times(summary))
        };
        let row = |official| Row::new("x", [("firelet", cell(2.0)), ("official", official)]);
        let ratio = Ratio { head: "h", over: "official", under: "firelet", measure: Measure::P50 };
        assert_eq!(ratio.of(&row(cell(9.0))), Some(4.5));
        assert_eq!(ratio.of(&row(None)), None);
        assert_eq!(ratio.of(&row(Some(Cell::failed("out of memory")))), None);
        assert_eq!(ratio.of(&row(Some(Cell::seconds(std::time::Duration::from_secs(1))))), None);
        assert_eq!(ratio.of(&Row { name: String::new(), cells: vec![] }), None);
    }
}

//! The report for people: Markdown whose tables also line up in a terminal.

use std::fmt::Write as _;

use super::{Report, Row, Show, Table};
use crate::stats::{Amount, Cell, Summary, Unit};

pub(super) fn report(report: &Report) -> String {
    let mut out = String::new();
    let machine = &report.machine;
    let memory = machine.memory_gib.map_or_else(String::new, |gib| format!(", {gib} GiB"));
    let load = machine.load_before.map_or_else(String::new, |load| format!(", load before {load}"));
    let official = match &report.official {
        Ok(version) => format!("official: {version}"),
        Err(reason) => format!("official: not measured, {reason}"),
    };
    let profile = format!("{:?}", report.profile).to_lowercase();
    let _infallible = writeln!(
        out,
        "firelet {}, {official}. Profile {profile}; {} cores{memory}, {}{load}.",
        report.firelet, machine.cores, machine.system
    );
    for one in &report.tables {
        let _infallible = write!(out, "\n## {}\n\n{}", one.title, table(one));
    }
    out
}

fn table(table: &Table) -> String {
    let unit = match table.show {
        Show::Latency => "p50 / p99 ms",
        Show::Rate => "per second",
        Show::Micros => "p50 / p99 us",
        Show::Amounts => "",
    };
    let mut grid = vec![vec!["workload".to_owned()]];
    if let Some(head) = grid.first_mut() {
        head.extend(table.sides.iter().map(|side| {
            let measured = table.rows.iter().any(|row| row.cell(side).is_some());
            let unit = if measured { unit } else { "(not measured)" };
            format!("{side} {unit}").trim_end().to_owned()
        }));
        head.extend(table.ratios.iter().map(|ratio| ratio.head.to_owned()));
    }
    grid.extend(table.rows.iter().map(|one| row(table, one)));
    aligned(&grid)
}

fn row(table: &Table, row: &Row) -> Vec<String> {
    let cells = table.sides.iter().map(|side| {
        row.cell(side).map_or_else(dash, |cell| match cell {
            Cell::Times(summary) => match table.show {
                Show::Latency | Show::Amounts => latency(summary),
                Show::Rate => format!("{:.0}", summary.per_second),
                Show::Micros => format!("{:.1} / {:.1}", summary.p50_us, summary.p99_us),
            },
            Cell::Amount(amount) => self::amount(*amount),
            Cell::Failed { failed } => failed.clone(),
        })
    });
    let ratios = table.ratios.iter().map(|ratio| ratio.of(row).map_or_else(dash, times));
    [row.name.clone()].into_iter().chain(cells).chain(ratios).collect()
}

fn dash() -> String {
    "-".to_owned()
}

fn latency(cell: &Summary) -> String {
    format!("{} / {}", millis(cell.p50_us), millis(cell.p99_us))
}

fn amount(amount: Amount) -> String {
    let (number, unit) = match amount.unit {
        Unit::Seconds if amount.amount < 1.0 => (amount.amount * 1_000.0, "ms"),
        Unit::Seconds => (amount.amount, "s"),
        Unit::Mebibytes => (amount.amount, "MiB"),
    };
    match number {
        ..10.0 => format!("{number:.2} {unit}"),
        _ => format!("{number:.1} {unit}"),
    }
}

fn millis(micros: f64) -> String {
    let millis = micros / 1_000.0;
    match millis {
        ..10.0 => format!("{millis:.3}"),
        10.0..1_000.0 => format!("{millis:.1}"),
        _ => format!("{millis:.0}"),
    }
}

fn times(ratio: f64) -> String {
    if ratio < 10.0 { format!("{ratio:.2}x") } else { format!("{ratio:.1}x") }
}

/// A Markdown table with the first column to the left and the others, which are numbers, to the right.
fn aligned(grid: &[Vec<String>]) -> String {
    let columns = grid.first().map_or(0, Vec::len);
    let width = |column: usize| {
        grid.iter().filter_map(|line| line.get(column)).map(String::len).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for (number, line) in grid.iter().enumerate() {
        out.push('|');
        for (column, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let width = *width;
            let _infallible = match column {
                0 => write!(out, " {cell:<width$} |"),
                _ => write!(out, " {cell:>width$} |"),
            };
        }
        out.push('\n');
        if number == 0 {
            out.push('|');
            for (column, width) in widths.iter().enumerate() {
                let end = if column == 0 { '-' } else { ':' };
                let _infallible = write!(out, " {}{end} |", "-".repeat(width.saturating_sub(1)));
            }
            out.push('\n');
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_line_up() {
        let grid = [["a", "b c"], ["long name", "1"]].map(|line| line.map(str::to_owned).to_vec());
        let expected = "| a         | b c |\n| --------- | --: |\n| long name |   1 |\n";
        assert_eq!(aligned(&grid), expected);
    }

    #[test]
    fn amounts_have_their_unit() {
        use std::time::Duration;
        let table = [
            (Cell::seconds(Duration::from_micros(4_321)), "4.32 ms"),
            (Cell::seconds(Duration::from_millis(54_321)), "54.3 s"),
            (Cell::mebibytes(150 * 1024 * 1024), "150.0 MiB"),
        ];
        for (cell, expected) in table {
            let Cell::Amount(one) = cell else { panic!("not an amount") };
            assert_eq!(amount(one), expected);
        }
    }

    #[test]
    fn numbers_keep_three_places_or_so() {
        let table = [(61.24, "0.061"), (9_999.0, "9.999"), (14_500.0, "14.5"), (3.5e6, "3500")];
        for (micros, expected) in table {
            assert_eq!(millis(micros), expected);
        }
        assert_eq!(times(1.234), "1.23x");
        assert_eq!(times(123.4), "123.4x");
    }
}

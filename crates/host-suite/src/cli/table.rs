//! The banner and the table of a suite that is ready.

use std::time::Duration;

use crate::suite::Suite;

/// The line that scripts wait for.
pub(super) const READY: &str = "All emulators ready! It is now safe to connect your app.";

/// Banner, table of services, and what is said below it.
pub(super) fn ready(suite: &Suite, took: Duration) -> String {
    let mark = if cfg!(windows) { "+" } else { "\u{2714}" };
    let banner = boxed(&[vec![format!("{mark}  {READY}")]]);
    let services = suite.services();
    let mut rows = vec![vec!["Emulator".to_owned(), "Host:Port".to_owned()]];
    rows.extend(services.iter().filter(|info| info.name != "hub").map(|info| {
        let short = info.description.trim_end_matches(" Emulator");
        vec![short.to_owned(), info.authority.clone()]
    }));
    let mut text = format!("\n{banner}\n\n{}\n", boxed(&rows));
    if let Some(hub) = services.iter().find(|info| info.name == "hub") {
        text.push_str(&format!("  Emulator Hub host: {} port: {}\n", hub.host, hub.port));
    }
    text.push_str("  Other reserved ports: None\n\n");
    let project = suite.project();
    text.push_str(&format!("  Project {project}, ready in {} ms. Ctrl-C stops.", took.as_millis()));
    text
}

/// Rows of cells in a frame, with a line between rows.
fn boxed(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let rule = |left: &str, middle: &str, right: &str| {
        let parts: Vec<String> = widths.iter().map(|width| "\u{2500}".repeat(width + 2)).collect();
        format!("{left}{}{right}", parts.join(middle))
    };
    let line = |row: &Vec<String>| {
        let cells = widths.iter().enumerate().map(|(column, width)| {
            let cell = row.get(column).map_or("", String::as_str);
            format!(" {cell}{} ", " ".repeat(width.saturating_sub(cell.chars().count())))
        });
        format!("\u{2502}{}\u{2502}", cells.collect::<Vec<_>>().join("\u{2502}"))
    };
    let between = format!("\n{}\n", rule("\u{251c}", "\u{253c}", "\u{2524}"));
    let body: Vec<String> = rows.iter().map(line).collect();
    let top = rule("\u{250c}", "\u{252c}", "\u{2510}");
    let bottom = rule("\u{2514}", "\u{2534}", "\u{2518}");
    format!("{top}\n{}\n{bottom}", body.join(&between))
}

/// Rows of cells in columns, the first one as their head.
pub(super) fn columns(rows: &[Vec<String>]) -> String {
    let widths = widths(rows);
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// How many characters the longest cell of each column has.
fn widths(rows: &[Vec<String>]) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    (0..columns).map(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_framed() {
        let rows = [vec!["a".to_owned(), "bcd".to_owned()], vec!["xy".to_owned()]];
        let expected = [
            "\u{250c}\u{2500}\u{2500}\u{2500}\u{2500}\u{252c}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2510}",
            "\u{2502} a  \u{2502} bcd \u{2502}",
            "\u{251c}\u{2500}\u{2500}\u{2500}\u{2500}\u{253c}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2524}",
            "\u{2502} xy \u{2502}     \u{2502}",
            "\u{2514}\u{2500}\u{2500}\u{2500}\u{2500}\u{2534}\u{2500}\u{2500}\u{2500}\u{2500}\u{2500}\u{2518}",
        ];
        assert_eq!(boxed(&rows), expected.join("\n"));
    }
}

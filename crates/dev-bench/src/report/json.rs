//! The report for programs.

use serde_json::{Map, Value, json};

use super::{Report, Row, Table};

pub(super) fn report(report: &Report) -> Value {
    let (official, missing) = match &report.official {
        Ok(version) => (Some(version), None),
        Err(reason) => (None, Some(reason)),
    };
    json!({
        "profile": report.profile,
        "machine": report.machine,
        "firelet": report.firelet,
        "official": official,
        "official_missing": missing,
        "tables": report.tables.iter().map(table).collect::<Vec<_>>(),
    })
}

fn table(table: &Table) -> Value {
    let rows: Vec<_> = table.rows.iter().map(|one| row(table, one)).collect();
    json!({ "title": table.title, "rows": rows })
}

fn row(table: &Table, row: &Row) -> Value {
    let cells: Map<String, Value> = table
        .sides
        .iter()
        .map(|side| ((*side).to_owned(), row.cell(side).map_or(Value::Null, |cell| json!(cell))))
        .collect();
    let ratios: Map<String, Value> =
        table.ratios.iter().map(|ratio| (ratio.head.to_owned(), json!(ratio.of(row)))).collect();
    json!({ "workload": row.name, "sides": cells, "ratios": ratios })
}

//! Every row of `expressions.txt`: an expression, and its value or error.
//!
//! `! text` is an error of the evaluation, `!! column text` one of reading. The rows were recorded from the
//! official emulator; those under "production" state where production is known to differ.

use std::sync::Mutex;

use engine_rules::{Method, Ruleset, Session, Severity, Value};

use crate::data::{Table, Watch, request, rows};

const ROWS: &str = include_str!("expressions.txt");
const BEFORE: &str = "function v() { return ";

/// What an expression comes to, in the notation of the rows.
fn evaluate(expression: &str) -> String {
    let source = format!(
        "rules_version='2';\nservice cloud.firestore {{ match /databases/{{database}}/documents {{\n\
         {BEFORE}{expression};}}\nmatch /e/{{d}} {{ allow get: if [v()] == 0; }} }} }}"
    );
    let ruleset = match Ruleset::parse(&source) {
        Ok(ruleset) => ruleset,
        Err(errors) => {
            let mut found = errors.diagnostics.iter();
            let found = found.find(|found| found.severity == Severity::Error).expect("an error");
            let column = found.position.column as usize - BEFORE.len();
            return format!("!! {column} {}", found.text);
        }
    };
    let members =
        [("fields", Value::Null), ("headers", headers()), ("inTransaction", Value::Bool(false))];
    let path = ["databases", "(default)", "documents", "e", "x"];
    let request = engine_rules::Request { members: &members, ..request(Method::Get, &path) };
    let table = Table::default();
    let watch = Watch { id: 0, found: Mutex::default() };
    let decision = ruleset.decide_in(&request, &Session::single(&table), Some(&watch));
    assert!(!decision.allowed, "{expression}");
    watch
        .found
        .into_inner()
        .expect("no test panics with it")
        .unwrap_or_else(|| "not evaluated".to_owned())
}

fn headers() -> Value<'static> {
    Value::Map(engine_rules::Map::Made(std::sync::Arc::default()))
}

#[test]
fn every_row_holds() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for (expression, expected) in rows(ROWS) {
        count += 1;
        let found = evaluate(expression);
        if found != expected {
            wrong.push(format!("{expression}\n  expected {expected}\n  found    {found}"));
        }
    }
    assert!(wrong.is_empty(), "{} of {count} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(count >= 1_600, "{count} rows");
}

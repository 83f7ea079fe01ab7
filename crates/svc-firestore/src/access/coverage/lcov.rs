//! Coverage in the format of lcov, which editors and services for coverage read.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

use engine_rules::Node;

use super::recorder::Recorder;
use crate::access::rules::Loaded;

/// How often each line with an allow statement or an expression was reached.
pub(super) fn lines(loaded: &Loaded, recorder: &Recorder) -> BTreeMap<u32, u64> {
    let mut lines = BTreeMap::new();
    for (number, statement) in loaded.ruleset.statements().iter().enumerate() {
        reach(&mut lines, statement.position.line, recorder.tries(number).total());
        if let Some(condition) = &statement.condition {
            walk(&mut lines, condition, recorder);
        }
    }
    for function in loaded.ruleset.functions() {
        let body = loaded.ruleset.expressions().find(|one| one.id == function.body);
        if let Some(body) = body {
            reach(&mut lines, body.start.line, recorder.counts(body.id).total());
        }
        if let Some(root) = &function.root {
            walk(&mut lines, root, recorder);
        }
    }
    lines
}

/// One record for each source.
pub(super) fn lcov(counted: &[(&Loaded, &Recorder)]) -> String {
    let mut text = String::new();
    for (loaded, recorder) in counted {
        // Writing to a string does not fail.
        let _ = record(&mut text, loaded, recorder);
    }
    text
}

fn record(text: &mut String, loaded: &Loaded, recorder: &Recorder) -> std::fmt::Result {
    // A name ends with its line.
    let name: String = loaded.name.chars().filter(|one| !one.is_control()).collect();
    writeln!(text, "TN:\nSF:{name}")?;
    let mut names = HashSet::new();
    let functions: Vec<_> = loaded
        .ruleset
        .functions()
        .into_iter()
        .map(|function| {
            let line = function.position.line;
            // Names are unique in a scope; in a record they are unique altogether.
            let name = match names.insert(function.name.clone()) {
                true => function.name,
                false => format!("{}:{line}", function.name),
            };
            (name, line, recorder.counts(function.body).total())
        })
        .collect();
    for (name, line, _) in &functions {
        writeln!(text, "FN:{line},{name}")?;
    }
    for (name, _, calls) in &functions {
        writeln!(text, "FNDA:{calls},{name}")?;
    }
    let called = functions.iter().filter(|(_, _, calls)| *calls > 0).count();
    writeln!(text, "FNF:{}\nFNH:{called}", functions.len())?;

    let (mut found, mut hit) = (0, 0);
    for (number, statement) in loaded.ruleset.statements().iter().enumerate() {
        if statement.condition.is_none() {
            continue;
        }
        let tries = recorder.tries(number);
        let branches = [tries.granted, tries.refused + tries.failed];
        for (branch, taken) in branches.into_iter().enumerate() {
            found += 1;
            hit += usize::from(taken > 0);
            let taken = if tries.total() == 0 { "-".to_owned() } else { taken.to_string() };
            writeln!(text, "BRDA:{},{number},{branch},{taken}", statement.position.line)?;
        }
    }
    writeln!(text, "BRF:{found}\nBRH:{hit}")?;

    let lines = lines(loaded, recorder);
    for (line, count) in &lines {
        writeln!(text, "DA:{line},{count}")?;
    }
    let reached = lines.values().filter(|count| **count > 0).count();
    writeln!(text, "LF:{}\nLH:{reached}\nend_of_record", lines.len())
}

fn walk(lines: &mut BTreeMap<u32, u64>, node: &Node, recorder: &Recorder) {
    reach(lines, node.start.line, recorder.counts(node.expression).total());
    for child in &node.children {
        walk(lines, child, recorder);
    }
}

fn reach(lines: &mut BTreeMap<u32, u64>, line: u32, count: u64) {
    let known = lines.entry(line).or_default();
    *known = count.max(*known);
}

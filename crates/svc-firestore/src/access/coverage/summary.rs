//! A summary of coverage by match block: for people, and for thresholds that a test run has to reach.

use std::fmt::Write;

use engine_rules::{Node, Statement};
use serde_json::{Value as Json, json};

use super::lcov::lines;
use super::recorder::Recorder;
use crate::access::rules::Loaded;

/// Widths of the table that people read.
const NAME_WIDTH: usize = 56;
const NUMBER_WIDTH: usize = 12;

/// How many of what there is were reached.
#[derive(Clone, Copy, Default)]
struct Reached {
    covered: u64,
    total: u64,
}

impl Reached {
    fn add(&mut self, is_covered: bool) {
        self.total += 1;
        self.covered += u64::from(is_covered);
    }

    fn plus(self, other: Reached) -> Reached {
        Reached { covered: self.covered + other.covered, total: self.total + other.total }
    }

    /// Nothing is wholly covered.
    fn percent(self) -> f64 {
        match self.total {
            0 => 100.0,
            // Rounded down, so that only all of it is 100.
            total => (self.covered * 10_000 / total) as f64 / 100.0,
        }
    }

    fn json(self) -> Json {
        json!({"covered": self.covered, "total": self.total, "percent": self.percent()})
    }
}

/// What is counted of a source or of a match block.
#[derive(Clone, Copy, Default)]
struct Figures {
    lines: Reached,
    functions: Reached,
    /// Conditions that granted, and conditions that did not.
    branches: Reached,
    expressions: Reached,
}

impl Figures {
    fn plus(self, other: Figures) -> Figures {
        Figures {
            lines: self.lines.plus(other.lines),
            functions: self.functions.plus(other.functions),
            branches: self.branches.plus(other.branches),
            expressions: self.expressions.plus(other.expressions),
        }
    }

    fn json(self) -> Json {
        json!({
            "lines": self.lines.json(),
            "functions": self.functions.json(),
            "branches": self.branches.json(),
            "expressions": self.expressions.json(),
        })
    }
}

/// The figures of all sources, of each, and of each of their match blocks; and all of it as text.
pub(super) fn summary(counted: &[(&Loaded, &Recorder)]) -> Json {
    let mut total = Figures::default();
    let mut text = row("rules", ["branches", "expressions"].map(str::to_owned));
    let mut rulesets = Vec::new();
    for (loaded, recorder) in counted {
        let (figures, json) = ruleset(loaded, recorder, &mut text);
        total = total.plus(figures);
        rulesets.push(json);
    }
    json!({"total": total.json(), "rulesets": rulesets, "text": text})
}

fn ruleset(loaded: &Loaded, recorder: &Recorder, text: &mut String) -> (Figures, Json) {
    let statements: Vec<_> = loaded.ruleset.statements().into_iter().enumerate().collect();
    let mut blocks = Vec::new();
    let mut rows = String::new();
    let mut figures = Figures::default();
    let mut starts: Vec<_> = statements.iter().map(|(_, statement)| statement.block).collect();
    starts.sort_unstable();
    starts.dedup();
    for start in starts {
        let inside = statements.iter().filter(|(_, statement)| statement.block == start);
        let (block_figures, json) = block(inside.map(|(number, one)| (*number, one)), recorder);
        figures.branches = figures.branches.plus(block_figures.branches);
        figures.expressions = figures.expressions.plus(block_figures.expressions);
        let pattern = json["pattern"].as_str().unwrap_or_default();
        let place = format!("  {}:{} {pattern}", loaded.name, start.line);
        rows.push_str(&row(&place, cells(block_figures)));
        blocks.push(json);
    }
    let mut functions = Vec::new();
    for function in loaded.ruleset.functions() {
        let calls = recorder.counts(function.body).total();
        figures.functions.add(calls > 0);
        if let Some(root) = &function.root {
            walk(root, recorder, &mut figures.expressions);
        }
        functions.push(json!({
            "name": function.name, "line": function.position.line, "calls": calls,
        }));
    }
    for count in lines(loaded, recorder).values() {
        figures.lines.add(*count > 0);
    }
    text.push_str(&row(&loaded.name, cells(figures)));
    text.push_str(&rows);
    let mut json = figures.json();
    json["name"] = loaded.name.as_str().into();
    json["blocks"] = blocks.into();
    json["functionCalls"] = functions.into();
    (figures, json)
}

fn block<'s>(
    statements: impl Iterator<Item = (usize, &'s Statement)>,
    recorder: &Recorder,
) -> (Figures, Json) {
    let mut figures = Figures::default();
    let mut block = json!({});
    let mut list = Vec::new();
    for (number, statement) in statements {
        let tries = recorder.tries(number);
        if let Some(condition) = &statement.condition {
            figures.branches.add(tries.granted > 0);
            figures.branches.add(tries.refused + tries.failed > 0);
            walk(condition, recorder, &mut figures.expressions);
        }
        block["pattern"] = statement.pattern.as_str().into();
        block["line"] = statement.block.line.into();
        let methods: Vec<_> = statement.methods.iter().map(|method| method.name()).collect();
        list.push(json!({
            "line": statement.position.line,
            "column": statement.position.column,
            "methods": methods,
            "granted": tries.granted,
            "refused": tries.refused,
            "failed": tries.failed,
        }));
    }
    block["statements"] = list.into();
    block["branches"] = figures.branches.json();
    block["expressions"] = figures.expressions.json();
    (figures, block)
}

fn walk(node: &Node, recorder: &Recorder, reached: &mut Reached) {
    reached.add(recorder.counts(node.expression).total() > 0);
    for child in &node.children {
        walk(child, recorder, reached);
    }
}

fn cells(figures: Figures) -> [String; 2] {
    [figures.branches, figures.expressions].map(|reached| match reached.total {
        0 => "-".to_owned(),
        _ => format!("{:.1} %", (reached.percent() * 10.0).floor() / 10.0),
    })
}

fn row(name: &str, cells: [String; 2]) -> String {
    let mut row = format!("{name:<NAME_WIDTH$}");
    for cell in cells {
        // Writing to a string does not fail.
        let _ = write!(row, "{cell:>NUMBER_WIDTH$}");
    }
    row.push('\n');
    row
}

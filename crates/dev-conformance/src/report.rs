//! The committed snapshot of totals.

use std::fmt::Write as _;

use crate::case::Topic;
use crate::run::Outcome;

/// The snapshot: totals by topic, failures on firelet, differences to the official emulator with reasons.
pub fn snapshot(service: &str, topics: &[Topic], firelet: &[Outcome]) -> String {
    let mut out = format!("# {service}: conformance\n\n");
    out.push_str("Written by the tests of dev-conformance with `UPDATE=1`.\n\n");
    out.push_str("| topic | cases | pass on firelet | differ on the official emulator |\n|---|---|---|---|\n");
    let (mut cases, mut passed, mut differing) = (0, 0, 0);
    for topic in topics {
        let prefix = format!("{}/", topic.name);
        let own = firelet.iter().filter(|outcome| outcome.name.starts_with(&prefix));
        let pass = own.filter(|outcome| outcome.failures.is_empty()).count();
        let differ = topic.cases.iter().filter(|case| case.differences().next().is_some()).count();
        let _ = writeln!(out, "| {} | {} | {pass} | {differ} |", topic.name, topic.cases.len());
        cases += topic.cases.len();
        passed += pass;
        differing += differ;
    }
    let _ = writeln!(out, "| **total** | **{cases}** | **{passed}** | **{differing}** |");
    out.push_str("\n## Failing on firelet\n\n");
    let failing: Vec<_> = firelet.iter().filter(|outcome| !outcome.failures.is_empty()).collect();
    if failing.is_empty() {
        out.push_str("None.\n");
    }
    for outcome in failing {
        let _ = writeln!(out, "- {}", outcome.name);
    }
    out.push_str("\n## Differences to the official emulator\n\n");
    for topic in topics {
        for case in &topic.cases {
            let mut reasons: Vec<_> = case.differences().collect();
            reasons.dedup();
            if !reasons.is_empty() {
                let _ = writeln!(out, "- {}/{}: {}", topic.name, case.name, reasons.join("; "));
            }
        }
    }
    out
}

/// The failures of a run as readable text.
pub fn failures(outcomes: &[Outcome]) -> String {
    let mut out = String::new();
    for outcome in outcomes {
        for line in &outcome.failures {
            let _ = writeln!(
                out,
                "{}: {}",
                outcome.name,
                line.replace(&outcome.recording.project, "{project}")
            );
        }
        for step in &outcome.needless {
            let _ = writeln!(
                out,
                "{}: step {step}: `oracle` is needless, `expect` holds there too",
                outcome.name
            );
        }
    }
    out
}

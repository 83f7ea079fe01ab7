//! The official emulator's report: every expression with the values it came to.

use engine_rules::Node;
use serde_json::{Value as Json, json};

use super::recorder::{Recorder, position};
use crate::access::rules::Loaded;

/// What stands for values that are not kept.
const MORE: &str = "values beyond those that are kept of an expression";

/// A report as the official emulator's route answers it.
pub(crate) fn report(loaded: &Loaded, recorder: &Recorder) -> Json {
    let Loaded { name, ruleset, .. } = loaded;
    let mut nodes: Vec<_> =
        ruleset.functions().into_iter().filter_map(|function| function.root).collect();
    nodes.extend(ruleset.statements().into_iter().filter_map(|statement| statement.condition));
    let mut report = json!({"rules": super::files(name, ruleset.source())});
    // As in the official emulator, nothing where there is no expression.
    if !nodes.is_empty() {
        report["report"] = nodes.iter().map(|root| node(root, None, recorder)).collect();
    }
    report
}

/// `reached` says how often the expression around it was evaluated or passed over; none for the outermost.
fn node(of: &Node, reached: Option<u64>, recorder: &Recorder) -> Json {
    let evaluated = recorder.counts(of.expression).total();
    let passed_over = reached.unwrap_or_default().saturating_sub(evaluated);
    let reached = evaluated.max(reached.unwrap_or_default());
    let mut json = json!({"sourcePosition": position(of.start, of.last)});
    if reached > 0 {
        json["values"] = values(of.expression, passed_over, recorder).into();
    }
    if !of.children.is_empty() {
        let children = of.children.iter().map(|child| node(child, Some(reached), recorder));
        json["children"] = children.collect();
    }
    json
}

fn values(id: u32, passed_over: u64, recorder: &Recorder) -> Vec<Json> {
    let counts = recorder.counts(id);
    let kept = recorder.values(id);
    let more = counts.others + counts.errors;
    let more = more.saturating_sub(kept.iter().map(|(_, count)| count).sum());
    let truths = [(json!({"boolValue": true}), counts.truths)];
    let falsehoods = [(json!({"boolValue": false}), counts.falsehoods)];
    let rest = [(json!({"undefined": {"causeMessage": MORE}}), more), (json!({}), passed_over)];
    let all = truths.into_iter().chain(falsehoods).chain(kept).chain(rest);
    all.filter(|(_, count)| *count > 0)
        .map(|(value, count)| json!({"value": value, "count": count}))
        .collect()
}

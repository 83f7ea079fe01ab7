//! The official emulator's answers, kept beside the cases for machines that have no emulator.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::Answer;

/// The answers to one case.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Recording {
    /// The project id of the run: it occurs within the answers, and positions depend on its length.
    pub project: String,
    /// One answer a step.
    pub answers: Vec<Answer>,
}

/// Times that come from the clock of a run, in microseconds: 2025 to 2190. Those in cases lie outside.
const RUN_TIMES: std::ops::Range<i64> = 1_735_689_600_000_000..6_942_585_600_000_000;

/// The recordings of one topic, by case name.
pub type Recordings = BTreeMap<String, Recording>;

/// Loads a topic's recordings; empty when there are none.
pub fn load(folder: &Path, topic: &str) -> Result<Recordings> {
    let path = folder.join(format!("{topic}.json"));
    if !path.is_file() {
        return Ok(Recordings::new());
    }
    let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    serde_json::from_str(&text).with_context(|| path.display().to_string())
}

/// Writes a topic's recordings, one line an answer, keeping every old one that says the same.
pub fn save(folder: &Path, topic: &str, fresh: &Recordings) -> Result<()> {
    let old = load(folder, topic)?;
    let kept = fresh.iter().map(|(name, new)| match old.get(name) {
        Some(old) if same(old, new) => (name, old),
        _ => (name, new),
    });
    let mut text = String::from("{");
    for (index, (name, recording)) in kept.enumerate() {
        let comma = if index == 0 { "" } else { "," };
        write!(
            text,
            "{comma}\n{}: {{\"project\": \"{}\", \"answers\": [",
            Value::from(name.as_str()),
            recording.project
        )?;
        for (index, answer) in recording.answers.iter().enumerate() {
            let comma = if index == 0 { "" } else { "," };
            write!(text, "{comma}\n  {}", serde_json::to_string(answer)?)?;
        }
        text.push_str("\n]}");
    }
    text.push_str("\n}\n");
    std::fs::create_dir_all(folder)?;
    let path = folder.join(format!("{topic}.json"));
    std::fs::write(&path, text).with_context(|| path.display().to_string())
}

/// True when two recordings differ only in what differs from run to run.
pub fn same(one: &Recording, other: &Recording) -> bool {
    let plain = |recording: &Recording| -> Vec<Answer> {
        let strip = |answer: &Answer| Answer {
            body: strip(&answer.body, &recording.project),
            millis: 0,
            ..answer.clone()
        };
        recording.answers.iter().map(strip).collect()
    };
    plain(one) == plain(other)
}

/// Replaces the project id, times, automatic ids and opaque tokens.
fn strip(value: &Value, project: &str) -> Value {
    match value {
        Value::String(text) => Value::String(strip_text(&text.replace(project, "P"))),
        Value::Array(items) => items.iter().map(|item| strip(item, project)).collect(),
        Value::Object(members) => members
            .iter()
            .map(|(name, member)| match name.as_str() {
                "transaction" | "nextPageToken" => (name.clone(), Value::from("token")),
                _ => (name.clone(), strip(member, project)),
            })
            .collect(),
        other => other.clone(),
    }
}

/// Blanks times of the run, versions, and the last segment of a name when it is an automatic id.
fn strip_text(text: &str) -> String {
    if crate::time::micros(text).is_some_and(|micros| RUN_TIMES.contains(&micros)) {
        return "time".to_owned();
    }
    if text.starts_with("the stored version (") || text.contains("VersionPrecondition{") {
        return text.chars().filter(|c| !c.is_ascii_digit()).collect();
    }
    if text.starts_with('\n') {
        return strip_denial(text);
    }
    match text.rsplit_once('/') {
        Some((parent, id)) if crate::matcher::is_id(id) => format!("{parent}/ID"),
        _ => text.to_owned(),
    }
}

/// Rules decide the writes of a commit side by side there, and some of them again: in which order they are told, how often,
/// and which one is the first to exceed a limit, is chance.
fn strip_denial(text: &str) -> String {
    let mut reasons: Vec<String> = text
        .split(", ")
        .map(|reason| match reason.contains("path_value {") {
            true => reason.chars().filter(|c| !c.is_ascii_digit()).collect(),
            false => reason.trim_start().to_owned(),
        })
        .collect();
    reasons.sort_unstable();
    reasons.dedup();
    reasons.join(", ")
}

#[cfg(test)]
mod tests {
    use super::{Recording, same};
    use crate::answer::Answer;
    use serde_json::{Value, json};

    fn check(one: Value, other: Value, expected: bool) {
        let recording = |project: &str, body| {
            let answer = Answer { status: 200, headers: [].into(), body, millis: 0 };
            Recording { project: project.to_owned(), answers: vec![answer] }
        };
        assert_eq!(same(&recording("p1", one), &recording("p2", other)), expected);
    }

    #[test]
    fn runs_differ_in_times_projects_and_ids() {
        check(json!("projects/p1/x"), json!("projects/p2/x"), true);
        check(json!("2026-01-01T00:00:00.5Z"), json!("2027-01-01T00:00:00.123456Z"), true);
        check(json!("2020-01-01T00:00:00Z"), json!("2020-01-01T00:00:01Z"), false);
        check(json!("c/abcdefghijklmnopqrst"), json!("c/ABCDEFGHIJKLMNOPQRST"), true);
        let precondition =
            |version| json!(format!("VersionPrecondition{{exactBaseVersion={version}}}"));
        check(precondition(1), precondition(22), true);
        check(json!("\nfalse for 'get' @ L1, true"), json!("\ntrue, false for 'get' @ L1"), true);
        check(json!("\nfalse for 'get' @ L1"), json!("\nfalse for 'get' @ L2"), false);
        let path = |id| json!(format!("\nArgument: [path_value {{ simple: \"{id}\" }}]. @ L"));
        check(path("x10"), path("x20"), true);
        check(json!({"transaction": "a"}), json!({"transaction": "b"}), true);
        check(json!({"status": "a"}), json!({"status": "b"}), false);
    }
}

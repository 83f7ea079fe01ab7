//! The case files: their form and how they are loaded and checked.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::expect::Expectation;
use crate::query::{AggregateSpec, QuerySpec};
use crate::write::WriteSpec;

/// One case file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Topic {
    /// The file's name without extension.
    #[serde(skip)]
    pub name: String,
    /// What the file covers, in a sentence.
    pub about: String,
    /// Named sets of documents that cases start from.
    #[serde(default)]
    pub data: BTreeMap<String, Map<String, Value>>,
    /// Named security rules that cases are asked under.
    #[serde(default)]
    pub rules: BTreeMap<String, String>,
    /// The cases.
    pub cases: Vec<Case>,
}

/// One behaviour: documents to start from, then requests with expected answers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Unique within the file, in kebab-case.
    pub name: String,
    /// Where the behaviour comes from.
    pub source: String,
    /// The documents to start from.
    #[serde(default)]
    pub setup: Option<Setup>,
    /// Security rules: a name in the file's `rules`, a source, or what stands in one below `documents`.
    #[serde(default)]
    pub rules: Option<String>,
    /// Who asks where a step does not say it.
    #[serde(default)]
    pub auth: Auth,
    /// The requests, in order.
    pub steps: Vec<Step>,
}

/// Who asks.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(untagged)]
pub enum Auth {
    /// An owner, for whom no rules count. No case says it so: null would look like nobody.
    #[default]
    #[serde(skip)]
    Owner,
    /// `nobody`, `owner`, or a user with this id.
    Named(String),
    /// A user with these claims.
    Claims(Map<String, Value>),
}

/// The documents a case starts from.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Setup {
    /// A name in the file's `data`.
    Named(String),
    /// Path to fields.
    Documents(Map<String, Value>),
}

/// One request and what it must answer. Exactly one of the request members is present.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase", default)]
pub struct Step {
    /// `METHOD target`; a target that starts with `{docs}` or `{db}` gets `/v1/` before it.
    pub call: Option<String>,
    /// JSON body of `call`.
    pub body: Option<Value>,
    /// Literal body of `call`.
    pub raw: Option<String>,
    /// GetDocument of a relative path, query string allowed.
    pub get: Option<String>,
    /// Commit that sets whole documents.
    pub set: Option<Map<String, Value>>,
    /// Commit.
    pub commit: Option<Vec<WriteSpec>>,
    /// BatchWrite.
    pub batch_write: Option<Vec<WriteSpec>>,
    /// BatchGetDocuments of relative paths.
    pub batch_get: Option<Vec<String>>,
    /// RunQuery.
    pub query: Option<QuerySpec>,
    /// RunAggregationQuery.
    pub aggregate: Option<AggregateSpec>,
    /// ExecutePipeline, stage by stage.
    pub pipeline: Option<Vec<Vec<Value>>>,
    /// BeginTransaction; the value is the request's `options`.
    pub begin: Option<Value>,
    /// Rollback of a captured transaction.
    pub rollback: Option<String>,
    /// Transaction that `commit`, `batchGet`, `query` or `aggregate` belongs to.
    pub transaction: Option<String>,
    /// Further members of the request body.
    pub with: Option<Map<String, Value>>,
    /// Who asks, if not the one who asks in the whole case.
    pub auth: Option<Auth>,
    /// Headers beside that; null removes one.
    pub headers: BTreeMap<String, Option<String>>,
    /// Name to JSON pointer into the answer's body.
    pub capture: BTreeMap<String, String>,
    /// What firelet (and production) answers. Absent: status 200.
    pub expect: Option<Expectation>,
    /// What the official emulator answers, where it differs.
    pub oracle: Option<Expectation>,
    /// Why it differs.
    pub why: Option<String>,
}

impl Step {
    /// The expectation for one side.
    pub fn expectation(&self, oracle: bool) -> Option<&Expectation> {
        if oracle { self.oracle.as_ref().or(self.expect.as_ref()) } else { self.expect.as_ref() }
    }
}

impl Topic {
    /// The rules of a case, whole.
    pub fn rules_of(&self, case: &Case) -> Option<String> {
        let rules = case.rules.as_ref()?;
        let rules = self.rules.get(rules).unwrap_or(rules);
        if rules.contains("service ") {
            return Some(rules.clone());
        }
        Some(format!(
            "rules_version = '2';\nservice cloud.firestore {{\n  match /databases/{{database}}/documents {{\n{rules}\n  }}\n}}\n"
        ))
    }
}

impl Auth {
    /// The header that says it; none for nobody.
    pub fn header(&self) -> Option<String> {
        let claims = match self {
            Auth::Owner => return Some("Bearer owner".to_owned()),
            Auth::Named(name) => match name.as_str() {
                "owner" => return Some("Bearer owner".to_owned()),
                "nobody" => return None,
                uid => json!({"sub": uid, "user_id": uid}),
            },
            Auth::Claims(claims) => Value::Object(claims.clone()),
        };
        let encode = |json: Value| URL_SAFE_NO_PAD.encode(json.to_string());
        Some(format!("Bearer {}.{}.", encode(json!({"alg": "none"})), encode(claims)))
    }
}

impl Case {
    /// The reasons why the official emulator differs, one per differing step.
    pub fn differences(&self) -> impl Iterator<Item = &str> {
        self.steps
            .iter()
            .filter(|step| step.oracle.is_some())
            .map(|step| step.why.as_deref().unwrap_or_default())
    }
}

/// Loads every case file of a folder, sorted by name, and checks their form.
pub fn load(folder: &Path) -> Result<Vec<Topic>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            paths.push(path);
        }
    }
    paths.sort();
    paths.iter().map(|path| load_file(path)).collect()
}

fn load_file(path: &Path) -> Result<Topic> {
    let shown = path.display();
    let text = std::fs::read_to_string(path).with_context(|| shown.to_string())?;
    ensure!(text.lines().count() <= 800, "{shown}: more than 800 lines, split the topic");
    let mut topic: Topic = serde_json::from_str(&text).with_context(|| shown.to_string())?;
    topic.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    check(&topic).with_context(|| shown.to_string())?;
    Ok(topic)
}

fn check(topic: &Topic) -> Result<()> {
    let mut names = BTreeSet::new();
    for case in &topic.cases {
        ensure!(names.insert(&case.name), "case `{}` appears twice", case.name);
        ensure!(!case.source.is_empty(), "case `{}` has no source", case.name);
        ensure!(!case.steps.is_empty(), "case `{}` has no steps", case.name);
        if let Some(Setup::Named(name)) = &case.setup {
            ensure!(topic.data.contains_key(name), "case `{}`: no data `{name}`", case.name);
        }
        for (index, step) in case.steps.iter().enumerate() {
            if step.oracle.is_some() != step.why.is_some() {
                bail!("case `{}` step {index}: `oracle` and `why` go together", case.name);
            }
        }
    }
    Ok(())
}

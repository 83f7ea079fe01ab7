//! The official emulator's routes of security rules: setting them for a project or one database, and reading
//! what is set.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State as Shared};
use axum::response::{IntoResponse, Response};
use base_status::Status;
use base_value::DatabaseName;
use engine_rules::{Diagnostic, Position, Severity};
use http::Method;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};

use crate::access::{Loaded, SetError, Whose, report};
use crate::limits::RULES_REQUEST_BYTES_MAX;
use crate::state::State;

/// What is in force where nothing is set.
const OPEN_RULES: &str = "rules_version = '2';
service cloud.firestore {
  match /databases/{database}/documents {
    match /{document=**} {
      allow read, write: if true;
    }
  }
}
";

/// The page of a coverage report. It takes the report in place of `{{report}}`.
const PAGE: &str = include_str!("coverage.html");

/// Answers what is asked of a project or database behind a colon.
pub(super) async fn serve(Shared(state): Shared<Arc<State>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let target = path.strip_prefix("/emulator/v1/projects/").and_then(|rest| {
        let (target, verb) = rest.rsplit_once(':')?;
        Some((Target::parse(target)?, verb))
    });
    let Some((target, verb)) = target else { return front::unknown_route(request).await };
    match (verb, request.method()) {
        ("securityRules", &Method::PUT) => match set(&state, target, request.into_body()).await {
            Ok(answer) => json_response(&answer),
            Err(status) => front::status_to_http(&status),
        },
        ("securityRules", &Method::GET) => json_response(&current(&state, &target)),
        ("ruleCoverage", &Method::GET) => json_response(&coverage(&state, &target)),
        ("ruleCoverage.html", &Method::GET) => page(&coverage(&state, &target)),
        _ => front::unknown_route(request).await,
    }
}

/// Whose rules a route is about.
struct Target {
    project: String,
    database: Option<String>,
}

impl Target {
    fn parse(path: &str) -> Option<Target> {
        let decode = |text: &str| {
            let decoded = percent_encoding::percent_decode_str(text).decode_utf8().ok()?;
            Some(decoded.into_owned()).filter(|id| !id.is_empty())
        };
        match path.split_once("/databases/") {
            Some((project, database)) => {
                Some(Target { project: decode(project)?, database: Some(decode(database)?) })
            }
            None => Some(Target { project: decode(path)?, database: None }),
        }
    }

    fn database(&self) -> DatabaseName {
        DatabaseName::new(&self.project, self.database.as_deref().unwrap_or("(default)"))
    }
}

async fn set(state: &State, target: Target, body: Body) -> Result<Value, Status> {
    let body = to_bytes(body, RULES_REQUEST_BYTES_MAX).await.map_err(|_| invalid())?;
    let upload = Upload::read(&body)?;
    let whose = match &target.database {
        Some(_) => Whose::Database(target.database()),
        None => Whose::Project(target.project),
    };
    match state.rules.set(whose, &upload.name, &upload.content) {
        Ok(loaded) => Ok(issues(&upload.name, loaded.ruleset.warnings())),
        // What is in force stays: a broken ruleset would refuse everything.
        Err(SetError::Source(error)) if upload.ignores_errors => {
            Ok(issues(&upload.name, &error.diagnostics))
        }
        Err(error) => Err(error.into()),
    }
}

/// The body of a request that sets rules. Of several files the first counts, as in the official emulator.
struct Upload {
    name: String,
    content: String,
    ignores_errors: bool,
}

impl Upload {
    fn read(body: &[u8]) -> Result<Upload, Status> {
        let body: Value = serde_json::from_slice(body).map_err(|_| invalid())?;
        let members = body.as_object().ok_or_else(invalid)?;
        let mut upload =
            Upload { name: String::new(), content: String::new(), ignores_errors: false };
        for (name, value) in members {
            match name.as_str() {
                "rules" => upload.read_files(value)?,
                "ignore_errors" | "ignoreErrors" => {
                    upload.ignores_errors = value.as_bool().ok_or_else(invalid)?;
                }
                _ => return Err(invalid()),
            }
        }
        match members.contains_key("rules") {
            true => Ok(upload),
            false => Err(Status::invalid_argument("`rules.files` must hold a file")),
        }
    }

    fn read_files(&mut self, rules: &Value) -> Result<(), Status> {
        let first = rules.get("files").and_then(|files| files.get(0));
        let first =
            first.ok_or_else(|| Status::invalid_argument("`rules.files` must hold a file"))?;
        let text = |name: &str| first.get(name).and_then(Value::as_str).map(str::to_owned);
        self.name = text("name").unwrap_or_else(|| "firestore.rules".to_owned());
        self.content = text("content").ok_or_else(invalid)?;
        Ok(())
    }
}

fn invalid() -> Status {
    Status::invalid_argument("Payload isn't valid for request.")
}

fn current(state: &State, target: &Target) -> Value {
    let rules = state.rules.of(&target.database());
    let (name, content, warnings) = match &rules {
        Some(rules) => {
            let Loaded { name, ruleset, .. } = &*rules.loaded;
            (name.as_str(), ruleset.source(), ruleset.warnings())
        }
        None => ("OPEN_RULES", OPEN_RULES, &[] as &[Diagnostic]),
    };
    let mut answer = json!({"rules": {"files": [{"content": content, "name": name}]}});
    if let (Some(members), Value::Object(issues)) = (answer.as_object_mut(), issues(name, warnings))
    {
        members.extend(issues);
    }
    answer
}

/// What the rules of a database came to since they were set.
fn coverage(state: &State, target: &Target) -> Value {
    match state.rules.of(&target.database()) {
        Some(rules) => report(&rules.loaded, &rules.recorder),
        None => current(state, target),
    }
}

/// The same as a page to look at.
fn page(report: &Value) -> Response {
    // Nothing of a source may end the script that it stands in.
    let data = report.to_string().replace('<', "\\u003c");
    let (head, tail) = PAGE.split_once("{{report}}").unwrap_or((PAGE, ""));
    ([(CONTENT_TYPE, "text/html; charset=utf-8")], [head, &data, tail].concat()).into_response()
}

/// Findings as clients read them; nothing where there are none.
fn issues(name: &str, found: &[Diagnostic]) -> Value {
    if found.is_empty() {
        return json!({});
    }
    let issue = |found: &Diagnostic| {
        let Position { line, column, .. } = found.position;
        // A finding about the whole source has no place in it.
        let position = match line {
            0 => json!({"fileName": name}),
            _ => json!({"fileName": name, "line": line, "column": column}),
        };
        let severity = match found.severity {
            Severity::Error => "ERROR",
            Severity::Warning => "WARNING",
        };
        json!({"sourcePosition": position, "description": found.text, "severity": severity})
    };
    json!({"issues": found.iter().map(issue).collect::<Vec<_>>()})
}

fn json_response(body: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

//! What the program that has started the suite asks of rules: setting them, and deciding a request that nobody
//! sends.

use std::sync::Arc;

use base_status::Status;
use base_token::{Claims, Identity};
use base_value::{
    CollectionPath, DatabaseName, DocumentPath, FieldPath, Fields, ResourcePath, key,
};
use bytes::Bytes;
use engine_query::{FieldOp, Filter, From, Query};
use engine_rules::{
    Attempt, Decision, Document, Documents, DocumentsError, Method, NewResource, Outcome, Request,
    Session, View,
};
use engine_store::Snapshot;
use serde_json::{Map, Value as Json, json};

use super::denial::explanation;
use super::documents::{StoredDocument, fields_of, value_of};
use super::guard::{self, Guard, ReadKind, key_of};
use super::rules::{Whose, line};
use crate::state::State;

/// What is asked.
struct Asked {
    database: DatabaseName,
    method: Method,
    path: ResourcePath,
    caller: Identity,
    data: Option<Fields>,
    filter: Option<Filter>,
    limit: Option<u32>,
}

/// Decides what `asked` describes, and says why. Nothing is read but what rules read, and nothing is written.
///
/// # Errors
/// INVALID_ARGUMENT where it describes no request.
pub(crate) fn explain(state: &State, asked: &Json) -> Result<Json, Status> {
    let asked = Asked::read(&state.project, asked).map_err(Status::invalid_argument)?;
    let Some(guard) = guard::guard(state, &asked.caller, &asked.database) else {
        let text = "there are no rules, so everything is open to everybody";
        return Ok(json!({
            "allowed": true, "message": "", "rules": null, "attempts": [], "debug": [],
            "explanation": text,
        }));
    };
    let snapshot = state.database(&asked.database)?.snapshot();
    let (decision, message) = match asked.method {
        Method::List => list(&guard, &asked, &snapshot)?,
        _ => document(&guard, &asked, &snapshot)?,
    };
    let path = format!("databases/{}/documents/{}", asked.database.database, asked.path);
    let rules = &guard.rules.loaded.name;
    Ok(json!({
        "allowed": decision.allowed,
        "message": message,
        "rules": rules,
        "attempts": decision.attempts.iter().map(attempt).collect::<Vec<_>>(),
        "debug": decision.debug.iter().map(|one| json!({
            "line": one.position.line, "column": one.position.column, "value": one.value,
        })).collect::<Vec<_>>(),
        "explanation": explanation(rules, asked.method, &path, &decision),
    }))
}

/// Sets the rules of every database, or those of one project or one database; answers what they are warned of.
///
/// # Errors
/// INVALID_ARGUMENT with everything that is wrong with the source; what is in force stays then.
pub(crate) fn set_rules(state: &State, asked: &Json) -> Result<Json, Status> {
    let text = |name: &str| asked.get(name).and_then(Json::as_str);
    let source = text("source").unwrap_or_default();
    let whose = match (text("project"), text("database")) {
        (None, None) => Whose::Everybody,
        (Some(project), None) => Whose::Project(project.to_owned()),
        (project, Some(database)) => {
            Whose::Database(DatabaseName::new(project.unwrap_or(&state.project), database))
        }
    };
    let name = "firestore.rules";
    let loaded = state.rules.set(whose, name, source)?;
    let warnings = loaded.ruleset.warnings().iter().map(|found| line(name, found));
    Ok(json!({"warnings": warnings.collect::<Vec<_>>()}))
}

fn document(
    guard: &Guard,
    asked: &Asked,
    snapshot: &Snapshot,
) -> Result<(Decision, String), Status> {
    let path = DocumentPath::try_from(asked.path.clone())
        .map_err(|_| Status::invalid_argument("`path` must be the path of a document"))?;
    let whole = guard.path(&path);
    let stored = guard::stored(&path, snapshot);
    let members = match asked.method {
        Method::Get | Method::List => guard.read_members(ReadKind::Alone),
        Method::Create | Method::Update | Method::Delete => super::write::plain_members(),
    };
    let after = asked.data.clone().map(Arc::new);
    let request = Request {
        new_resource: match (asked.method, &after) {
            (Method::Create | Method::Update, Some(fields)) => NewResource::Present(&**fields),
            (Method::Delete, _) => NewResource::Null,
            _ => NewResource::Absent,
        },
        ..guard.request(asked.method, &whole, guard::resource(&stored), &members)
    };
    let is_write = matches!(asked.method, Method::Create | Method::Update | Method::Delete);
    let written = is_write.then(|| (key::document(&path), after.clone()));
    let documents = Supposed { snapshot, written };
    let session = Session::single(&documents);
    let decision = guard.rules.loaded.ruleset.decide_in(&request, &session, None);
    let message = decision.message(asked.method);
    Ok((decision, message))
}

fn list(guard: &Guard, asked: &Asked, snapshot: &Snapshot) -> Result<(Decision, String), Status> {
    let collection = CollectionPath::try_from(asked.path.clone())
        .map_err(|_| Status::invalid_argument("`path` must be the path of a collection"))?;
    let from = From::Collection(collection.id().to_owned());
    let query = Query {
        filter: asked.filter.clone(),
        limit: asked.limit,
        ..Query::new(collection.parent(), from)
    };
    let decision = guard.decide_list(&query, snapshot)?;
    let message = decision.message(Method::List);
    Ok((decision, message))
}

fn attempt(attempt: &Attempt) -> Json {
    let (outcome, error) = match &attempt.outcome {
        Outcome::Granted => ("granted", None),
        Outcome::False => ("false", None),
        Outcome::Failed { text, .. } => ("error", Some(text)),
    };
    let wildcards: Map<String, Json> =
        attempt.wildcards.iter().map(|(name, value)| (name.clone(), json!(value))).collect();
    let deciding = attempt.deciding.as_ref().map(|deciding| {
        let operands = deciding.operands.iter().map(|operand| {
            json!({"text": operand.text, "value": operand.outcome.as_ref().ok(),
                "error": operand.outcome.as_ref().err()})
        });
        json!({
            "text": deciding.text,
            "line": deciding.start.line,
            "column": deciding.start.column,
            "value": deciding.outcome.as_ref().ok(),
            "error": deciding.outcome.as_ref().err(),
            "operands": operands.collect::<Vec<_>>(),
        })
    });
    json!({
        "match": attempt.pattern,
        "wildcards": wildcards,
        "line": attempt.position.line,
        "column": attempt.position.column,
        "outcome": outcome,
        "error": error,
        "deciding": deciding,
    })
}

impl Asked {
    fn read(project: &str, asked: &Json) -> Result<Asked, String> {
        let text = |name: &str| match asked.get(name) {
            None | Some(Json::Null) => Ok(None),
            Some(Json::String(text)) if !text.is_empty() => Ok(Some(text.as_str())),
            Some(_) => Err(format!("`{name}` must be a string")),
        };
        let project = text("project")?.unwrap_or(project);
        let database = text("database")?.unwrap_or("(default)");
        let method = match text("method")? {
            Some("get") => Method::Get,
            Some("list") => Method::List,
            Some("create") => Method::Create,
            Some("update") => Method::Update,
            Some("delete") => Method::Delete,
            _ => return Err("`method` must be get, list, create, update or delete".to_owned()),
        };
        let path = text("path")?.ok_or("`path` must be a path such as `notes/a`")?;
        let path =
            ResourcePath::parse(path.trim_matches('/')).map_err(|error| error.to_string())?;
        let data = match asked.get("data") {
            None | Some(Json::Null) => None,
            Some(Json::Object(members)) => Some(fields_of(members)),
            Some(_) => return Err("`data` must be an object".to_owned()),
        };
        let writes = matches!(method, Method::Create | Method::Update);
        if writes != data.is_some() {
            let text = "`data`, the document after the write, goes with `create` and `update`";
            return Err(text.to_owned());
        }
        let filter = asked.get("where").filter(|value| !value.is_null()).map(filter).transpose()?;
        let limit = match asked.get("limit") {
            None | Some(Json::Null) => None,
            Some(limit) => {
                let limit = limit.as_u64().and_then(|limit| u32::try_from(limit).ok());
                Some(limit.ok_or("`limit` must be an integer")?)
            }
        };
        if method != Method::List && (filter.is_some() || limit.is_some()) {
            return Err("`where` and `limit` go with `list`".to_owned());
        }
        let caller = caller(asked.get("auth"))?;
        let database = DatabaseName::new(project, database);
        Ok(Asked { database, method, path, caller, data, filter, limit })
    }
}

/// Who is to ask: nobody, or somebody with these claims.
fn caller(auth: Option<&Json>) -> Result<Identity, String> {
    let members = match auth {
        None | Some(Json::Null) => return Ok(Identity::Anonymous),
        Some(Json::Object(members)) => members,
        Some(_) => return Err("`auth` must be null or an object with `uid` and `token`".to_owned()),
    };
    if let Some(other) = members.keys().find(|name| !matches!(name.as_str(), "uid" | "token")) {
        return Err(format!("`auth` has `uid` and `token`, the claims, and no `{other}`"));
    }
    let uid = match members.get("uid") {
        Some(Json::String(uid)) => uid.clone(),
        _ => return Err("`auth.uid` must be a string".to_owned()),
    };
    let mut all = match members.get("token") {
        None | Some(Json::Null) => Map::new(),
        Some(Json::Object(claims)) => claims.clone(),
        Some(_) => return Err("`auth.token` must be an object".to_owned()),
    };
    for name in ["sub", "user_id"] {
        all.entry(name).or_insert_with(|| Json::from(uid.clone()));
    }
    Ok(Identity::User(Arc::new(Claims { sub: Some(uid), all })))
}

/// Filters as lists of path, operator and value.
fn filter(filters: &Json) -> Result<Filter, String> {
    const FORM: &str = "`where` must be a list of lists such as `['owner', '==', 'alice']`";
    let all = filters.as_array().ok_or(FORM)?.iter().map(|one| {
        let [Json::String(path), Json::String(op), value] = one.as_array().ok_or(FORM)?.as_slice()
        else {
            return Err(FORM.to_owned());
        };
        let path = FieldPath::parse(path).map_err(|error| error.to_string())?;
        let op = match op.as_str() {
            "==" => FieldOp::Equal,
            "!=" => FieldOp::NotEqual,
            "<" => FieldOp::LessThan,
            "<=" => FieldOp::LessThanOrEqual,
            ">" => FieldOp::GreaterThan,
            ">=" => FieldOp::GreaterThanOrEqual,
            "in" => FieldOp::In,
            "not-in" => FieldOp::NotIn,
            "array-contains" => FieldOp::ArrayContains,
            "array-contains-any" => FieldOp::ArrayContainsAny,
            other => return Err(format!("`{other}` is no operator of a filter")),
        };
        Ok(Filter::field(path, op, value_of(value)))
    });
    Ok(Filter::and(all.collect::<Result<Vec<_>, String>>()?))
}

/// What is stored, with one document as the request would leave it.
struct Supposed<'s> {
    snapshot: &'s Snapshot,
    /// The key of what is written, and what it is then.
    written: Option<(Bytes, Option<Arc<Fields>>)>,
}

impl Documents for Supposed<'_> {
    fn document(
        &self,
        view: View,
        _database: &str,
        path: &[&str],
    ) -> Result<Option<Arc<dyn Document>>, DocumentsError> {
        let Some(key) = key_of(path) else { return Ok(None) };
        if let (View::After, Some((written, after))) = (view, &self.written)
            && *written == key
        {
            return Ok(after.clone().map(|fields| fields as Arc<dyn Document>));
        }
        let record = self.snapshot.get(&key);
        Ok(record.map(|record| Arc::new(StoredDocument::new(record.value)) as Arc<dyn Document>))
    }
}

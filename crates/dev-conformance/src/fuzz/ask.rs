//! One request, whatever it travels by: the method and its message as JSON.

use serde_json::{Map, Value};

/// A method of `google.firestore.v1.Firestore`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Method {
    GetDocument,
    ListDocuments,
    CreateDocument,
    UpdateDocument,
    DeleteDocument,
    BatchGetDocuments,
    BeginTransaction,
    Commit,
    Rollback,
    BatchWrite,
    RunQuery,
    RunAggregationQuery,
    PartitionQuery,
    ListCollectionIds,
}

impl Method {
    pub(super) fn name(self) -> &'static str {
        match self {
            Method::GetDocument => "GetDocument",
            Method::ListDocuments => "ListDocuments",
            Method::CreateDocument => "CreateDocument",
            Method::UpdateDocument => "UpdateDocument",
            Method::DeleteDocument => "DeleteDocument",
            Method::BatchGetDocuments => "BatchGetDocuments",
            Method::BeginTransaction => "BeginTransaction",
            Method::Commit => "Commit",
            Method::Rollback => "Rollback",
            Method::BatchWrite => "BatchWrite",
            Method::RunQuery => "RunQuery",
            Method::RunAggregationQuery => "RunAggregationQuery",
            Method::PartitionQuery => "PartitionQuery",
            Method::ListCollectionIds => "ListCollectionIds",
        }
    }

    /// Whether it can change documents.
    pub(super) fn writes(self) -> bool {
        matches!(
            self,
            Method::CreateDocument
                | Method::UpdateDocument
                | Method::DeleteDocument
                | Method::Commit
                | Method::BatchWrite
        )
    }
}

/// How a request travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Rest,
    Grpc,
}

/// One request.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) transport: Transport,
    /// The request message as JSON, its names and paths included.
    pub(super) message: Value,
}

/// An HTTP request.
#[derive(Debug)]
pub(super) struct Rest {
    pub(super) verb: &'static str,
    pub(super) target: String,
    pub(super) body: Option<Value>,
}

impl Ask {
    pub(super) fn new(method: Method, message: Value) -> Self {
        Ask { method, transport: Transport::Rest, message }
    }

    /// The request over REST: names go into the path, what a GET or DELETE has besides into the query.
    pub(super) fn rest(&self) -> Rest {
        let mut rest = self.message.as_object().cloned().unwrap_or_default();
        let post = |target: String, rest: Map<String, Value>| Rest {
            verb: "POST",
            target,
            body: Some(Value::Object(rest)),
        };
        match self.method {
            Method::GetDocument => {
                let name = path(&mut rest, "name");
                Rest { verb: "GET", target: format!("/v1/{name}{}", query(&rest)), body: None }
            }
            Method::ListDocuments => {
                let parent = path(&mut rest, "parent");
                let id = path(&mut rest, "collectionId");
                let target = format!("/v1/{parent}/{id}{}", query(&rest));
                Rest { verb: "GET", target, body: None }
            }
            Method::DeleteDocument => {
                let name = path(&mut rest, "name");
                Rest { verb: "DELETE", target: format!("/v1/{name}{}", query(&rest)), body: None }
            }
            Method::CreateDocument => {
                let parent = path(&mut rest, "parent");
                let id = path(&mut rest, "collectionId");
                let body = rest.remove("document");
                let target = format!("/v1/{parent}/{id}{}", query(&rest));
                Rest { verb: "POST", target, body }
            }
            Method::UpdateDocument => {
                let mut body = rest.remove("document").unwrap_or_default();
                let name = body.as_object_mut().map(|document| path(document, "name"));
                let name = name.unwrap_or_default();
                let target = format!("/v1/{name}{}", query(&rest));
                Rest { verb: "PATCH", target, body: Some(body) }
            }
            Method::RunQuery => post(below(&mut rest, "parent", "runQuery"), rest),
            Method::RunAggregationQuery => {
                post(below(&mut rest, "parent", "runAggregationQuery"), rest)
            }
            Method::PartitionQuery => post(below(&mut rest, "parent", "partitionQuery"), rest),
            Method::ListCollectionIds => {
                post(below(&mut rest, "parent", "listCollectionIds"), rest)
            }
            Method::BatchGetDocuments => post(of_database(&mut rest, "batchGet"), rest),
            Method::BeginTransaction => post(of_database(&mut rest, "beginTransaction"), rest),
            Method::Commit => post(of_database(&mut rest, "commit"), rest),
            Method::Rollback => post(of_database(&mut rest, "rollback"), rest),
            Method::BatchWrite => post(of_database(&mut rest, "batchWrite"), rest),
        }
    }
}

fn text(members: &mut Map<String, Value>, name: &str) -> String {
    members.remove(name).and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

/// A name as a URL's path has it.
fn path(members: &mut Map<String, Value>, name: &str) -> String {
    encode(&text(members, name), b"/:()-_.~")
}

fn below(members: &mut Map<String, Value>, name: &str, verb: &str) -> String {
    format!("/v1/{}:{verb}", path(members, name))
}

fn of_database(members: &mut Map<String, Value>, verb: &str) -> String {
    format!("/v1/{}/documents:{verb}", path(members, "database"))
}

fn query(members: &Map<String, Value>) -> String {
    let mut pairs = Vec::new();
    for (name, value) in members {
        flatten(name, value, &mut pairs);
    }
    if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
}

fn flatten(name: &str, value: &Value, pairs: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                flatten(&format!("{name}.{member}"), value, pairs);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| flatten(name, item, pairs)),
        Value::String(text) => pairs.push(format!("{name}={}", encode(text, b"-_.~"))),
        other => pairs.push(format!("{name}={other}")),
    }
}

fn encode(text: &str, plain: &[u8]) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || plain.contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

//! The admin API as clients meet it, where a client of Google's cannot be used: who may, and what stands in
//! names.

use axum::body::Body;
use base_wire::google::firestore::admin::v1 as wire;
use http::{Method, Request};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use svc_kit::Service;
use tower::ServiceExt;

use crate::server::Server;

/// A request over REST, answered as status and JSON.
async fn rest(
    server: &Server,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: &Value,
) -> (u16, Value) {
    let mut request = Request::builder().method(method).uri(format!("http://firelet{path}"));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let body = if body.is_null() { Body::empty() } else { Body::from(body.to_string()) };
    let request = request.body(body).expect("a request");
    let Ok(answer) = server.firestore.router().oneshot(request).await;
    let status = answer.status().as_u16();
    let bytes = answer.into_body().collect().await.expect("a whole answer").to_bytes();
    (status, serde_json::from_slice(&bytes).unwrap_or(Value::Null))
}

async fn check(server: &Server, method: Method, path: &str, body: Value, status: u16, text: &str) {
    let (found, answer) = rest(server, method.clone(), path, &[], &body).await;
    assert_eq!(found, status, "{method} {path} {body}: {answer}");
    assert!(answer.to_string().contains(text), "{method} {path} {body}: {answer}");
}

#[tokio::test]
async fn refusals_have_their_codes() {
    let server = Server::new(1);
    let indexes = "/v1/projects/p/databases/(default)/collectionGroups/c/indexes";
    let index = |fields: Value| json!({"queryScope": "COLLECTION", "fields": fields});
    let up = |path: &str| json!({"fieldPath": path, "order": "ASCENDING"});
    let tags = |path: &str| json!({"fieldPath": path, "arrayConfig": "CONTAINS"});
    let table = [
        (index(json!([])), "no field beside"),
        (index(json!([up("a")])), "this index is not necessary, configure using single field"),
        (index(json!([up("a"), up("__name__")])), "this index is not necessary"),
        (index(json!([up("a"), up("a")])), "twice"),
        (index(json!([up("a"), {"fieldPath": "b"}])), "No valid order or array config provided"),
        (index(json!([tags("a"), tags("b")])), "more than one array field"),
        (index(json!([up("a..b"), up("b")])), "a..b"),
        (json!({"fields": [up("a"), up("b")]}), "query_scope"),
        (
            json!({"queryScope": "COLLECTION_RECURSIVE", "fields": [up("a"), up("b")]}),
            "query_scope",
        ),
        (
            json!({"queryScope": "COLLECTION", "apiScope": "DATASTORE_MODE_API", "fields": [up("a"), up("b")]}),
            "api_scope",
        ),
    ];
    for (body, text) in table {
        check(&server, Method::POST, indexes, body, 400, text).await;
    }
    let good = index(json!([up("a"), up("b")]));
    let missing = indexes.replace("(default)", "missing");
    let text = "Project 'p' or database 'missing' does not exist.";
    check(&server, Method::POST, &missing, good.clone(), 404, text).await;
    check(&server, Method::POST, indexes, good.clone(), 200, "\"done\":true").await;
    check(&server, Method::POST, indexes, good, 409, "index already exists").await;
    check(&server, Method::GET, &format!("{indexes}/none"), Value::Null, 404, "there is no").await;

    let fields = "/v1/projects/p/databases/(default)/collectionGroups/c/fields";
    let ttl = json!({"ttlConfig": {}});
    check(&server, Method::PATCH, &format!("{fields}/*"), ttl.clone(), 400, "TTL policy").await;
    check(&server, Method::PATCH, &format!("{fields}/a"), ttl.clone(), 200, "ACTIVE").await;
    check(&server, Method::PATCH, &format!("{fields}/b"), ttl, 400, "has a TTL policy").await;
    // Without a mask everything is set, and so is what is left out.
    check(&server, Method::PATCH, &format!("{fields}/a"), json!({}), 200, "REMOVE").await;
    let one = format!("{fields}/a?updateMask=ttl");
    check(&server, Method::PATCH, &one, json!({}), 400, "update_mask").await;
    check(&server, Method::GET, fields, Value::Null, 400, "explicitly overridden").await;

    let databases = "/v1/projects/p/databases";
    let native = json!({"type": "FIRESTORE_NATIVE", "locationId": "nam5"});
    let bad_id = format!("{databases}?databaseId=No");
    check(&server, Method::POST, &bad_id, native, 400, "Invalid database ID 'No'").await;
    let shop = format!("{databases}?databaseId=shop");
    for (body, status, text) in [
        (json!({"locationId": "nam5"}), 400, "type"),
        (json!({"type": "FIRESTORE_NATIVE"}), 400, "location_id"),
        (json!({"type": "DATASTORE_MODE", "locationId": "nam5"}), 501, "Datastore mode"),
    ] {
        check(&server, Method::POST, &shop, body, status, text).await;
    }
    let operation = format!("{databases}/(default)/operations/none");
    check(&server, Method::GET, &operation, Value::Null, 404, "there is no operation").await;
    let export = format!("{databases}/(default):exportDocuments");
    check(&server, Method::POST, &export, json!({}), 501, "ExportDocuments").await;
}

#[tokio::test]
async fn an_app_s_users_and_foreign_pages_may_not() {
    let server = Server::new(1);
    let path = "/v1/projects/p/databases";
    // `{}` and `{"sub":"u"}`, not signed.
    let user = ("authorization", "Bearer e30.eyJzdWIiOiJ1In0.");
    for (headers, status) in [
        (vec![], 200),
        (vec![("authorization", "Bearer owner")], 200),
        (vec![user], 403),
        (vec![("origin", "http://localhost:5173")], 200),
        (vec![("origin", "https://evil.example")], 403),
    ] {
        let (found, answer) = rest(&server, Method::GET, path, &headers, &Value::Null).await;
        assert_eq!(found, status, "{headers:?}: {answer}");
    }
}

#[tokio::test]
async fn a_project_becomes_a_copy_of_another_one_again_and_again() {
    let server = Server::new(1);
    let document = |project: &str, id: &str| {
        format!("/v1/projects/{project}/databases/(default)/documents/books/{id}")
    };
    let fork = "/emulator/v1/projects/copy/fork-of/p";
    let written = json!({"fields": {"n": {"integerValue": "1"}}});
    check(&server, Method::PATCH, &document("p", "a"), written.clone(), 200, "books/a").await;
    for _ in 0..2 {
        check(&server, Method::POST, fork, Value::Null, 200, "{}").await;
        let copied = "projects/copy/databases/(default)/documents/books/a";
        check(&server, Method::GET, &document("copy", "a"), Value::Null, 200, copied).await;
        check(&server, Method::GET, &document("copy", "b"), Value::Null, 404, "NOT_FOUND").await;
        check(&server, Method::PATCH, &document("copy", "b"), written.clone(), 200, "b").await;
        check(&server, Method::DELETE, &document("copy", "a"), Value::Null, 200, "{}").await;
    }
    check(&server, Method::GET, &document("p", "b"), Value::Null, 404, "NOT_FOUND").await;
    let itself = "/emulator/v1/projects/p/fork-of/p";
    check(&server, Method::POST, itself, Value::Null, 400, "cannot be a fork of itself").await;
    check(&server, Method::GET, fork, Value::Null, 404, "").await;
    let foreign = [("origin", "https://evil.example")];
    let (status, _) = rest(&server, Method::POST, fork, &foreign, &Value::Null).await;
    assert_eq!(status, 403);
}

#[tokio::test]
async fn lists_have_pages() {
    let server = Server::new(1);
    let group = "/v1/projects/p/databases/(default)/collectionGroups";
    for number in 0..5 {
        let fields = json!([
            {"fieldPath": "a", "order": "ASCENDING"},
            {"fieldPath": format!("f{number}"), "order": "DESCENDING"},
        ]);
        let index = json!({"queryScope": "COLLECTION_GROUP", "fields": fields});
        check(&server, Method::POST, &format!("{group}/c{number}/indexes"), index, 200, "READY")
            .await;
    }
    let mut seen = Vec::new();
    let mut token = String::new();
    for expected in [2, 2, 1] {
        let path = format!("{group}/-/indexes?pageSize=2&pageToken={token}");
        let (_, page) = rest(&server, Method::GET, &path, &[], &Value::Null).await;
        let indexes = page["indexes"].as_array().unwrap();
        assert_eq!(indexes.len(), expected, "{page}");
        seen.extend(indexes.iter().map(|index| index["name"].as_str().unwrap().to_owned()));
        token = page["nextPageToken"].as_str().unwrap_or_default().to_owned();
    }
    assert_eq!(token, "");
    assert!(seen.is_sorted() && seen.len() == 5, "{seen:?}");
    let path = format!("{group}/-/indexes?pageToken=x");
    check(&server, Method::GET, &path, Value::Null, 400, "invalid page token").await;
}

#[tokio::test]
async fn every_method_that_is_missing_says_its_name() {
    let server = Server::new(1);
    let pool = base_wire::admin_descriptor_pool();
    let service = pool.get_service_by_name("google.firestore.admin.v1.FirestoreAdmin").unwrap();
    let mut missing = 0;
    for method in service.methods() {
        let answered: Result<wire::Database, _> =
            server.call_of(service.full_name(), method.name(), &()).await;
        if let Err(failure) = answered
            && failure.code == 12
        {
            assert_eq!(failure.message, format!("firelet does not have {} yet", method.name()));
            missing += 1;
        }
    }
    assert_eq!(missing, 20);
}

//! REST routes out of annotations.

use http::Method;
use serde_json::{Value, json};

use crate::client::{Http, address, request, rest, send, serve};
use crate::service::BODY_BYTES_MAX;

/// Sends a request and compares the whole body as JSON.
async fn check(method: Method, path: &str, body: &str, status: u16, expected: Value) {
    let serving = serve();
    let answer = rest(address(&serving), method.clone(), path, body).await;
    assert_eq!(answer.status.as_u16(), status, "{method} {path}: {answer:?}");
    assert_eq!(answer.header("content-type"), Some("application/json"), "{method} {path}");
    assert_eq!(answer.json(), expected, "{method} {path}");
}

/// A request whose message the service sends back as text in `title` or `echo`.
async fn check_message(method: Method, path: &str, body: &str, expected: Value) {
    let serving = serve();
    let answer = rest(address(&serving), method.clone(), path, body).await;
    assert_eq!(answer.status, 200, "{method} {path}: {answer:?}");
    let answer = answer.json();
    let text = answer.get("title").or(answer.get("echo")).and_then(Value::as_str);
    let text = text.unwrap_or_else(|| panic!("{method} {path}: {answer}"));
    let message = text.get(text.find('{').expect("a message")..).expect("a message");
    let message: Value = serde_json::from_str(message).expect("JSON");
    assert_eq!(message, expected, "{method} {path}");
}

async fn check_error(method: Method, path: &str, body: &str, message: &str) {
    let error = json!({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}});
    check(method, path, body, 400, error).await;
}

async fn check_unknown(method: Method, path: &str) {
    for http in [Http::One, Http::Two] {
        let serving = serve();
        let to = address(&serving);
        let answer = send(to, http, request(to, method.clone(), path, &[], "")).await;
        assert_eq!(answer.status, 404, "{method} {path}");
        assert_eq!(answer.header("content-type"), None, "{method} {path}");
        if method != Method::HEAD {
            assert_eq!(answer.text(), "Not Found\n", "{method} {path}");
        }
    }
}

#[tokio::test]
async fn paths_and_queries_become_messages() {
    let get = Method::GET;
    let table = [
        ("/v1/shelves/a", json!({"name": "shelves/a"})),
        ("/v1beta1/shelves/a", json!({"name": "shelves/a"})),
        ("/v1/shelves/a/books/b:c", json!({"name": "shelves/a/books/b:c"})),
        // Other methods have these verbs, this one may have them in a name.
        ("/v1/shelves/a/books/b:echo", json!({"name": "shelves/a/books/b:echo"})),
        ("/v1/shelves/a/books/%C3%BC%20%2F", json!({"name": "shelves/a/books/\u{fc} %2F"})),
        (
            "/v1/shelves/a?mask.fieldPaths=x&mask.fieldPaths=y&readTime=2020-01-01T00:00:00Z&key=k",
            json!({"name": "shelves/a", "mask": {"fieldPaths": ["x", "y"]}, "readTime": "2020-01-01T00:00:00Z"}),
        ),
        ("/v1/shelves/a/books", json!({"parent": "shelves/a", "collection": "books"})),
        ("/v1/shelves/a/", json!({"parent": "shelves/a"})),
        (
            "/v1/shelves/a/books/b/pages?page_size=3&order=UP",
            json!({"parent": "shelves/a/books/b", "collection": "pages", "pageSize": 3, "order": "UP"}),
        ),
        // The path wins over the query.
        ("/v1/shelves/a?name=b", json!({"name": "shelves/a"})),
    ];
    for (path, message) in table {
        check_message(get.clone(), path, "", message).await;
    }
}

#[tokio::test]
async fn bodies_become_messages() {
    let post = Method::POST;
    let book = json!({"name": "n", "pages": {"a": {"number": "1"}, "b": {"none": null}, "c": {"blank": false}}});
    let expected =
        json!({"parent": "shelves/s", "collection": "books", "bookId": "i", "book": book});
    for body in [
        r#"{"name":"n","pages":{"a":{"number":"1"},"b":{"none":null},"c":{"blank":false}}}"#,
        r#" {"name":"n","pages":{"a":{"number":1},"b":{"none":"NULL_VALUE"},"c":{"blank":false}}} "#,
    ] {
        check_message(post.clone(), "/v1/shelves/s/books?bookId=i", body, expected.clone()).await;
    }
    let empty = json!({"parent": "shelves", "collection": "books", "book": {}});
    for body in ["", "{}", " \n", "\"\""] {
        check_message(post.clone(), "/v1/shelves/books", body, empty.clone()).await;
    }
    check_message(
        Method::PATCH,
        "/v1/shelves/s/books/b?updateMask.fieldPaths=title",
        r#"{"title":"t","name":"ignored"}"#,
        json!({"book": {"name": "shelves/s/books/b", "title": "t"}, "updateMask": {"fieldPaths": ["title"]}}),
    )
    .await;
}

#[tokio::test]
async fn the_type_of_a_body_does_not_matter() {
    let serving = serve();
    let to = address(&serving);
    for kind in
        ["text/plain", "application/x-www-form-urlencoded", "application/json; charset=x", "a"]
    {
        for http in [Http::One, Http::Two] {
            let headers = [("content-type", kind)];
            let body = r#"{"text":"x"}"#;
            let request = request(to, Method::POST, "/v1/echo:echo", &headers, body);
            let answer = send(to, http, request).await;
            assert_eq!(answer.text(), "{\n  \"text\": \"x\"\n}\n", "{kind}");
        }
    }
}

#[tokio::test]
async fn answers_are_pretty_unless_asked_otherwise() {
    let serving = serve();
    let to = address(&serving);
    let body = r#"{"children":[{"count":0},{}],"byName":{"a":1}}"#;
    let answer = rest(to, Method::POST, "/v1/echo:echo", body).await;
    let pretty = "{\n  \"children\": [{\n    \"count\": \"0\"\n  }, {\n  }],\n  \"byName\": {\n    \"a\": \"1\"\n  }\n}\n";
    assert_eq!(answer.text(), pretty);
    let answer = rest(to, Method::POST, "/v1/echo:echo?prettyPrint=false", body).await;
    assert_eq!(answer.text(), "{\"children\":[{\"count\":\"0\"},{}],\"byName\":{\"a\":\"1\"}}\n");
    let answer = rest(to, Method::DELETE, "/v1/shelves/a", "").await;
    assert_eq!(answer.text(), "{\n}\n");
}

#[tokio::test]
async fn streams_become_arrays() {
    let book = |number: usize| json!({"name": format!("book{number}")});
    let aborted = json!({"error": {"code": 409, "message": "failed late", "status": "ABORTED"}});
    let read = "/v1/shelves/a:read";
    let post = Method::POST;
    check(post.clone(), read, "{}", 200, json!([])).await;
    check(post.clone(), read, r#"{"count":1}"#, 200, json!([book(0)])).await;
    let many: Vec<Value> = (0..500).map(book).collect();
    check(post.clone(), read, r#"{"count":500}"#, 200, json!(many)).await;
    let late = json!([book(0), book(1), aborted]);
    check(post.clone(), read, r#"{"count":2,"then":"fail"}"#, 200, late).await;
    check(post.clone(), read, r#"{"then":"fail"}"#, 409, json!([aborted])).await;
    let refused =
        json!([{"error": {"code": 400, "message": "refused", "status": "FAILED_PRECONDITION"}}]);
    check(post, read, r#"{"then":"refuse"}"#, 400, refused).await;

    let serving = serve();
    let answer = rest(address(&serving), Method::POST, read, r#"{"count":2}"#).await;
    assert_eq!(answer.text(), "[{\n  \"name\": \"book0\"\n}, {\n  \"name\": \"book1\"\n}]\n");
}

#[tokio::test]
async fn errors_have_their_http_status_and_details() {
    check(
        Method::GET,
        "/v1/shelves/missing",
        "",
        404,
        json!({"error": {"code": 404, "message": "Book (shelves/missing) not found.", "status": "NOT_FOUND"}}),
    )
    .await;
    check(
        Method::GET,
        "/v1/shelves/detailed",
        "",
        400,
        json!({"error": {"code": 400, "message": "with details", "status": "FAILED_PRECONDITION", "details": [
            {"@type": "type.googleapis.com/library.v1.Mask", "fieldPaths": ["a"]},
            {"@type": "type.googleapis.com/un.Known", "value": "AQI="},
        ]}}),
    )
    .await;
}

#[tokio::test]
async fn bad_payloads() {
    let post = Method::POST;
    let echo = "/v1/echo:echo";
    let table = [
        ("{", "Invalid JSON payload received. Unexpected end of string. Expected a value.\n\n^"),
        (
            "{} x",
            "Invalid JSON payload received. Unexpected token (trailing characters at line 1 column 4).\n{} x\n   ^",
        ),
        ("[]", "Invalid JSON payload received. Unknown name \"\": Root element must be a message."),
        (r#"{"x":1}"#, "Invalid JSON payload received. Unknown name \"x\": Cannot find field."),
        (
            r#"{"child":{"it's":1}}"#,
            "Invalid JSON payload received. Unknown name \"it's\" at 'child': Cannot find field.",
        ),
        (
            r#"{"count":"9223372036854775808"}"#,
            "Invalid value at 'count' (TYPE_INT64), \"9223372036854775808\"",
        ),
        (
            r#"{"order":"SIDEWAYS"}"#,
            "Invalid value at 'order' (type.googleapis.com/library.v1.Order), \"SIDEWAYS\"",
        ),
        (
            r#"{"yes":true,"count":1}"#,
            "Invalid value (oneof), oneof field 'choice' is already set. Cannot set 'count'",
        ),
    ];
    for (body, reason) in table {
        let serving = serve();
        let answer = rest(address(&serving), post.clone(), echo, body).await;
        let message = answer.json()["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(message, reason, "{body}");
        check_error(post.clone(), echo, body, &message).await;
    }
    for body in
        [r#"{"bytes":"not base64!"}"#, r#"{"at":"yesterday"}"#, r#"{"at":"0000-01-01T00:00:00Z"}"#]
    {
        let serving = serve();
        let answer = rest(address(&serving), post.clone(), echo, body).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
        assert_eq!(answer.json()["error"]["status"], "INVALID_ARGUMENT", "{body}");
    }
}

#[tokio::test]
async fn bad_queries() {
    check_error(
        Method::GET,
        "/v1/shelves/a?foo=1",
        "",
        "Invalid JSON payload received. Unknown name \"foo\": Cannot bind query parameter. Field 'foo' could not be found in request message.",
    )
    .await;
    check_error(
        Method::GET,
        "/v1/shelves/a/books?pageSize=x",
        "",
        "Invalid value at 'page_size' (TYPE_INT32), \"x\"",
    )
    .await;
    check_error(
        Method::GET,
        "/v1/shelves/a%FF",
        "",
        "The path segment \"a%FF\" is not UTF-8 when decoded.",
    )
    .await;
}

#[tokio::test]
async fn large_bodies_are_refused() {
    let limit = BODY_BYTES_MAX;
    let expected = json!({"error": {
        "code": 413,
        "message": format!("Request payload size exceeds the limit: {limit} bytes."),
        "status": "INVALID_ARGUMENT",
    }});
    let body = format!(r#"{{"text":"{}"}}"#, "x".repeat(limit));
    check(Method::POST, "/v1/echo:echo", &body, 413, expected.clone()).await;

    // Without a length told beforehand.
    let serving = serve();
    let to = address(&serving);
    let chunks = futures_util::stream::iter(vec![Ok::<_, std::fmt::Error>("x".repeat(1000)); 100]);
    let body = axum::body::Body::from_stream(chunks);
    let answer = send(to, Http::Two, request(to, Method::POST, "/v1/echo:echo", &[], body)).await;
    assert_eq!((answer.status.as_u16(), answer.json()), (413, expected));

    // Below REST's bound and above the service's: the service refuses, in JSON all the same.
    let body = format!(r#"{{"text":"{}"}}"#, "x".repeat(limit - 1000));
    let answer = rest(to, Method::POST, "/v1/echo:echo", &body).await;
    assert_eq!(answer.json()["error"]["status"], "OUT_OF_RANGE", "{answer:?}");
}

#[tokio::test]
async fn unknown_paths_and_methods() {
    let table = [
        (Method::GET, "/nothing"),
        (Method::GET, "/v1"),
        (Method::GET, "/v1/"),
        (Method::GET, "/v1/shelves"),
        (Method::PUT, "/v1/shelves/a"),
        (Method::HEAD, "/v1/shelves/a"),
        (Method::OPTIONS, "/v1/shelves/a"),
        (Method::GET, "/v1/shelves/a:read"),
        (Method::POST, "/v1/shelves:chat"),
        (Method::POST, "/"),
        (Method::GET, "/library.v1.Library/GetBook/x"),
        (Method::POST, "/emulator/v1/x"),
    ];
    for (method, path) in table {
        check_unknown(method, path).await;
    }
}

#[tokio::test]
async fn metadata_reaches_the_service_and_transport_headers_do_not() {
    let serving = serve();
    let to = address(&serving);
    let headers =
        [("x-agent", "tester"), ("accept-encoding", "gzip"), ("authorization", "Bearer owner")];
    let request = request(to, Method::GET, "/v1/shelves/a", &headers, "");
    let answer = send(to, Http::One, request).await.json();
    let title = answer["title"].as_str().unwrap().to_owned();
    assert!(title.starts_with("Some(Owner) Some(\"tester\") "), "{title}");
}

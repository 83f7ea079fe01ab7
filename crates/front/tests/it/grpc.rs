//! gRPC over HTTP/2 with prior knowledge, on the port that REST has too.

use bytes::Bytes;
use http::Method;

use crate::client::{Http, address, encode, frame, grpc, grpc_bytes, request, send, serve};

const GET: &str = "/library.v1.Library/GetBook";
const READ: &str = "/library.v1.Library/ReadBooks";

async fn check_get(name: &str, code: i32, message: &str) {
    let serving = serve();
    let get = format!(r#"{{"name":"{name}"}}"#);
    let answer = grpc(address(&serving), GET, ("library.v1.GetBookRequest", &get), &[]).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("application/grpc"));
    assert_eq!(answer.grpc_status(), (code, message.to_owned()), "{name}");
    assert_eq!(answer.messages("library.v1.Book").len(), usize::from(code == 0));
}

/// How many books come and which status follows them.
async fn check_read(message: &str, count: usize, code: i32, text: &str) {
    let serving = serve();
    let read = ("library.v1.ReadBooksRequest", message);
    let answer = grpc(address(&serving), READ, read, &[]).await;
    assert_eq!(answer.messages("library.v1.Book").len(), count, "{message}");
    assert_eq!(answer.grpc_status(), (code, text.to_owned()), "{message}");
}

#[tokio::test]
async fn unary() {
    check_get("shelves/a", 0, "").await;
    check_get("shelves/missing", 5, "Book (shelves/missing) not found.").await;
    check_get("shelves/detailed", 9, "with details").await;
}

#[tokio::test]
async fn streaming() {
    check_read(r#"{}"#, 0, 0, "").await;
    check_read(r#"{"count":1000}"#, 1000, 0, "").await;
    check_read(r#"{"count":2,"then":"fail"}"#, 2, 10, "failed late").await;
    check_read(r#"{"then":"fail"}"#, 0, 10, "failed late").await;
    // Refused by the handler itself: tonic would send the status among the headers.
    check_read(r#"{"then":"refuse"}"#, 0, 9, "refused").await;
}

#[tokio::test]
async fn details_travel_in_the_trailers() {
    let serving = serve();
    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/detailed"}"#);
    let answer = grpc(address(&serving), GET, get, &[]).await;
    let status = tonic::Status::from_header_map(&answer.trailers).unwrap();
    assert!(!status.details().is_empty());
}

#[tokio::test]
async fn unknown_methods_are_named() {
    let serving = serve();
    let body = frame(&encode("library.v1.Book", "{}"));
    for path in
        ["library.v1.Library/Foo", "library.v2.Library/GetBook", "v1/shelves/a", "v1/", "a/b/c", ""]
    {
        let answer = grpc_bytes(address(&serving), &format!("/{path}"), body.clone(), &[]).await;
        assert_eq!(answer.grpc_status(), (12, format!("Method not found: {path}")));
    }
}

#[tokio::test]
async fn an_alias_answers_like_the_service() {
    let serving = serve();
    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/missing"}"#);
    let path = "/library.v1beta1.Library/GetBook";
    let answer = grpc(address(&serving), path, get, &[]).await;
    assert_eq!(answer.grpc_status(), (5, "Book (shelves/missing) not found.".to_owned()));
    let answer =
        grpc_bytes(address(&serving), "/library.v1beta1.Library/Foo", frame(&[]), &[]).await;
    assert_eq!(answer.grpc_status().0, 12);
}

#[tokio::test]
async fn a_get_with_a_grpc_type_is_no_call() {
    let serving = serve();
    let to = address(&serving);
    let headers = [("content-type", "application/grpc")];
    let answer = send(to, Http::Two, request(to, Method::GET, GET, &headers, Bytes::new())).await;
    assert_eq!(answer.grpc_status().0, 12);
}

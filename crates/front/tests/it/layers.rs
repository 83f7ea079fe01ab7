//! CORS, identity and panics.

use http::Method;

use crate::client::{Answer, Http, address, check_alive, grpc, request, send, serve};

const CORS: [&str; 5] = [
    "access-control-allow-origin",
    "access-control-allow-methods",
    "access-control-allow-credentials",
    "access-control-allow-headers",
    "access-control-allow-private-network",
];

fn cors(answer: &Answer) -> [Option<&str>; 5] {
    CORS.map(|name| answer.header(name))
}

#[tokio::test]
async fn preflights() {
    let serving = serve();
    let to = address(&serving);
    let origin = ("origin", "http://localhost:3000");
    let marks = [Some(origin.1), Some("DELETE,GET,HEAD,PATCH,POST,PUT"), Some("true")];
    let asked_headers = ("access-control-request-headers", "authorization,x-y");
    let asked_network = ("access-control-request-private-network", "true");
    let table = [
        (vec![origin], None, None),
        (vec![origin, asked_headers], Some("authorization,x-y"), None),
        (vec![origin, asked_network], None, Some("true")),
    ];
    for (headers, allowed, private) in table {
        for path in ["/v1/shelves/a", "/nothing", "/", "/library.v1.Library/GetBook"] {
            let preflight = request(to, Method::OPTIONS, path, &headers, "");
            let answer = send(to, Http::One, preflight).await;
            assert_eq!(answer.status, 200, "{path}");
            let [one, two, three] = marks;
            assert_eq!(cors(&answer), [one, two, three, allowed, private], "{path}");
            assert_eq!(answer.header("vary"), None);
            assert!(answer.body.is_empty());
        }
    }
}

#[tokio::test]
async fn every_answer_to_an_origin_is_marked_and_no_other() {
    let serving = serve();
    let to = address(&serving);
    for path in ["/v1/shelves/a", "/v1/shelves/missing", "/nothing", "/", "/panic"] {
        let answer = send(to, Http::One, request(to, Method::GET, path, &[], "")).await;
        assert_eq!(cors(&answer), [None; 5], "{path}");
        let headers = [("origin", "null")];
        let answer = send(to, Http::One, request(to, Method::GET, path, &headers, "")).await;
        let methods = Some("DELETE,GET,HEAD,PATCH,POST,PUT");
        assert_eq!(cors(&answer), [Some("null"), methods, Some("true"), None, None], "{path}");
    }
    let headers = [("origin", "http://a"), ("authorization", "Bearer junk")];
    let answer = send(to, Http::One, request(to, Method::GET, "/", &headers, "")).await;
    assert_eq!((answer.status.as_u16(), cors(&answer)[0]), (400, Some("http://a")));
}

#[tokio::test]
async fn identities() {
    let serving = serve();
    let to = address(&serving);
    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/a"}"#);
    let user = "Bearer e30.eyJzdWIiOiJhbGljZSJ9.";
    let table = [
        (None, "Some(Anonymous)"),
        (Some("Bearer owner"), "Some(Owner)"),
        (Some("bearer OWNER"), "Some(Owner)"),
        (Some(user), "Some(User(Claims { sub: Some(\"alice\")"),
    ];
    for (authorization, expected) in table {
        let headers: Vec<_> = authorization.iter().map(|value| ("authorization", *value)).collect();
        let by_grpc = grpc(to, "/library.v1.Library/GetBook", get, &headers).await;
        let [book] = &by_grpc.messages("library.v1.Book")[..] else { panic!("{by_grpc:?}") };
        let title = book.get_field_by_name("title").unwrap();
        assert!(title.as_str().unwrap().starts_with(expected), "{title:?}");
        let by_rest = request(to, Method::GET, "/v1/shelves/a", &headers, "");
        let title = send(to, Http::One, by_rest).await.json()["title"].to_string();
        assert!(title.replace("\\\"", "\"").contains(expected), "{title}");
    }
}

#[tokio::test]
async fn refused_identities() {
    let serving = serve();
    let to = address(&serving);
    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/a"}"#);
    let scheme = "the authorization header must be `Bearer owner` or `Bearer` and an ID token; other schemes are not supported";
    let table = [
        ("Bearer junk", 3, 400, "INVALID_ARGUMENT", "invalid jwt"),
        ("Bearer a.b", 3, 400, "INVALID_ARGUMENT", "invalid jwt"),
        ("Basic x", 16, 401, "UNAUTHENTICATED", scheme),
        ("owner", 16, 401, "UNAUTHENTICATED", scheme),
    ];
    for (authorization, code, http, name, message) in table {
        let headers = [("authorization", authorization)];
        let answer = grpc(to, "/library.v1.Library/GetBook", get, &headers).await;
        assert_eq!(answer.grpc_status(), (code, message.to_owned()), "{authorization}");
        let by_rest = request(to, Method::GET, "/v1/shelves/a", &headers, "");
        let answer = send(to, Http::One, by_rest).await;
        let error =
            serde_json::json!({"error": {"code": http, "message": message, "status": name}});
        assert_eq!((answer.status.as_u16(), answer.json()), (http, error), "{authorization}");
    }
}

#[tokio::test]
async fn panics_end_their_request_alone() {
    let serving = serve();
    let to = address(&serving);
    let message = "a bug in firelet: its log says where; please report it";

    let get = ("library.v1.GetBookRequest", r#"{"name":"shelves/panic"}"#);
    let answer = grpc(to, "/library.v1.Library/GetBook", get, &[]).await;
    assert_eq!(answer.grpc_status(), (13, message.to_owned()));

    let read = ("library.v1.ReadBooksRequest", r#"{"count":2,"then":"panic"}"#);
    let answer = grpc(to, "/library.v1.Library/ReadBooks", read, &[]).await;
    assert_eq!(answer.grpc_status(), (13, message.to_owned()));

    let error =
        serde_json::json!({"error": {"code": 500, "message": message, "status": "INTERNAL"}});
    for path in ["/v1/shelves/panic", "/panic"] {
        for http in [Http::One, Http::Two] {
            let answer = send(to, http, request(to, Method::GET, path, &[], "")).await;
            assert_eq!((answer.status.as_u16(), answer.json()), (500, error.clone()), "{path}");
        }
    }
    check_alive(to).await;
}

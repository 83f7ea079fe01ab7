//! The hub's routes: status, body and headers of each.

use serde_json::{Value, json};

use crate::client::{Running, send, start};

const PAGE: (&str, &str) = ("origin", "http://evil.example");

async fn check(hub: &Running, request: &str, headers: &[(&str, &str)], status: u16, body: Value) {
    let answer = send(hub, request, headers).await;
    assert_eq!(answer.status, status, "{request}: {}", answer.body);
    assert_eq!(answer.body, format!("{body:#}"), "{request}");
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
}

#[tokio::test]
async fn the_hub_describes_itself_and_the_services() {
    let hub = start().await;
    let port = hub.address.port();
    let itself = json!({
        "version": "1.2.3",
        "origins": [format!("http://127.0.0.1:{port}")],
        "pid": std::process::id(),
        "host": "127.0.0.1",
        "port": port,
    });
    check(&hub, "GET /", &[], 200, itself).await;
    let services = json!({
        "hub": {
            "listen": [{"address": "127.0.0.1", "family": "IPv4", "port": port}],
            "name": "hub", "host": "127.0.0.1", "port": port,
        },
        "firestore": {
            "listen": [
                {"address": "127.0.0.1", "family": "IPv4", "port": 8080},
                {"address": "::1", "family": "IPv6", "port": 8080},
            ],
            "name": "firestore", "host": "127.0.0.1", "port": 8080,
        },
    });
    check(&hub, "GET /emulators", &[], 200, services).await;
}

#[tokio::test]
async fn what_is_not_there_is_answered_not_guessed() {
    let hub = start().await;
    let message = |text: &str| json!({ "message": text });
    let error = |text: &str| json!({ "error": text });
    let no_export =
        message("the body is no JSON object: EOF while parsing a value at line 1 column 0");
    check(&hub, "POST /_admin/export", &[], 400, no_export).await;
    let no_functions = error("The Cloud Functions emulator is not running.");
    check(&hub, "PUT /functions/disableBackgroundTriggers", &[], 400, no_functions).await;
    let no_sql = error("The SQL Connect emulator is not running.");
    check(&hub, "POST /dataconnect/clearData", &[], 400, no_sql).await;
    check(&hub, "GET /x/y?z", &[], 404, error("the emulator hub has no route `/x/y`")).await;
    let wrong = error("the emulator hub has no such method on `/emulators`");
    check(&hub, "POST /emulators", &[], 405, wrong).await;

    let enable = send(&hub, "PUT /functions/enableBackgroundTriggers", &[]).await;
    assert_eq!(enable.status, 400);
    assert_eq!(enable.body, "The Cloud Functions emulator is not running.");
    assert_eq!(enable.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[tokio::test]
async fn pages_are_refused_where_files_or_data_change_and_the_hub_goes_on() {
    let hub = start().await;
    for (request, text) in [
        ("POST /_admin/export", "Export cannot be triggered by external callers."),
        (
            "POST /dataconnect/clearData",
            "Clear SQL Connect cannot be triggered by external callers.",
        ),
    ] {
        check(&hub, request, &[PAGE], 403, json!({ "message": text })).await;
    }
    assert_eq!(send(&hub, "GET /", &[PAGE]).await.status, 200);
}

#[tokio::test]
async fn any_origin_is_reflected_without_credentials() {
    let hub = start().await;
    let answer = send(&hub, "GET /emulators", &[PAGE]).await;
    assert_eq!(answer.header("access-control-allow-origin"), Some(PAGE.1));
    assert_eq!(answer.header("access-control-allow-credentials"), None);
    assert_eq!(answer.header("access-control-allow-private-network"), None);
    assert_eq!(answer.header("vary"), Some("Origin"));
    assert_eq!(send(&hub, "GET /", &[]).await.header("access-control-allow-origin"), None);

    let asks = [
        PAGE,
        ("access-control-request-method", "PUT"),
        ("access-control-request-headers", "content-type,x-a"),
        ("access-control-request-private-network", "true"),
    ];
    let preflight = send(&hub, "OPTIONS /functions/disableBackgroundTriggers", &asks).await;
    assert_eq!(preflight.status, 204);
    for (name, value) in [
        ("access-control-allow-origin", PAGE.1),
        ("access-control-allow-methods", "GET,HEAD,PUT,PATCH,POST,DELETE"),
        ("access-control-allow-headers", "content-type,x-a"),
        ("access-control-allow-private-network", "true"),
    ] {
        assert_eq!(preflight.header(name), Some(value), "{name}");
    }
}

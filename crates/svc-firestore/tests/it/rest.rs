//! What REST says of data that a gRPC client has written.

use axum::body::Body;
use base_env::Env;
use base_value::{Fields, LimitPolicy, Value, codec};
use http::{Request, StatusCode};
use http_body_util::BodyExt;
use prost::Message;
use svc_firestore::{Config, Firestore};
use svc_kit::{Context, Service};
use tower::ServiceExt;

use crate::server::START;
use crate::wire::{commit, name, set};

/// Maps around a value that can be stored where production's limits are lifted.
const NESTING: usize = 100;

#[tokio::test]
async fn whatever_can_be_stored_can_be_read_as_json() {
    let config = Config { limits: LimitPolicy::Off, ..Config::default() };
    let context = Context::new(Env::simulated(1, START), "p");
    let router = Firestore::open(config, context).expect("memory opens").router();
    let within = |value| Value::Map([("m".to_owned(), value)].into_iter().collect::<Fields>());
    let deep = (0..NESTING - 1).fold(Value::Integer(7), |value, _| within(value));
    let fields: Fields = [("m".to_owned(), deep)].into_iter().collect();
    let request = commit(vec![set("c/a", codec::encode_fields(&fields))], Default::default());
    let mut frame = vec![0];
    frame.extend(u32::try_from(request.encoded_len()).expect("it is short").to_be_bytes());
    request.encode(&mut frame).expect("room that grows");
    let request = Request::post("http://firelet/google.firestore.v1.Firestore/Commit")
        .header("content-type", "application/grpc")
        .header("authorization", "Bearer owner")
        .body(Body::from(frame));
    let response = router.clone().oneshot(request.expect("a request")).await;
    let Ok(response) = response;
    let answer = response.into_body().collect().await.expect("an answer");
    let status = answer.trailers().and_then(|trailers| trailers.get("grpc-status"));
    assert_eq!(status.map(|status| status.as_bytes()), Some(&b"0"[..]), "{:?}", answer.trailers());

    let request = Request::get(format!("http://firelet/v1/{}", name("c/a")))
        .header("authorization", "Bearer owner")
        .body(Body::empty());
    let Ok(response) = router.oneshot(request.expect("a request")).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.expect("an answer").to_bytes();
    let text = String::from_utf8(body.to_vec()).expect("JSON is a text");
    assert_eq!(text.matches("\"m\"").count(), NESTING);
    assert!(text.contains("\"integerValue\": \"7\""), "{text}");
}

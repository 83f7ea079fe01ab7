//! Listen and Write as browsers reach them: WebChannel, request by request.
//!
//! A test is a list of steps and what each one gives; see [`Page::step`]. Sessions run beside the requests, on a clock
//! that moves only when nothing else is to be done, so what has not come by then does not come.

use std::fmt::Write as _;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use base_wire::google::firestore::v1 as wire;
use bytes::Bytes;
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use svc_kit::Service;
use tower::ServiceExt;

use crate::fields;
use crate::server::{DATABASE, Server};
use crate::wire::{commit, name, set};

/// How long nothing may come until nothing is taken to come.
const SILENCE: Duration = Duration::from_millis(1);

/// What may be kept for a client, and the document that did not fit.
const HELD_BYTES_MAX: usize = 1024 * 1024 + 450_000;

/// A client's side of one session, with no mind of its own.
struct Page {
    server: Server,
    router: Router,
    method: String,
    session: String,
    reader: Option<Body>,
}

impl Page {
    fn new() -> Page {
        let server = Server::new(1);
        let router = server.firestore.router();
        Page { server, router, method: "Listen".to_owned(), session: String::new(), reader: None }
    }

    async fn send(&self, method: Method, query: &str, body: String) -> Response {
        let uri = format!(
            "http://firelet/google.firestore.v1.Firestore/{}/channel?VER=8&database={DATABASE}&{query}",
            self.method
        );
        let request = Request::builder().method(method).uri(uri).header("origin", "http://page");
        let request = request.body(Body::from(body)).expect("a request");
        let Ok(response) = self.router.clone().oneshot(request).await;
        let header =
            |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
        assert_eq!(header("access-control-allow-origin"), Some("http://page"));
        assert_eq!(header("access-control-allow-credentials"), Some("true"));
        if response.status() == StatusCode::OK {
            assert_eq!(header("x-content-type-options"), Some("nosniff"));
            assert_eq!(header("content-type"), Some("text/plain; charset=utf-8"));
        }
        response
    }

    /// A request whose answer ends by itself: the one chunk in it, or how it was refused.
    async fn ask(&self, query: &str, body: String) -> Result<Value, String> {
        let response = self.send(Method::POST, query, body).await;
        let status = response.status();
        let bytes = response.into_body().collect().await.expect("a body").to_bytes();
        let text = str::from_utf8(&bytes).expect("a text");
        match status {
            StatusCode::OK if text.is_empty() => Ok(Value::Null),
            StatusCode::OK => Ok(unframe(text)),
            status => Err(format!("{} {}", status.as_u16(), refusal(text))),
        }
    }

    /// Takes one step:
    ///
    /// - `open METHOD USER | MESSAGE; ..`: the handshake of a user, who may be `-`
    /// - `post OFFSET | MESSAGE; ..`: messages, see [`message`]
    /// - `get KNOWN`, `poll KNOWN`: a reader with so many arrays, as a stream or for one chunk
    /// - `read`: the next chunk, or what is in its place; `leave`: the reader goes away
    /// - `terminate`: the session ends; `stop`: the service does
    /// - `wait SECONDS`; `set PATH FIELD`: a document, from elsewhere; `fill COLLECTION COUNT BYTES`: many
    /// - `drain`: requests as long as there is something to read
    async fn step(&mut self, step: &str) -> String {
        let (command, messages) = step.split_once(" | ").unwrap_or((step, ""));
        let words: Vec<&str> = command.split(' ').collect();
        let query = format!("SID={}", self.session);
        match words[..] {
            ["open", method, user] => {
                self.method = method.to_owned();
                let body = format!("headers={}&{}", headers(user), form(0, messages));
                match self.ask("RID=7&CVER=22", body).await {
                    Ok(opened) => {
                        let sid = opened.pointer("/0/1/1").and_then(Value::as_str).expect("an id");
                        assert_eq!(opened, json!([[0, ["c", sid, "", 8, 12, 30_000]]]));
                        assert!(sid.len() >= 22, "{sid} can be guessed");
                        sid.clone_into(&mut self.session);
                        "opened".to_owned()
                    }
                    Err(refused) => refused,
                }
            }
            ["post", offset] => {
                let offset = offset.parse().expect("a number");
                let answer =
                    self.ask(&format!("{query}&RID=8&AID=0"), form(offset, messages)).await;
                match answer {
                    Ok(numbers) => {
                        let [reads, last, bytes] = numbers.as_array().expect("numbers")[..]
                            .to_vec()
                            .try_into()
                            .expect("three");
                        assert!(last.is_u64() && bytes.is_u64(), "{last} {bytes}");
                        if reads == 1 { "read".to_owned() } else { "not read".to_owned() }
                    }
                    Err(refused) => refused,
                }
            }
            ["terminate"] => {
                let answer =
                    self.ask(&format!("{query}&RID=9&TYPE=terminate"), String::new()).await;
                answer.map_or_else(|refused| refused, |answer| answer.to_string())
            }
            ["get" | "poll", known] => {
                let polls = u8::from(words.first() == Some(&"poll"));
                let query = format!("{query}&RID=rpc&AID={known}&CI={polls}&TYPE=xmlhttp&TO=25000");
                let response = self.send(Method::GET, &query, String::new()).await;
                let status = response.status().as_u16();
                self.reader = Some(response.into_body());
                status.to_string()
            }
            ["read"] => self.read().await,
            ["leave"] => {
                self.reader = None;
                String::new()
            }
            ["wait", seconds] => {
                let seconds = seconds.parse().expect("a number");
                tokio::time::sleep(Duration::from_secs(seconds)).await;
                String::new()
            }
            ["set", path, field] => {
                self.set(path, field).await;
                String::new()
            }
            ["fill", collection, count, len] => {
                for number in 0..count.parse().expect("a number") {
                    let text = "x".repeat(len.parse().expect("a number"));
                    self.set(&format!("{collection}/{number:05}"), &format!("p={text}")).await;
                }
                String::new()
            }
            ["drain"] => self.drain().await,
            ["stop"] => {
                self.server.stop();
                String::new()
            }
            _ => panic!("no such step: {step}"),
        }
    }

    /// Reads as browsers do until a boundary comes, and never finds more kept than is allowed.
    async fn drain(&self) -> String {
        let (mut known, mut documents, mut requests) = (0, 0, 0);
        loop {
            let query = format!("SID={}&RID=rpc&AID={known}&CI=0&TYPE=xmlhttp", self.session);
            let mut body = self.send(Method::GET, &query, String::new()).await.into_body();
            requests += 1;
            assert!(requests < 100, "it goes on");
            tokio::time::sleep(SILENCE).await;
            while let Some(frame) = body.frame().await {
                let chunk = frame.expect("a whole answer").into_data().expect("no trailers");
                assert!(chunk.len() < HELD_BYTES_MAX, "{} bytes were kept", chunk.len());
                for array in
                    unframe(str::from_utf8(&chunk).expect("a text")).as_array().expect("arrays")
                {
                    known = array[0].as_u64().expect("a number");
                    let told = brief(array.pointer("/1/0").expect("a payload"));
                    documents += usize::from(told.starts_with("c/"));
                    if told == "--" {
                        assert!(requests > 5, "it came in {requests} requests");
                        return format!("{documents} documents");
                    }
                }
            }
        }
    }

    async fn set(&self, path: &str, field: &str) {
        let request = commit(vec![set(path, fields::parse([field]))], Bytes::new());
        let _: wire::CommitResponse = self.server.call("Commit", &request).await.expect("a commit");
    }

    async fn read(&mut self) -> String {
        let Some(reader) = &mut self.reader else { return "no reader".to_owned() };
        match tokio::time::timeout(SILENCE, reader.frame()).await {
            Err(_) => "nothing".to_owned(),
            Ok(None) => "the end".to_owned(),
            Ok(Some(frame)) => {
                let chunk = frame.expect("a whole answer").into_data().expect("no trailers");
                arrays(&unframe(str::from_utf8(&chunk).expect("whole characters")))
            }
        }
    }
}

/// The JSON of one chunk, whose length is as JavaScript counts it.
fn unframe(text: &str) -> Value {
    let (len, json) = text.split_once('\n').expect("a length");
    assert_eq!(len, json.encode_utf16().count().to_string(), "the length of {json}");
    serde_json::from_str(json).expect("JSON")
}

fn refusal(text: &str) -> String {
    let json: Option<Value> = serde_json::from_str(text).ok();
    let message = json.as_ref().and_then(|json| json.pointer("/error/message")?.as_str());
    message.unwrap_or(text).trim().to_owned()
}

/// A chunk in short.
fn arrays(chunk: &Value) -> String {
    let mut out = String::new();
    for array in chunk.as_array().expect("arrays") {
        let (id, payload) = (&array[0], array.pointer("/1/0").expect("a payload"));
        if !out.is_empty() {
            out.push_str(", ");
        }
        write!(out, "{id} {}", brief(payload)).expect("room");
    }
    out
}

fn brief(payload: &Value) -> String {
    let path = |name: &Value| crate::wire::path(name.as_str().expect("a name"));
    if let Some(word) = payload.as_str() {
        return word.to_owned();
    }
    if let Some(error) = payload.get("error") {
        let text = |member: &str| error[member].as_str().expect("a text").to_owned();
        assert!(!text("message").is_empty());
        return format!("error {} {}", error["code"], text("status"));
    }
    if let Some(change) = payload.get("targetChange") {
        let kind = change["targetChangeType"].as_str().unwrap_or("--");
        let ids: String = change["targetIds"]
            .as_array()
            .iter()
            .flat_map(|ids| ids.iter())
            .map(Value::to_string)
            .collect();
        let cause =
            change.get("cause").map(|cause| format!(" {}", cause["code"])).unwrap_or_default();
        return format!("{kind}{ids}{cause}");
    }
    if let Some(change) = payload.get("documentChange") {
        return format!(
            "{}={}",
            path(change.pointer("/document/name").expect("a name")),
            change
                .pointer("/document/fields/n/integerValue")
                .map_or("?", |n| n.as_str().expect("a text"))
        );
    }
    if payload.get("streamId").is_some() {
        return "stream".to_owned();
    }
    if let Some(results) = payload.get("writeResults") {
        return format!("wrote {}", results.as_array().map_or(0, Vec::len));
    }
    payload.to_string()
}

/// Encoded as browsers do, as far as it matters.
fn encode(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn headers(user: &str) -> String {
    let token = match user {
        "-" => return String::new(),
        user => user,
    };
    encode(&format!("X-Goog-Api-Client:gl-js/\r\nAuthorization:Bearer {token}\r\n"))
}

fn form(offset: u64, messages: &str) -> String {
    let messages: Vec<&str> = messages.split("; ").filter(|message| !message.is_empty()).collect();
    let mut form = format!("count={}&ofs={offset}", messages.len());
    for (index, text) in messages.iter().enumerate() {
        match *text {
            "unwritable" => write!(form, "&req{index}_type=_badmap"),
            text => write!(form, "&req{index}___data__={}", encode(&message(text))),
        }
        .expect("room");
    }
    form
}

/// A message from its short form: `listen ID COLLECTION`, `unlisten ID`, `hello`, `write PATH N`, or JSON.
fn message(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let message = match words[..] {
        ["listen", id, collection] => json!({ "database": DATABASE, "addTarget": {
            "targetId": id.parse::<i32>().expect("a number"),
            "query": {
                "parent": name(""),
                "structuredQuery": { "from": [{ "collectionId": collection }] },
            },
        }}),
        ["unlisten", id] => {
            json!({ "database": DATABASE, "removeTarget": id.parse::<i32>().expect("a number") })
        }
        ["hello"] => json!({ "database": DATABASE }),
        ["write", path, n] => json!({ "streamToken": "AA==", "writes": [{ "update": {
            "name": name(path),
            "fields": { "n": { "integerValue": n } },
        }}]}),
        ["create", path] => json!({ "streamToken": "AA==", "writes": [{
            "update": { "name": name(path) },
            "currentDocument": { "exists": false },
        }]}),
        _ => return text.to_owned(),
    };
    message.to_string()
}

async fn check(steps: &[(&str, &str)]) {
    let mut page = Page::new();
    let (mut found, mut wanted) = (String::new(), String::new());
    for (step, expected) in steps {
        let given = page.step(step).await;
        // What it sets off beside the request comes to rest.
        tokio::time::sleep(SILENCE).await;
        writeln!(found, "{step} => {given}").expect("room");
        writeln!(wanted, "{step} => {expected}").expect("room");
    }
    assert_eq!(found, wanted, "\n{found}");
}

const UNKNOWN: &str = "400 Error: Unknown SID";

#[tokio::test(start_paused = true)]
async fn a_listener_is_told_of_changes() {
    check(&[
        ("set c/\u{1f525}\u{fc} n=1", ""),
        ("open Listen - | listen 2 c", "opened"),
        ("get 0", "200"),
        ("read", "1 ADD2, 2 c/\u{1f525}\u{fc}=1, 3 CURRENT2, 4 --"),
        ("read", "nothing"),
        ("set c/b n=2", ""),
        ("read", "5 c/b=2, 6 --"),
        ("post 1 | unlisten 2", "read"),
        ("read", "7 REMOVE2"),
        ("set c/b n=3", ""),
        ("read", "nothing"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_that_begins_with_much_to_tell_begins() {
    let listens: Vec<_> = (2..9).map(|id| format!("listen {id} c")).collect();
    let open = format!("open Listen - | {}", listens.join("; "));
    let steps = [("fill c 80 100000", ""), (&*open, "opened"), ("drain", "80 documents")];
    let begun = check(&steps);
    // A browser has given up long before.
    tokio::time::timeout(Duration::from_secs(60), begun).await.expect("nobody waits for ever");
}

#[tokio::test(start_paused = true)]
async fn writes_are_answered_in_order_and_an_error_ends_them() {
    check(&[
        ("open Write owner | hello", "opened"),
        ("get 0", "200"),
        ("read", "1 stream"),
        ("post 1 | write c/a 1; write c/b 2", "read"),
        ("read", "2 wrote 1, 3 wrote 1"),
        ("post 3 | write c/c 3; create c/a; write c/d 4", "read"),
        ("read", "4 wrote 1, 5 error 409 ALREADY_EXISTS"),
        ("read", "the end"),
        ("post 6 | write c/e 5", "not read"),
        // Who knows how it ended has nothing more to ask.
        ("get 5", "400"),
        ("post 7 | write c/e 5", UNKNOWN),
        ("open Listen - | listen 2 c", "opened"),
        ("get 0", "200"),
        ("read", "1 ADD2, 2 c/a=1, 3 c/b=2, 4 c/c=3, 5 CURRENT2, 6 --"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn messages_are_taken_once_and_in_their_order() {
    check(&[
        ("open Write - | hello", "opened"),
        ("get 0", "200"),
        ("read", "1 stream"),
        ("post 1 | write c/a 1", "read"),
        ("post 1 | write c/a 1", "read"),
        ("post 0 | hello; write c/a 1; write c/b 2", "read"),
        ("read", "2 wrote 1, 3 wrote 1"),
        ("post 9 | write c/c 3", "400 messages are missing before these"),
        ("post 3 | unwritable; write c/c 3", "read"),
        ("read", "4 wrote 1"),
        ("read", "nothing"),
        ("post 5", "read"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_understood_ends_the_stream() {
    for (user, text) in [("-", "nonsense"), ("-", "{\"no\":1}"), ("garbage", "hello")] {
        let open = format!("open Write {user} | {text}");
        check(&[
            (open.as_str(), "opened"),
            ("get 0", "200"),
            ("read", "1 error 400 INVALID_ARGUMENT"),
            ("read", "the end"),
            ("get 1", "400"),
        ])
        .await;
    }
    check(&[
        ("open Write - | hello", "opened"),
        ("post 1 | write c/a 1; nonsense; write c/b 2", "not read"),
        ("get 0", "200"),
        ("read", "1 stream, 2 wrote 1, 3 error 400 INVALID_ARGUMENT"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn what_was_not_acknowledged_comes_again() {
    check(&[
        ("open Listen - | listen 2 c", "opened"),
        ("get 0", "200"),
        ("read", "1 ADD2, 2 CURRENT2, 3 --"),
        ("leave", ""),
        ("set c/a n=1", ""),
        ("get 1", "200"),
        ("read", "2 CURRENT2, 3 --, 4 c/a=1, 5 --"),
        // Another reader takes its place at once.
        ("get 5", "200"),
        ("read", "6 noop"),
        ("set c/a n=2", ""),
        ("read", "7 c/a=2, 8 --"),
        // One that comes late has less, and gets what there still is.
        ("get 2", "200"),
        ("read", "6 noop, 7 c/a=2, 8 --"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_poll_ends_behind_one_chunk() {
    check(&[
        ("open Listen - | listen 2 c", "opened"),
        ("poll 0", "200"),
        ("read", "1 ADD2, 2 CURRENT2, 3 --"),
        ("read", "the end"),
        ("poll 3", "200"),
        ("read", "nothing"),
        ("set c/a n=1", ""),
        ("read", "4 c/a=1, 5 --"),
        ("read", "the end"),
        ("poll 5", "200"),
        ("read", "nothing"),
        ("wait 24", ""),
        ("read", "nothing"),
        ("wait 1", ""),
        ("read", "6 noop"),
        ("read", "the end"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_session_ends_when_its_client_says_so() {
    check(&[
        ("get 0", "400"),
        ("open Write - | hello", "opened"),
        ("get 0", "200"),
        ("read", "1 stream"),
        // What was taken is done.
        ("post 1 | write c/a 1", "read"),
        ("terminate", "null"),
        ("read", "the end"),
        ("terminate", UNKNOWN),
        ("post 1 | write c/a 1", UNKNOWN),
        ("get 0", "400"),
        ("open Listen - | listen 2 c", "opened"),
        ("get 0", "200"),
        ("read", "1 ADD2, 2 c/a=1, 3 CURRENT2, 4 --"),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn silence_ends_a_session_only_where_nobody_reads() {
    check(&[
        ("open Write - | hello", "opened"),
        ("get 0", "200"),
        ("read", "1 stream"),
        ("read", "nothing"),
        ("wait 30", ""),
        ("read", "2 noop"),
        ("read", "nothing"),
        ("wait 170", ""),
        ("read", "3 noop"),
        ("leave", ""),
        ("wait 170", ""),
        ("post 1 | write c/a 1", "not read"),
        ("wait 170", ""),
        ("get 3", "200"),
        ("read", "4 wrote 1"),
        ("leave", ""),
        ("wait 181", ""),
        ("get 4", "400"),
        // Nor is one kept that holds a connection and takes nothing from it.
        ("open Write - | hello", "opened"),
        ("get 0", "200"),
        ("wait 181", ""),
        ("read", "the end"),
        ("post 1 | write c/a 1", UNKNOWN),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn who_reads_slowly_is_bounded_and_misses_nothing() {
    check(&[
        ("fill c 40 400000", ""),
        ("open Listen - | listen 2 c", "opened"),
        ("wait 60", ""),
        ("drain", "40 documents"),
        ("set c/a n=1", ""),
    ])
    .await;
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_told() {
    check(&[
        ("open Listen - | listen 2 c", "opened"),
        ("get 0", "200"),
        ("read", "1 ADD2, 2 CURRENT2, 3 --"),
        ("stop", ""),
        ("read", "4 error 503 UNAVAILABLE"),
        ("read", "the end"),
    ])
    .await;
}

//! The requests of a client: the handshake, messages, the long GET, and the end.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use base_status::Status;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use http::request::Parts;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use prost_reflect::{MessageDescriptor, MethodDescriptor};
use tokio::sync::mpsc;
use tower::ServiceExt;

use super::Shared;
use super::back::{self, Until};
use super::chunk::chunk;
use super::driver::Driver;
use super::forward::{Form, put_headers};
use super::session::{Gap, Sent, Session};
use super::sessions::Full;
use crate::body::{self, BodyError};
use crate::form;
use crate::frames::frame;
use crate::limits::{CHANNEL_FORM_FACTOR, CHANNEL_FORM_ROOM_BYTES, CHANNEL_KEEPALIVE};
use crate::status::{status_to_http, status_to_tonic};
use crate::tasks::ListenerTasks;
use crate::transcode::{call_of, decode};

/// The version of the protocol, and that of the server which the official emulator claims to be.
const VERSIONS: &str = "8,12";

/// Clients look for the words "Unknown SID", not at the very beginning.
const UNKNOWN_SID: &str = "Error: Unknown SID\n";

/// Why a request is not served.
enum Refusal {
    /// The client begins anew.
    UnknownSession,
    Status(Status),
}

impl From<Status> for Refusal {
    fn from(status: Status) -> Refusal {
        Refusal::Status(status)
    }
}

pub(super) async fn handle(shared: Arc<Shared>, method: usize, request: Request) -> Response {
    match answer(&shared, method, request).await {
        Ok(response) => response,
        Err(Refusal::UnknownSession) => text(StatusCode::BAD_REQUEST, Body::from(UNKNOWN_SID)),
        Err(Refusal::Status(status)) => status_to_http(&status),
    }
}

/// What a request's URL says.
#[derive(Debug, Default)]
struct Parameters {
    session: Option<String>,
    /// The last array the client has.
    known: Option<u64>,
    terminates: bool,
    polls: bool,
    /// How long a poll may take.
    patience: Option<Duration>,
    /// Headers, as in the form.
    headers: String,
    all: Vec<(String, String)>,
}

impl Parameters {
    fn parse(query: &str) -> Result<Parameters, Status> {
        let pairs: Result<Vec<_>, String> = form::pairs(query).collect();
        let pairs = pairs.map_err(|_| Status::invalid_argument("the query is not UTF-8"))?;
        let mut parameters = Parameters::default();
        for (name, value) in &pairs {
            match name.as_str() {
                "SID" if value != "null" => parameters.session = Some(value.clone()),
                "AID" => parameters.known = value.parse().ok(),
                "TYPE" => parameters.terminates = value == "terminate",
                "CI" => parameters.polls = value == "1",
                "TO" => parameters.patience = value.parse().ok().map(Duration::from_millis),
                "$httpHeaders" => parameters.headers.clone_from(value),
                _ => {}
            }
        }
        parameters.all = pairs;
        Ok(parameters)
    }
}

async fn answer(
    shared: &Arc<Shared>,
    method: usize,
    request: Request,
) -> Result<Response, Refusal> {
    let (parts, body) = request.into_parts();
    let parameters = Parameters::parse(parts.uri.query().unwrap_or_default())?;
    let Some(id) = &parameters.session else {
        if parts.method != Method::POST {
            return Err(Status::invalid_argument("a channel begins with a POST").into());
        }
        return open(shared, method, parts, &parameters, body).await;
    };
    let session = shared.sessions.find(method, id).ok_or(Refusal::UnknownSession)?;
    let is_done = session.update(|state| {
        state.touch();
        if let Some(known) = parameters.known {
            state.outbox.acknowledge(known);
        }
        state.ended && state.outbox.is_empty()
    });
    if parameters.terminates {
        shared.sessions.close(&session);
        return Ok(text(StatusCode::OK, Body::empty()));
    }
    // Who knows how it ended has no more to ask of it.
    if is_done {
        shared.sessions.close(&session);
        return Err(Refusal::UnknownSession);
    }
    match parts.method {
        Method::GET => Ok(read(session, &parameters)),
        Method::POST => receive(shared, &session, body).await,
        _ => Err(Status::invalid_argument("a channel takes GET and POST").into()),
    }
}

/// The handshake: a session, its call, and the first messages.
async fn open(
    shared: &Arc<Shared>,
    method: usize,
    parts: Parts,
    parameters: &Parameters,
    body: Body,
) -> Result<Response, Refusal> {
    let descriptor = shared.method(method)?;
    let form = read_form(shared, body).await.map_err(|error| match error {
        FormError::Body(error) => Status::invalid_argument(error.to_string()),
        FormError::Form(reason) => Status::invalid_argument(reason),
    })?;
    if form.messages.keys().zip(0..).any(|(id, place)| *id != place) {
        return Err(missing().into());
    }
    let mut headers = parts.headers;
    for (name, value) in &parameters.all {
        let passed = shared.options.parameters.iter().find(|(parameter, _)| parameter == name);
        if let (Some((_, header)), Ok(value)) = (passed, HeaderValue::from_str(value)) {
            headers.insert(HeaderName::from_static(header), value);
        }
    }
    put_headers(&parameters.headers, &mut headers);
    put_headers(&form.headers, &mut headers);
    // One message at a time: who posts waits until the call has taken those before.
    let (sender, receiver) = mpsc::channel::<Sent>(1);
    let sent = stream::unfold(receiver, async |mut receiver| {
        let sent = receiver.recv().await?;
        Some((sent, receiver))
    });
    let call = call_of(descriptor, headers, &parts.extensions, Body::from_stream(sent))?;
    let session = shared.sessions.open(&shared.options.env, method, sender);
    let session = session.map_err(|Full| Status::resource_exhausted("too many channels"))?;
    let driver = Driver {
        session: Arc::clone(&session),
        place: shared.sessions.place(),
        output: descriptor.output(),
        stopping: shared.options.stopping.clone(),
    };
    let grpc = shared.grpc.clone();
    let tasks = ListenerTasks::of(&parts.extensions);
    tasks.spawn(driver.run(async move {
        match grpc.oneshot(call).await {
            Ok(response) => response,
            Err(never) => match never {},
        }
    }));
    // A client reads nothing before it has the answer to this. Were that to wait until the call has taken every message,
    // and the call to wait until the client has read what the first one leads to, neither would ever go on.
    let turn = session.turn().await;
    let input = descriptor.input();
    tasks.spawn(async move {
        // That none is missing was seen before.
        let _taken = turn.take(form.messages, |json| encode(&input, json)).await.is_ok();
    });
    let keepalive = CHANNEL_KEEPALIVE.as_millis();
    let json = format!(r#"[[0,["c","{}","",{VERSIONS},{keepalive}]]]"#, session.id);
    Ok(text(StatusCode::OK, chunk(&json).into()))
}

/// Messages of a session that is there.
async fn receive(shared: &Shared, session: &Session, body: Body) -> Result<Response, Refusal> {
    let descriptor = shared.method(session.method)?;
    match read_form(shared, body).await {
        Ok(form) => take(session, descriptor, form).await?,
        // Told by the call: to a client an HTTP status says nothing but to try again.
        Err(FormError::Body(error @ BodyError::TooLarge)) => {
            session.fail(tonic::Status::invalid_argument(error.to_string())).await;
        }
        Err(FormError::Body(error)) => {
            return Err(Status::invalid_argument(error.to_string()).into());
        }
        Err(FormError::Form(reason)) => return Err(Status::invalid_argument(reason).into()),
    }
    let json = session.update(|state| {
        let is_read = u8::from(state.reader.is_some());
        format!("[{is_read},{},{}]", state.outbox.last_id(), state.outbox.bytes())
    });
    Ok(text(StatusCode::OK, chunk(&json).into()))
}

async fn take(session: &Session, method: &MethodDescriptor, form: Form) -> Result<(), Refusal> {
    let input = method.input();
    let taken = session.turn().await.take(form.messages, |json| encode(&input, json)).await;
    taken.map_err(|Gap| missing().into())
}

fn missing() -> Status {
    Status::invalid_argument("messages are missing before these")
}

/// A message as it goes into the call.
fn encode(input: &MessageDescriptor, json: &str) -> Sent {
    match decode(input, json.as_bytes(), "") {
        Ok(message) => Ok(frame(&message)),
        Err(reason) => Err(status_to_tonic(Status::invalid_argument(reason))),
    }
}

enum FormError {
    Body(BodyError),
    Form(String),
}

async fn read_form(shared: &Shared, body: Body) -> Result<Form, FormError> {
    let messages = shared.options.message_bytes_max.saturating_mul(CHANNEL_FORM_FACTOR);
    let limit = messages.saturating_add(CHANNEL_FORM_ROOM_BYTES);
    let body = body::read(body, limit).await.map_err(FormError::Body)?;
    Form::parse(&body).map_err(FormError::Form)
}

/// The answers of a session, from where the client is.
fn read(session: Arc<Session>, parameters: &Parameters) -> Response {
    let until = match parameters.polls {
        true => Until::Chunk(
            parameters
                .patience
                .map_or(CHANNEL_KEEPALIVE, |patience| patience.min(CHANNEL_KEEPALIVE)),
        ),
        false => Until::Full,
    };
    let body = back::body(session, parameters.known.unwrap_or(0), until);
    text(StatusCode::OK, body)
}

fn text(status: StatusCode, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("private, max-age=0"));
    // Browsers would hold back the first kilobyte to find out what it is.
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    response
}

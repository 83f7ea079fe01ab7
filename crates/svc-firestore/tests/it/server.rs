//! A service in this process, and calls to it.

use std::marker::PhantomData;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use base_env::{Env, UnixMicros};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use prost::Message;
use svc_firestore::{Config, Firestore};
use svc_kit::{Context, Service};
use tokio::sync::mpsc;
use tokio_stream::StreamExt;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tower::ServiceExt;

/// The name of the database most tests use.
pub(crate) const DATABASE: &str = "projects/p/databases/(default)";

/// The service most tests call.
const FIRESTORE: &str = "google.firestore.v1.Firestore";

/// When simulated clocks begin.
pub(crate) const START: UnixMicros = UnixMicros(1_780_000_000_000_000);

/// How long nothing may come until nothing is taken to come. The tests' runtimes stop their clock, and
/// move it only when there is nothing else to do: so this is certain, and takes no time.
const SILENCE: Duration = Duration::from_millis(1);

/// The status of a call that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) code: i32,
    pub(crate) message: String,
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.code, self.message)
    }
}

/// A service in this process.
pub(crate) struct Server {
    pub(crate) env: Env,
    pub(crate) firestore: Arc<Firestore>,
    client: Client,
}

impl Server {
    /// A service whose clock stands still.
    pub(crate) fn new(seed: u64) -> Server {
        Server::with(Env::simulated(seed, START))
    }

    pub(crate) fn with(env: Env) -> Server {
        let context = Context::new(env.clone(), "p");
        let firestore = Firestore::open(Config::default(), context).expect("memory opens");
        let router = firestore.router();
        let client = Client::new(move |request| {
            let answer = router.clone().oneshot(request);
            Box::pin(async move {
                let Ok(response) = answer.await;
                response
            })
        });
        Server { env, firestore, client }
    }

    /// Tells the service that it ends.
    pub(crate) fn stop(&self) {
        self.firestore.shutdown();
    }
}

/// The client without a socket.
impl Deref for Server {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

type Coming = Pin<Box<dyn Future<Output = Response> + Send>>;

/// Sends requests to a service, in whatever way.
#[derive(Clone)]
pub(crate) struct Client {
    send: Arc<dyn Fn(Request<Body>) -> Coming + Send + Sync>,
}

impl Client {
    pub(crate) fn new(send: impl Fn(Request<Body>) -> Coming + Send + Sync + 'static) -> Client {
        Client { send: Arc::new(send) }
    }

    /// A unary call.
    pub(crate) async fn call<A: Message, B: Message + Default>(
        &self,
        method: &str,
        request: &A,
    ) -> Result<B, Failure> {
        self.call_of(FIRESTORE, method, request).await
    }

    /// A unary call of some service.
    pub(crate) async fn call_of<A: Message, B: Message + Default>(
        &self,
        service: &str,
        method: &str,
        request: &A,
    ) -> Result<B, Failure> {
        let mut answers = self.all_of(service, method, request).await?;
        let answer = answers.pop();
        assert!(answers.is_empty(), "{method} answers once");
        Ok(answer.unwrap_or_else(|| panic!("{method} did not answer")))
    }

    /// A call that is answered with any number of messages.
    pub(crate) async fn all<A: Message, B: Message + Default>(
        &self,
        method: &str,
        request: &A,
    ) -> Result<Vec<B>, Failure> {
        self.all_of(FIRESTORE, method, request).await
    }

    async fn all_of<A: Message, B: Message + Default>(
        &self,
        service: &str,
        method: &str,
        request: &A,
    ) -> Result<Vec<B>, Failure> {
        let mut call = self.open_of(service, method, &[]).await;
        call.send(request);
        call.half_close();
        let mut answers = Vec::new();
        loop {
            match call.next().await {
                Next::Message(answer) => answers.push(answer),
                Next::End(Ok(())) => return Ok(answers),
                Next::End(Err(failure)) => return Err(failure),
            }
        }
    }

    /// A call whose messages are still to be sent, with metadata of its own.
    pub(crate) async fn open<A: Message, B: Message + Default>(
        &self,
        method: &str,
        metadata: &[(&str, &str)],
    ) -> Call<A, B> {
        self.open_of(FIRESTORE, method, metadata).await
    }

    async fn open_of<A: Message, B: Message + Default>(
        &self,
        service: &str,
        method: &str,
        metadata: &[(&str, &str)],
    ) -> Call<A, B> {
        let (requests, sent) = mpsc::unbounded_channel();
        let body = UnboundedReceiverStream::new(sent).map(Ok::<Bytes, axum::Error>);
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(format!("http://firelet/{service}/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        if metadata.iter().all(|(name, _)| *name != "authorization") {
            request = request.header("authorization", "Bearer owner");
        }
        for (name, value) in metadata {
            request = request.header(*name, *value);
        }
        let request = request.body(Body::from_stream(body)).expect("a request");
        Call {
            requests: Some(requests),
            // A call with one message is answered when that has come, so this is not waited for here.
            answer: Answer::Coming((self.send)(request)),
            buffer: BytesMut::new(),
            status: None,
            messages: PhantomData,
        }
    }

    /// Clears the database, or what is at and below `path`, as the emulator's own route does.
    pub(crate) async fn clear(&self, path: &str) {
        let uri = format!("http://firelet/emulator/v1/{DATABASE}/documents{path}");
        let request = Request::builder().method(Method::DELETE).uri(uri).body(Body::empty());
        let response = (self.send)(request.expect("a request")).await;
        assert_eq!(response.status(), StatusCode::OK, "clear {path}");
    }
}

enum Answer {
    Coming(Coming),
    Here(Body),
}

/// A call that is under way. Dropping it is going away.
pub(crate) struct Call<A, B> {
    requests: Option<mpsc::UnboundedSender<Bytes>>,
    answer: Answer,
    buffer: BytesMut,
    status: Option<tonic::Status>,
    messages: PhantomData<(A, B)>,
}

/// What a call brings next.
#[derive(Debug)]
pub(crate) enum Next<B> {
    Message(B),
    End(Result<(), Failure>),
}

impl<A: Message, B: Message + Default> Call<A, B> {
    /// Sends one message. It is only looked at when the answer is read.
    pub(crate) fn send(&self, message: &A) {
        let requests = self.requests.as_ref().expect("the client has not closed its side");
        let mut frame = BytesMut::new();
        frame.put_u8(0);
        frame.put_u32(u32::try_from(message.encoded_len()).expect("a message that fits"));
        message.encode(&mut frame).expect("room that grows");
        // Nobody listens when the call has ended; what it ended with is read later.
        let _ = requests.send(frame.freeze());
    }

    /// Says that no more messages come.
    pub(crate) fn half_close(&mut self) {
        self.requests = None;
    }

    /// The next message, or the end.
    pub(crate) async fn next(&mut self) -> Next<B> {
        loop {
            if let Some(message) = self.buffered() {
                return Next::Message(B::decode(message).expect("a message of the answer's type"));
            }
            let body = match &mut self.answer {
                Answer::Here(body) => body,
                Answer::Coming(answer) => {
                    let response = answer.await;
                    assert_eq!(response.status(), StatusCode::OK);
                    // Where a status is among the headers, a client takes the stream for one that never began.
                    assert!(!response.headers().contains_key("grpc-status"), "{response:?}");
                    self.answer = Answer::Here(response.into_body());
                    continue;
                }
            };
            match body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => self.buffer.extend_from_slice(&data),
                    Err(frame) => {
                        let trailers = frame.into_trailers().unwrap_or_default();
                        self.status = tonic::Status::from_header_map(&trailers);
                    }
                },
                Some(Err(error)) => panic!("a broken answer: {error}"),
                None => {
                    let status = self.status.take().expect("a status in the trailers");
                    let code = i32::from(status.code());
                    let failure = Failure { code, message: status.message().to_owned() };
                    return Next::End(if code == 0 { Ok(()) } else { Err(failure) });
                }
            }
        }
    }

    /// The next message, or the end; `None` when nothing comes any more.
    pub(crate) async fn soon(&mut self) -> Option<Next<B>> {
        tokio::time::timeout(SILENCE, self.next()).await.ok()
    }

    fn buffered(&mut self) -> Option<Bytes> {
        let mut prefix = self.buffer.get(..5)?;
        prefix.advance(1);
        let len = usize::try_from(prefix.get_u32()).ok()?;
        if self.buffer.len() < 5 + len {
            return None;
        }
        self.buffer.advance(5);
        Some(self.buffer.split_to(len).freeze())
    }
}
